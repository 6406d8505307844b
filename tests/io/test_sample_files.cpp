// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Samples read, and arrays written, piece by piece: HDF5, NumPy and text.
#include "support/temporary_folder.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/array_writer.hpp"
#include "zygos/io/hdf5_dataset.hpp"
#include "zygos/io/sample_reader.hpp"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace zygos::io::test_sample_files {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using test::TemporaryFolder;

namespace {

namespace fs = std::filesystem;

void write_text(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Numbers that no shorter text would give again.
std::vector<float> values() {
  std::vector<float> values;
  for (int i = 0; i < 7 * 6; ++i) {
    values.push_back(1.0F / static_cast<float>(i + 3) - 0.1F);
  }
  return values;
}

/// Seven samples of (2, 3), in pieces of 4 and 3.
void write_samples(const fs::path& file, bool commits = true) {
  const std::vector<float> all = values();
  const auto writer = write_arrays(file, 7, {{"prediction", DType::f32, Shape{2, 3}}});
  const void* first = all.data();
  const void* second = all.data() + 4 * 6;
  writer->write(4, {&first, 1});
  writer->write(3, {&second, 1});
  if (commits) {
    writer->commit();
  }
}

template <class T>
std::vector<T> read_all(SampleReader& reader, std::int64_t piece) {
  const auto size = static_cast<std::size_t>(reader.sample_shape().size());
  std::vector<T> all(static_cast<std::size_t>(reader.samples()) * size);
  for (std::int64_t done = 0; done < reader.samples();) {
    const std::int64_t count = std::min(piece, reader.samples() - done);
    reader.read(count, reinterpret_cast<std::byte*>(all.data() + std::size_t(done) * size));
    done += count;
  }
  return all;
}

/// What reading the whole of a text says.
std::string refusal_of(const fs::path& file) {
  try {
    const auto reader = open_samples(file, "");
    read_all<double>(*reader, 2);
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

/// A version 1 header as NumPy writes it.
std::string npy(const std::string& header, const std::string& elements) {
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size());
  text += '\0';
  return text + header + elements;
}

}  // namespace

TEST_CASE("What is written is read again, whatever the format and the size of pieces") {
  const TemporaryFolder folder("sample-files");
  for (const std::string ending : {".h5", ".npy"}) {
    CAPTURE(ending);
    const fs::path file = folder.path() / ("samples" + ending);
    write_samples(file);
    for (const std::int64_t piece : {1, 4, 7}) {
      const auto reader = open_samples(file, "prediction");
      CHECK(reader->dtype() == DType::f32);
      CHECK(reader->samples() == 7);
      CHECK(reader->sample_shape() == Shape{2, 3});
      CHECK(read_all<float>(*reader, piece) == values());
    }
  }
  const fs::path file = folder.path() / "samples.csv";
  write_samples(file);
  CHECK(text_of(file).starts_with("prediction0,prediction1,prediction2,prediction3"));
  const auto reader = open_samples(file, "");
  CHECK(reader->samples() == 7);
  CHECK(reader->sample_shape() == Shape{6});
  const auto read = read_all<double>(*reader, 3);
  for (std::size_t i = 0; i < read.size(); ++i) {
    CHECK(static_cast<float>(read[i]) == values()[i]);
  }
}

TEST_CASE("A NumPy file has the header that NumPy documents") {
  const TemporaryFolder folder("sample-files");
  write_samples(folder.path() / "a.npy");
  const std::string text = text_of(folder.path() / "a.npy");
  CHECK(text.starts_with(std::string("\x93NUMPY\x01\x00", 8)));
  CHECK_THAT(text,
             ContainsSubstring("{'descr': '<f4', 'fortran_order': False, 'shape': (7,2,3,), }"));
  CHECK((text.size() - 7 * 6 * 4) % 64 == 0);
  CHECK(text[text.size() - 7 * 6 * 4 - 1] == '\n');
}

TEST_CASE("Several arrays are columns of a text and data sets of an HDF5 file") {
  const TemporaryFolder folder("sample-files");
  const std::vector<double> outputs{0.5, -2.0, 1e300, 0.1};
  const std::vector<std::int32_t> classes{0, 3};
  for (const std::string name : {"b.csv", "b.h5"}) {
    const auto writer = write_arrays(
        folder.path() / name, 2, {{"prediction", DType::f64, Shape{2}}, {"class", DType::i32, {}}});
    const std::array<const void*, 2> arrays{outputs.data(), classes.data()};
    writer->write(2, arrays);
    writer->commit();
  }
  CHECK(text_of(folder.path() / "b.csv") ==
        "prediction0,prediction1,class\n0.5,-2,0\n1e+300,0.1,3\n");
  CHECK(read_hdf5({folder.path() / "b.h5", "class"}).shape == Shape{2});
  CHECK(read_hdf5({folder.path() / "b.h5", "class"}).as<std::int32_t>()[1] == 3);
  CHECK(read_hdf5({folder.path() / "b.h5", "prediction"}).as<double>()[2] == 1e300);
  CHECK_THROWS_MATCHES(
      write_arrays(folder.path() / "b.npy", 2, {{"a", DType::f32, {}}, {"b", DType::f32, {}}}),
      UsageError, MessageMatches(ContainsSubstring("a .npy holds one")));
}

TEST_CASE("A file appears when it is committed, and the old one stays until then") {
  const TemporaryFolder folder("sample-files");
  for (const std::string ending : {".h5", ".npy", ".csv"}) {
    const fs::path file = folder.path() / ("kept" + ending);
    write_text(file, "old");
    write_samples(file, false);
    CHECK(text_of(file) == "old");
    write_samples(file);
    CHECK(text_of(file) != "old");
  }
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 3);
  CHECK_THROWS_MATCHES(write_samples(folder.path() / "none" / "a.npy"), IoError,
                       MessageMatches(ContainsSubstring("there is no directory")));
  CHECK_THROWS_MATCHES(write_samples(folder.path() / "a.txt"), UsageError,
                       MessageMatches(ContainsSubstring("allowed are .h5, .hdf5, .npy and .csv")));
}

TEST_CASE("Text has any of three separators, names, comments and empty lines") {
  const TemporaryFolder folder("sample-files");
  for (const std::string text : {"1,2.5\n-3,4e-2\n", "x,y\n1, 2.5\r\n# a comment\n\n-3,+4e-2",
                                 "1;2.5\n-3;4e-2", "x\ty\n1\t2.5\n-3\t4e-2\n\n"}) {
    CAPTURE(text);
    write_text(folder.path() / "a.csv", text);
    const auto reader = open_samples(folder.path() / "a.csv", "");
    CHECK(reader->samples() == 2);
    CHECK(read_all<double>(*reader, 1) == std::vector<double>{1.0, 2.5, -3.0, 0.04});
  }
  std::string large = "value\n";
  for (int i = 0; i < 400000; ++i) {
    large += std::to_string(i) + "\n";
  }
  write_text(folder.path() / "large.csv", large);
  const auto reader = open_samples(folder.path() / "large.csv", "");
  CHECK(reader->samples() == 400000);
  CHECK(read_all<double>(*reader, 65536)[399999] == 399999.0);
}

TEST_CASE("Bad text is refused with its line and column") {
  const TemporaryFolder folder("sample-files");
  const fs::path file = folder.path() / "bad.csv";
  const auto refusal = [&](const std::string& text) {
    write_text(file, text);
    return refusal_of(file);
  };
  CHECK_THAT(refusal("1,2\n3,4\n5,abc\n"),
             ContainsSubstring("bad.csv:3: column 2: 'abc' is not a number"));
  CHECK_THAT(refusal("a,b\n1,nan\n"),
             ContainsSubstring("bad.csv:2: column 2 'b': 'nan' is not finite"));
  CHECK_THAT(refusal("1,inf\n"), ContainsSubstring("'inf' is not finite"));
  CHECK_THAT(refusal("1,2\n\n1,2,3\n"),
             ContainsSubstring("bad.csv:3: found 3 values where the lines before have 2"));
  CHECK_THAT(refusal("1,\n"), ContainsSubstring("column 2: '' is not a number"));
  CHECK_THAT(refusal("# nothing\n"), ContainsSubstring("found no line of numbers"));
}

TEST_CASE("NumPy files that are not plain arrays of numbers are refused") {
  const TemporaryFolder folder("sample-files");
  const fs::path file = folder.path() / "bad.npy";
  const auto refusal = [&](const std::string& bytes) {
    write_text(file, bytes);
    return refusal_of(file);
  };
  const std::string two(16, '\0');
  CHECK(refusal(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n", two)) ==
        "accepted");
  CHECK_THAT(refusal(npy("{'descr': '<f8', 'fortran_order': True, 'shape': (2,), }\n", two)),
             ContainsSubstring("Fortran order"));
  CHECK_THAT(refusal(npy("{'descr': '>f8', 'fortran_order': False, 'shape': (2,), }\n", two)),
             ContainsSubstring("found elements of type '>f8'"));
  CHECK_THAT(refusal(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }\n", two)),
             ContainsSubstring("bytes for an array of f64 and shape [3]"));
  CHECK_THAT(refusal(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (), }\n", two)),
             ContainsSubstring("rank 0"));
  CHECK_THAT(refusal("PK\x03\x04 a zip archive"), ContainsSubstring("is no NumPy array"));
  CHECK_THAT(refusal("\x93NUM"), ContainsSubstring("end of the file in its header"));
  std::string poisoned(16, '\0');
  poisoned[14] = '\xF8';
  poisoned[15] = '\x7F';
  CHECK_THAT(refusal(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n", poisoned)),
             ContainsSubstring("bad.npy: element 1"));
  CHECK_THROWS_AS(open_samples(folder.path() / "absent.npy", ""), IoError);
}

}  // namespace zygos::io::test_sample_files
