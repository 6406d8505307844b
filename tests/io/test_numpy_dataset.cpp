// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/temporary_folder.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/array_writer.hpp"
#include "zygos/io/numpy_dataset.hpp"
#include "zygos/io/weight_file.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace zygos::io::test_numpy_dataset {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

namespace fs = std::filesystem;

template <class T>
void write_npy(const fs::path& file, const Shape& sample, const std::vector<T>& values) {
  const auto samples = std::ssize(values) / sample.size();
  const auto writer = write_arrays(file, samples, {{"a", dtype_of<T>, sample}});
  const void* data = values.data();
  writer->write(samples, {&data, 1});
  writer->commit();
}

/// A (3, 2) array of doubles column by column, as numpy.save writes a transposed one.
void write_fortran(const fs::path& file, const std::vector<double>& columns) {
  std::string header = "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }\n";
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size());
  text += '\0';
  text += header;
  text.append(reinterpret_cast<const char*>(columns.data()), columns.size() * sizeof(double));
  std::ofstream(file, std::ios::binary) << text;
}

template <class T>
std::vector<T> all(const Array& array) {
  const auto values = array.as<T>();
  return {values.begin(), values.end()};
}

LoadOptions labels(bool wanted) {
  LoadOptions options;
  options.labels = wanted;
  return options;
}

}  // namespace

TEST_CASE("Arrays of two .npy are a data set, whatever their order") {
  const test::TemporaryFolder folder("numpy");
  const fs::path x = folder.path() / "x.npy";
  const fs::path y = folder.path() / "y.npy";
  write_fortran(x, {1, 3, 5, 2, 4, 6});
  write_npy<std::int64_t>(y, Shape{1}, {0, 2, 1});
  // (3, 1) are three samples of one label each.
  CHECK(load_npy_dataset(x, y).classes == 3);
  const Dataset data = load_npy_dataset(x, y, labels(false));
  CHECK(all<double>(data.inputs) == std::vector<double>{1, 2, 3, 4, 5, 6});
  CHECK(all<double>(data.targets) == std::vector<double>{0, 2, 1});
  CHECK(data.classes == 0);
}

TEST_CASE("Arrays of a .npz are taken by name, and others are not read") {
  const test::TemporaryFolder folder("numpy");
  const fs::path file = folder.path() / "set.npz";
  const std::vector<std::uint8_t> images{0, 255, 128, 1};
  const std::vector<std::int32_t> classes{1, 0};
  const std::vector<float> bad{std::nanf("")};
  const std::vector<TensorRef> tensors{{"x", DType::u8, Shape{2, 2}, images.data()},
                                       {"y", DType::i32, Shape{2}, classes.data()},
                                       {"z", DType::f32, Shape{1}, bad.data()}};
  write_weight_file(file, tensors, {});
  const Dataset data = load_npz_dataset(file, "x", "y", labels(true));
  CHECK(all<std::uint8_t>(data.inputs) == images);
  CHECK(data.input_scale == 1.0 / 255.0);
  CHECK(all<std::int32_t>(data.targets) == classes);
  CHECK_THROWS_MATCHES(load_npz_dataset(file, "inputs", "y"), DataError,
                       MessageMatches(ContainsSubstring("set.npz: array 'inputs' is not there")));
  CHECK_THROWS_MATCHES(load_npz_dataset(file, "z", "y"), DataError,
                       MessageMatches(ContainsSubstring("found 1 samples, but 2 in")));
  CHECK_THROWS_AS(load_npz_dataset(folder.path() / "none.npz", "x", "y"), IoError);
}

TEST_CASE("Numbers that are no labels, and numbers that are none, are refused with their array") {
  const test::TemporaryFolder folder("numpy");
  const fs::path x = folder.path() / "x.npy";
  const fs::path y = folder.path() / "y.npy";
  write_npy<float>(x, Shape{1}, {1, 2});
  write_npy<float>(y, Shape{1}, {0, std::nanf("")});
  CHECK_THROWS_MATCHES(load_npy_dataset(x, y, labels(true)), DataError,
                       MessageMatches(ContainsSubstring("y.npy: found f32 targets") &&
                                      ContainsSubstring("astype('int32')")));
  CHECK_THROWS_MATCHES(load_npy_dataset(x, y), DataError,
                       MessageMatches(ContainsSubstring("y.npy: element 1: found NaN")));
  fs::resize_file(x, fs::file_size(x) - 4);
  CHECK_THROWS_MATCHES(load_npy_dataset(x, y), DataError,
                       MessageMatches(ContainsSubstring("complete the file")));
}

}  // namespace zygos::io::test_numpy_dataset
