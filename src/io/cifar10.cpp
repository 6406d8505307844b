// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/io/cifar10.hpp"

#include "io/byte_source.hpp"
#include "io/checks.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <system_error>

namespace zygos::io {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t side = 32;
constexpr std::int64_t channels = 3;
constexpr std::size_t image_bytes = channels * side * side;
constexpr std::size_t record_bytes = image_bytes + 1;
constexpr std::int64_t label_count = 10;
constexpr std::string_view batch_prefix = "data_batch_";
constexpr std::string_view batch_suffix = ".bin";

/// The number in "data_batch_3.bin"; zero for any other name.
int batch_number(const std::string& name) {
  if (!name.starts_with(batch_prefix) || !name.ends_with(batch_suffix)) {
    return 0;
  }
  const std::string digits =
      name.substr(batch_prefix.size(), name.size() - batch_prefix.size() - batch_suffix.size());
  const bool all_digits = !digits.empty() && digits.size() < 6 &&
                          digits.find_first_not_of("0123456789") == std::string::npos;
  return all_digits ? std::stoi(digits) : 0;
}

struct Records {
  std::vector<std::byte> labels;
  std::vector<std::byte> images;
};

[[noreturn]] void fail(const fs::path& file, std::uint64_t byte, const std::string& message) {
  throw DataError(file.string() + ": byte " + std::to_string(byte) + ": " + message);
}

/// Appends a file's records until there are `most`.
void read_records(const fs::path& file, std::int64_t classes, std::size_t most, Records& all) {
  ByteSource source(file);
  std::array<std::byte, record_bytes> record{};
  for (std::uint64_t at = 0; all.labels.size() < most; at += record_bytes) {
    const std::size_t got = source.read(record);
    if (got == 0 && at > 0) {
      return;
    }
    if (got < record_bytes) {
      fail(file, at + got,
           "found the end of the file after " + std::to_string(got) + " bytes of record " +
               std::to_string(at / record_bytes) + "; a record has " +
               std::to_string(record_bytes) +
               " bytes, a label and 3 planes of 32 x 32; fetch CIFAR-10's binary version again");
    }
    const auto label = std::to_integer<std::int64_t>(record[0]);
    if (label >= classes) {
      fail(file, at,
           "found label " + std::to_string(label) + " of record " +
               std::to_string(at / record_bytes) + "; allowed are 0 to " +
               std::to_string(classes - 1) + "; fetch CIFAR-10's binary version again");
    }
    all.labels.push_back(record[0]);
    all.images.insert(all.images.end(), record.begin() + 1, record.end());
  }
}

}  // namespace

Cifar10Files find_cifar10(const fs::path& folder) {
  std::map<int, fs::path> batches;
  Cifar10Files found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (const int number = batch_number(name); number > 0) {
      batches[number] = entry.path();
    } else if (name == "test_batch.bin") {
      found.test.push_back(entry.path());
    }
  }
  if (error) {
    throw IoError(folder.string() + ": can't read the folder: " + error.message());
  }
  if (batches.empty()) {
    throw DataError(folder.string() +
                    ": found no data_batch_1.bin; the folder must hold CIFAR-10's binary version "
                    "under its original names; give the folder cifar-10-batches-bin");
  }
  for (auto& [number, file] : batches) {
    found.training.push_back(std::move(file));
  }
  return found;
}

Dataset load_cifar10(std::span<const fs::path> files, const LoadOptions& options) {
  require_options(options);
  const std::int64_t classes = options.classes > 0 ? options.classes : label_count;
  const std::size_t most = options.max_samples > 0 ? static_cast<std::size_t>(options.max_samples)
                                                   : std::numeric_limits<std::size_t>::max();
  Records records;
  for (const fs::path& file : files) {
    read_records(file, std::min(classes, label_count), most, records);
  }
  const auto count = static_cast<std::int64_t>(records.labels.size());
  std::vector<std::int32_t> labels;
  std::ranges::transform(records.labels, std::back_inserter(labels),
                         [](std::byte label) { return std::to_integer<std::int32_t>(label); });
  Dataset data;
  data.name = files.empty() ? "CIFAR-10" : files.front().string();
  data.inputs = make_array(Shape{count, channels, side, side},
                           std::span(reinterpret_cast<const std::uint8_t*>(records.images.data()),
                                     records.images.size()));
  data.targets = make_array(Shape{count}, std::span<const std::int32_t>(labels));
  data.classes = classes;
  data.input_scale = input_scale(options, data.inputs.dtype);
  data.input_offset = options.input_offset;
  return data;
}

}  // namespace zygos::io
