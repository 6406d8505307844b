// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/idx_files.hpp"
#include "support/temporary_folder.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/idx.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace zygos::test_idx {
namespace {

using Catch::Matchers::Message;
using zygos::DType;
using zygos::Shape;
using zygos::io::Array;
using zygos::io::Dataset;
using zygos::test::Bytes;
using zygos::test::idx_bytes;
using zygos::test::operator+;

const std::filesystem::path mnist = "inputs/data/mnist";

template <class T>
std::vector<T> values(const Array& array) {
  return {array.as<T>().begin(), array.as<T>().end()};
}

zygos::io::LoadOptions at_most(std::int64_t samples) {
  zygos::io::LoadOptions options;
  options.max_samples = samples;
  return options;
}

class Files {
 public:
  std::filesystem::path write(const std::string& name, const Bytes& bytes) const {
    zygos::test::write_bytes(folder_.path() / name, bytes);
    return folder_.path() / name;
  }
  Array read(const Bytes& bytes) const { return zygos::io::read_idx(write("array.idx", bytes)); }
  std::filesystem::path path() const { return folder_.path(); }

 private:
  zygos::test::TemporaryFolder folder_{"idx"};
};

TEST_CASE("IDX files of every type are read with their values") {
  const Files files;

  CHECK(values<std::uint8_t>(files.read(idx_bytes(0x08, {3}, {0, 127, 255}))) ==
        std::vector<std::uint8_t>{0, 127, 255});
  CHECK(values<std::int32_t>(files.read(idx_bytes(0x09, {3}, {0x00, 0x7F, 0x80}))) ==
        std::vector<std::int32_t>{0, 127, -128});
  CHECK(values<std::int32_t>(files.read(idx_bytes(0x0B, {2}, {0x01, 0x02, 0xFF, 0xFE}))) ==
        std::vector<std::int32_t>{258, -2});
  CHECK(values<std::int32_t>(
            files.read(idx_bytes(0x0C, {2}, {0x01, 0x02, 0x03, 0x04, 0x80, 0, 0, 0}))) ==
        std::vector<std::int32_t>{16909060, std::numeric_limits<std::int32_t>::min()});
  CHECK(values<float>(files.read(idx_bytes(0x0D, {2}, {0x3F, 0x80, 0, 0, 0xC0, 0x20, 0, 0}))) ==
        std::vector<float>{1.0F, -2.5F});
  CHECK(values<double>(files.read(idx_bytes(0x0E, {1}, {0x3F, 0xF8, 0, 0, 0, 0, 0, 0}))) ==
        std::vector<double>{1.5});
}

TEST_CASE("An IDX file keeps its shape up to rank six") {
  const Files files;

  CHECK(files.read(idx_bytes(0x08, {2, 3}, Bytes(6, 1))).shape == Shape{2, 3});
  CHECK(files.read(idx_bytes(0x08, {1, 2, 1, 2, 1, 2}, Bytes(8, 1))).shape ==
        Shape{1, 2, 1, 2, 1, 2});
}

TEST_CASE("Elements beyond one buffer are converted without a seam") {
  const Files files;
  constexpr std::uint32_t count = 100001;
  Bytes payload;
  for (std::uint32_t i = 0; i < count; ++i) {
    payload.push_back(static_cast<std::uint8_t>((i % 30000) >> 8));
    payload.push_back(static_cast<std::uint8_t>(i % 30000));
  }

  const auto plain = values<std::int32_t>(files.read(idx_bytes(0x0B, {count}, payload)));
  const auto packed = values<std::int32_t>(
      files.read(zygos::test::gzip_bytes(idx_bytes(0x0B, {count}, payload), 6)));

  CHECK(plain.size() == count);
  CHECK(std::all_of(plain.begin(), plain.end(),
                    [i = 0](std::int32_t value) mutable { return value == (i++) % 30000; }));
  CHECK(packed == plain);
}

TEST_CASE("Gzip is recognised by content, whatever the name and however many members") {
  const Files files;
  const Bytes plain = idx_bytes(0x08, {4}, {1, 2, 3, 4});
  const Bytes head(plain.begin(), plain.begin() + 6);
  const Bytes tail(plain.begin() + 6, plain.end());

  const Bytes members = zygos::test::gzip_bytes(head, 6) + zygos::test::gzip_bytes(tail, 0);

  CHECK(values<std::uint8_t>(files.read(members)) == std::vector<std::uint8_t>{1, 2, 3, 4});
  CHECK(values<std::uint8_t>(zygos::io::read_idx(files.write("plain.gz", plain))) ==
        std::vector<std::uint8_t>{1, 2, 3, 4});
}

TEST_CASE("A gzip file too large to be believed is counted, then read") {
  const Files files;
  constexpr std::uint32_t count = 65U << 20;
  Bytes payload(count, 3);
  payload.back() = 9;

  const Array array = files.read(zygos::test::gzip_bytes(idx_bytes(0x08, {count}, payload), 1));

  CHECK(array.samples() == count);
  CHECK(array.as<std::uint8_t>()[count - 1] == 9);
}

TEST_CASE("Images and labels make a data set") {
  const Files files;
  const auto images = files.write("i", idx_bytes(0x08, {2, 1, 2}, {0, 255, 51, 102}));
  const auto labels = files.write("l", idx_bytes(0x0B, {2}, {0, 4, 0, 0}));

  const Dataset data = zygos::io::load_idx(images, labels);

  CHECK(data.name == images.string());
  CHECK(data.sample_shape() == Shape{1, 2});
  CHECK(data.targets.dtype == DType::i32);
  CHECK(values<std::int32_t>(data.targets) == std::vector<std::int32_t>{4, 0});
  CHECK(data.classes == 5);
  CHECK(data.input_scale == 1.0 / 255.0);
}

TEST_CASE("Labels are refused where the loss takes numbers") {
  const Files files;
  const auto images = files.write("i", idx_bytes(0x08, {2, 1, 2}, {0, 255, 51, 102}));
  const auto labels = files.write("l", idx_bytes(0x08, {2}, {1, 0}));
  zygos::io::LoadOptions options;
  options.labels = false;

  CHECK_THROWS_MATCHES(
      zygos::io::load_idx(images, labels, options), zygos::DataError,
      Message(labels.string() +
              ": byte 2: found labels, but the loss takes numbers; store targets as floats in an "
              "HDF5, .npy or .npz file, or take a loss of labels such as cross_entropy"));
}

TEST_CASE("Reading stops at as many samples as are wanted, with the classes of all labels") {
  const Files files;
  const auto images = files.write("images", idx_bytes(0x08, {3, 2}, {1, 2, 3, 4, 5, 6}));
  const auto labels = files.write("labels", idx_bytes(0x08, {3}, {1, 0, 7}));
  const auto more = files.write("more", idx_bytes(0x08, {4}, {1, 0, 7, 1}));

  const Dataset two = zygos::io::load_idx(images, labels, at_most(2));

  CHECK(two.inputs.shape == Shape{2, 2});
  CHECK(values<std::uint8_t>(two.inputs) == std::vector<std::uint8_t>{1, 2, 3, 4});
  CHECK(values<std::int32_t>(two.targets) == std::vector<std::int32_t>{1, 0});
  CHECK(two.classes == 8);
  CHECK(zygos::io::load_idx(images, labels, at_most(9)).size() == 3);
  CHECK_THROWS_AS(zygos::io::load_idx(images, more, at_most(2)), zygos::DataError);
}

TEST_CASE("What the user says of a data set wins over what its files suggest") {
  const Files files;
  const auto images = files.write("i", idx_bytes(0x0C, {1}, {0, 0, 0, 1}));
  const auto labels = files.write("l", idx_bytes(0x08, {1}, {2}));

  const Dataset data =
      zygos::io::load_idx(images, labels, {.classes = 7, .input_scale = 2.0, .input_offset = 0.5});

  CHECK(data.classes == 7);
  CHECK(data.input_scale == 2.0);
  CHECK(data.input_offset == 0.5);
  CHECK(data.sample_shape() == Shape{1});
  CHECK(zygos::io::load_idx(images, labels).input_scale == 1.0);
  CHECK_THROWS_MATCHES(zygos::io::load_idx(images, labels, {.classes = -1, .input_scale = {}}),
                       zygos::UsageError,
                       Message("found -1 classes; allowed are 1 to 2147483647, or 0 to take them "
                               "from the labels"));
}

TEST_CASE("Paths that are no files are named as what they are") {
  const Files files;
  const std::string folder = files.path().string();
  const std::string missing = folder + "/none.idx";

  CHECK_THROWS_MATCHES(zygos::io::read_idx(missing), zygos::IoError,
                       Message(missing + ": cannot be read: No such file or directory; check the "
                                         "path and its permissions"));
  CHECK_THROWS_MATCHES(zygos::io::read_idx(folder), zygos::DataError,
                       Message(folder + ": found a directory; name a file in it"));
  CHECK_THROWS_MATCHES(
      zygos::io::read_idx("/dev/null"), zygos::DataError,
      Message("/dev/null: found a pipe, socket or device; data are read from regular files only"));
}

void check_mnist(const std::string& part, std::int64_t samples,
                 const std::array<std::int64_t, 10>& classes) {
  const Dataset data = zygos::io::load_idx(mnist / (part + "-images-idx3-ubyte.gz"),
                                           mnist / (part + "-labels-idx1-ubyte.gz"));
  std::array<std::int64_t, 10> count{};
  for (const std::int32_t label : data.targets.as<std::int32_t>()) {
    ++count.at(static_cast<std::size_t>(label));
  }
  CHECK(data.size() == samples);
  CHECK(data.sample_shape() == Shape{28, 28});
  CHECK(data.classes == 10);
  CHECK(count == classes);
}

TEST_CASE("The real MNIST is complete") {
  check_mnist("train", 60000, {5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949});
  check_mnist("t10k", 10000, {980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009});
}

TEST_CASE("The real MNIST begins with its well-known digits") {
  const auto labels = zygos::io::read_idx(mnist / "train-labels-idx1-ubyte.gz");
  const auto test_labels = zygos::io::read_idx(mnist / "t10k-labels-idx1-ubyte.gz");
  const auto images = zygos::io::read_idx(mnist / "train-images-idx3-ubyte.gz");

  CHECK(std::ranges::equal(labels.as<std::uint8_t>().first(5),
                           std::array<std::uint8_t, 5>{5, 0, 4, 1, 9}));
  CHECK(std::ranges::equal(test_labels.as<std::uint8_t>().first(5),
                           std::array<std::uint8_t, 5>{7, 2, 1, 0, 4}));
  // The mean pixel of the training set is known to be 33.318.
  std::uint64_t sum = 0;
  for (const std::uint8_t pixel : images.as<std::uint8_t>()) {
    sum += pixel;
  }
  CHECK(sum / (60000 * 784 / 1000) == 33318);
}

}  // namespace

}  // namespace zygos::test_idx
