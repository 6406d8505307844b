// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5/hdf5_handles.hpp"
#include "support/temporary_folder.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/hdf5_dataset.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace zygos::test_hdf5_dataset {
namespace {

namespace h5 = zygos::io::hdf5;
using Catch::Matchers::Message;
using zygos::DType;
using zygos::Shape;
using zygos::io::Array;
using zygos::io::Dataset;
using zygos::io::make_array;

/// Writes one data set of `dimensions` with 0, 1, 2, ...; `prepare` sets its creation properties.
template <class Prepare>
void write_counting(const std::filesystem::path& file, hid_t type,
                    const std::vector<hsize_t>& dimensions, Prepare prepare) {
  hsize_t count = 1;
  for (const hsize_t extent : dimensions) {
    count *= extent;
  }
  std::vector<std::int32_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  const h5::File out(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "create");
  const h5::Space space(
      H5Screate_simple(static_cast<int>(dimensions.size()), dimensions.data(), nullptr), "space");
  const h5::PropertyList properties(H5Pcreate(H5P_DATASET_CREATE), "properties");
  prepare(static_cast<hid_t>(properties));
  const h5::Dataset data(H5Dcreate2(out, "x", type, space, H5P_DEFAULT, properties, H5P_DEFAULT),
                         "data set");
  h5::check(H5Dwrite(data, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
            "write");
}

template <class T>
bool counts(const Array& array) {
  T next = 0;
  for (const T value : array.as<T>()) {
    if (value != next) {
      return false;
    }
    next = static_cast<T>(next + 1);
  }
  return true;
}

TEST_CASE("A sample of an HDF5 file may have labels of any rank") {
  const zygos::test::TemporaryFolder folder("hdf5-labels");
  const auto file = folder.path() / "a.h5";
  const std::array<std::uint8_t, 6> images{9, 8, 7, 6, 5, 4};
  const std::array<std::int32_t, 12> labels{0, 1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1};
  Dataset data;
  data.name = "pixels";
  data.inputs = make_array<std::uint8_t>({2, 3}, images);
  data.targets = make_array<std::int32_t>({2, 2, 3}, labels);
  data.classes = 7;

  zygos::io::write_hdf5_dataset(file, data);
  const Dataset read = zygos::io::load_hdf5_dataset({file, "inputs"}, {file, "targets"});

  CHECK(read.classes == 7);
  CHECK(read.target_shape() == Shape{2, 3});
  CHECK(std::ranges::equal(read.targets.as<std::int32_t>(), labels));
  zygos::io::LoadOptions options;
  options.classes = 6;
  CHECK_THROWS_AS(zygos::io::load_hdf5_dataset({file, "inputs"}, {file, "targets"}, options),
                  zygos::DataError);
}

TEST_CASE("Numbers of every size and byte order are read from HDF5") {
  const zygos::test::TemporaryFolder folder("hdf5-types");
  const auto file = folder.path() / "a.h5";
  const auto read = [&](hid_t (*type)()) {
    {
      const h5::Session session;
      write_counting(file, type(), {5, 7}, [](hid_t) {});
    }
    Array array = zygos::io::read_hdf5({file, "/x"});
    CHECK(array.shape == Shape{5, 7});
    return array;
  };

  CHECK(counts<std::uint8_t>(read([]() -> hid_t { return H5T_STD_U8LE; })));
  CHECK(counts<std::int32_t>(read([]() -> hid_t { return H5T_STD_I8LE; })));
  CHECK(counts<std::int32_t>(read([]() -> hid_t { return H5T_STD_I16BE; })));
  CHECK(counts<std::int32_t>(read([]() -> hid_t { return H5T_STD_U16LE; })));
  CHECK(counts<std::int32_t>(read([]() -> hid_t { return H5T_STD_I32BE; })));
  CHECK(counts<std::uint32_t>(read([]() -> hid_t { return H5T_STD_U32LE; })));
  CHECK(counts<std::int64_t>(read([]() -> hid_t { return H5T_STD_I64BE; })));
  CHECK(counts<std::uint64_t>(read([]() -> hid_t { return H5T_STD_U64LE; })));
  CHECK(counts<float>(read([]() -> hid_t { return H5T_IEEE_F32BE; })));
  CHECK(counts<double>(read([]() -> hid_t { return H5T_IEEE_F64LE; })));
}

TEST_CASE("Compact, chunked and packed data sets are read alike") {
  const zygos::test::TemporaryFolder folder("hdf5-layouts");
  const auto file = folder.path() / "a.h5";
  const auto read = [&](auto prepare) {
    {
      const h5::Session session;
      write_counting(file, H5T_STD_I32LE, {10, 3, 2}, prepare);
    }
    return zygos::io::read_hdf5({file, "x"});
  };
  const auto chunked = [](hid_t properties) {
    // 10 is no multiple of 4: the last chunk is only partly used.
    const std::array<hsize_t, 3> chunk{4, 3, 2};
    H5Pset_chunk(properties, 3, chunk.data());
  };

  CHECK(counts<std::int32_t>(read([](hid_t p) { H5Pset_layout(p, H5D_COMPACT); })));
  CHECK(counts<std::int32_t>(read(chunked)));
  CHECK(counts<std::int32_t>(read([&](hid_t p) {
    chunked(p);
    H5Pset_shuffle(p);
    H5Pset_deflate(p, 6);
    H5Pset_fletcher32(p);
  })));
}

TEST_CASE("An HDF5 data set of rank one to six keeps its shape") {
  const zygos::test::TemporaryFolder folder("hdf5-ranks");
  const auto file = folder.path() / "a.h5";
  std::vector<hsize_t> dimensions;
  for (std::size_t rank = 1; rank <= 6; ++rank) {
    dimensions.push_back(rank == 2 ? 3 : 2);
    {
      const h5::Session session;
      write_counting(file, H5T_STD_I32LE, dimensions, [](hid_t) {});
    }

    const Array array = zygos::io::read_hdf5({file, "x"});

    CHECK(array.shape.rank() == rank);
    CHECK(counts<std::int32_t>(array));
  }
}

TEST_CASE("A data set written to HDF5 is the same when read back") {
  const zygos::test::TemporaryFolder folder("hdf5-round");
  const auto file = folder.path() / "set.h5";
  const std::array<std::uint8_t, 8> pixels{0, 1, 2, 3, 252, 253, 254, 255};
  const std::array<std::int32_t, 2> labels{3, 1};
  Dataset data;
  data.inputs = make_array<std::uint8_t>({2, 2, 2}, pixels);
  data.targets = make_array<std::int32_t>({2}, labels);
  data.classes = 4;

  zygos::io::write_hdf5_dataset(file, data, "train/images", "train/labels");
  const Dataset back =
      zygos::io::load_hdf5_dataset({file, "train/images"}, {file, "/train/labels"});

  CHECK(back.inputs.shape == data.inputs.shape);
  CHECK(std::ranges::equal(back.inputs.as<std::uint8_t>(), pixels));
  CHECK(std::ranges::equal(back.targets.as<std::int32_t>(), labels));
  CHECK(back.classes == 4);
  CHECK(back.input_scale == 1.0 / 255.0);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("Floating point targets make a regression") {
  const zygos::test::TemporaryFolder folder("hdf5-regression");
  const std::array<float, 4> inputs{1, 2, 3, 4};
  const std::array<double, 4> targets{5, 6, 7, 8};
  Dataset data;
  data.inputs = make_array<float>({4}, inputs);
  data.targets = make_array<double>({4}, targets);
  const auto file = folder.path() / "line.h5";
  zygos::io::write_hdf5_dataset(file, data);

  const Dataset back = zygos::io::load_hdf5_dataset({file, "inputs"}, {file, "targets"});

  CHECK(back.classes == 0);
  CHECK(back.sample_shape() == Shape{1});
  CHECK(back.target_shape() == Shape{1});
  CHECK(back.targets.dtype == DType::f64);
  CHECK(back.input_scale == 1.0);
}

TEST_CASE("Inputs and targets may come from two files") {
  const zygos::test::TemporaryFolder folder("hdf5-two");
  const std::array<float, 2> inputs{1, 2};
  const std::array<std::int32_t, 2> labels{0, 1};
  Dataset data;
  data.inputs = make_array<float>({2, 1}, inputs);
  data.targets = make_array<std::int32_t>({2}, labels);
  data.classes = 2;
  zygos::io::write_hdf5_dataset(folder.path() / "a.h5", data, "x", "unused");
  zygos::io::write_hdf5_dataset(folder.path() / "b.h5", data, "unused", "y");

  const Dataset back =
      zygos::io::load_hdf5_dataset({folder.path() / "a.h5", "x"}, {folder.path() / "b.h5", "y"});

  CHECK(back.size() == 2);
  CHECK(back.classes == 2);
}

TEST_CASE("A place that cannot be written to is named") {
  Dataset data;
  const std::array<float, 1> one{1};
  data.inputs = make_array<float>({1, 1}, one);
  data.targets = make_array<float>({1, 1}, one);
  const zygos::test::TemporaryFolder folder("hdf5-nowhere");
  const auto file = folder.path() / "none" / "a.h5";

  try {
    zygos::io::write_hdf5_dataset(file, data);
    FAIL("written to a folder that does not exist");
  } catch (const zygos::IoError& error) {
    CHECK(std::string(error.what()).starts_with(file.string() + ": cannot create the file: "));
  }
}

TEST_CASE("A missing HDF5 file is an I/O error") {
  CHECK_THROWS_MATCHES(zygos::io::read_hdf5({"none.h5", "x"}), zygos::IoError,
                       Message("none.h5: cannot be read: No such file or directory; check the "
                               "path and its permissions"));
}

}  // namespace

}  // namespace zygos::test_hdf5_dataset
