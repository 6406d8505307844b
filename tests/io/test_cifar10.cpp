// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/idx_files.hpp"
#include "support/skip.hpp"
#include "support/temporary_folder.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/cifar10.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace zygos::io::test_cifar10 {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using test::operator+;

/// A record of a label and an image whose bytes count up from it.
test::Bytes record(std::uint8_t label) {
  test::Bytes bytes{label};
  for (std::size_t i = 0; i < 3072; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(label + i));
  }
  return bytes;
}

LoadOptions at_most(std::int64_t samples) {
  LoadOptions options;
  options.max_samples = samples;
  return options;
}

auto says(const std::string& part) { return MessageMatches(ContainsSubstring(part)); }

}  // namespace

TEST_CASE("Records of several files follow each other as planes and labels") {
  const test::TemporaryFolder folder("cifar10");
  test::write_bytes(folder.path() / "data_batch_10.bin", record(9));
  test::write_bytes(folder.path() / "data_batch_2.bin", record(3) + record(0));
  test::write_bytes(folder.path() / "test_batch.bin", test::gzip_bytes(record(5)));
  test::write_bytes(folder.path() / "data_batch_x.bin", {1});

  const Cifar10Files files = find_cifar10(folder.path());
  const Dataset training = load_cifar10(files.training);
  const Dataset held_out = load_cifar10(files.test);

  CHECK(training.inputs.shape == Shape{3, 3, 32, 32});
  CHECK(training.inputs.dtype == DType::u8);
  CHECK(training.classes == 10);
  CHECK(training.input_scale == 1.0 / 255.0);
  const auto labels = training.targets.as<std::int32_t>();
  CHECK(std::vector<std::int32_t>(labels.begin(), labels.end()) ==
        std::vector<std::int32_t>{3, 0, 9});
  const auto pixels = training.inputs.as<std::uint8_t>();
  CHECK(pixels[0] == 3);
  CHECK(pixels[1024] == static_cast<std::uint8_t>(3 + 1024));
  CHECK(pixels[3072] == 0);
  CHECK(pixels[2 * 3072 + 7] == 16);
  CHECK(held_out.targets.as<std::int32_t>()[0] == 5);
  CHECK(load_cifar10(files.training, at_most(1)).size() == 1);
  CHECK(load_cifar10(files.training, at_most(3)).size() == 3);
}

TEST_CASE("What is no CIFAR-10 is refused with the byte and the record") {
  const test::TemporaryFolder folder("cifar10-bad");
  const std::array file{folder.path() / "data_batch_1.bin"};
  const auto with = [&](const test::Bytes& bytes) {
    test::write_bytes(file[0], bytes);
    return load_cifar10(file);
  };
  test::Bytes cut = record(1) + record(2);
  cut.pop_back();

  CHECK_THROWS_MATCHES(with({}), DataError, says("byte 0: found the end of the file after 0"));
  CHECK_THROWS_MATCHES(with(cut), DataError, says("byte 6145: found the end"));
  CHECK_THROWS_MATCHES(with(cut), DataError, says("3072 bytes of record 1"));
  CHECK_THROWS_MATCHES(with(record(1) + record(10)), DataError,
                       says("byte 3073: found label 10 of record 1; allowed are 0 to 9"));
  CHECK_THROWS_MATCHES(with(test::gzip_bytes(cut)), DataError, says("of record 1"));
  fs::remove(file[0]);
  CHECK_THROWS_AS(load_cifar10(file), IoError);
}

TEST_CASE("A folder without CIFAR-10 says what it should hold") {
  const test::TemporaryFolder folder("cifar10-none");

  CHECK_THROWS_MATCHES(find_cifar10(folder.path()), DataError, says("found no data_batch_1.bin"));
  CHECK_THROWS_AS(find_cifar10(folder.path() / "none"), IoError);
}

TEST_CASE("The real CIFAR-10 subset has equally many images of each class") {
  const fs::path folder = "../shared/data/cifar-10-batches-bin";
  if (!fs::is_directory(folder)) {
    test::skip_without("cifar-10", "there is no " + folder.string());
  }
  const Dataset training = load_cifar10(find_cifar10(folder).training);
  std::array<int, 10> counts{};
  for (const std::int32_t label : training.targets.as<std::int32_t>()) {
    ++counts[static_cast<std::size_t>(label)];
  }

  CHECK(training.size() == 20000);
  for (const int count : counts) {
    CHECK(count == 2000);
  }
}

}  // namespace zygos::io::test_cifar10
