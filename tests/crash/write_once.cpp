// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Files that appear as a whole, for powercut.py to cut off:
//   write_once write DIR VALUE    one of each kind, all numbers in them VALUE
//   write_once recover -          for each DIR that stdin names: whether what they hold is old (1
//   or
//                                 nothing), new (2) or mixed; how many hold anything else; whether
//                                 all can be written again
#include "zygos/core/error.hpp"
#include "zygos/io/array_writer.hpp"
#include "zygos/io/atomic_file.hpp"
#include "zygos/io/sample_reader.hpp"
#include "zygos/io/weight_file.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace zygos;
namespace fs = std::filesystem;

constexpr std::int64_t rows = 500;
constexpr std::array arrays{"array.h5", "array.npy", "table.csv"};
constexpr const char* text = "summary.json";
constexpr const char* weights = "weights.safetensors";

void write(const fs::path& folder, float value) {
  const std::vector<float> numbers(2 * rows, value);
  for (const char* name : arrays) {
    const auto writer = io::write_arrays(folder / name, rows, {{"x", DType::f32, Shape{2}}});
    const std::array<const void*, 1> data{numbers.data()};
    writer->write(rows, data);
    writer->commit();
  }
  io::write_file_atomically(folder / text, std::to_string(value));
  const std::array tensors{io::TensorRef{"x", DType::f32, Shape{rows, 2}, numbers.data()}};
  io::write_weight_file(folder / weights, tensors, {});
}

std::vector<float> numbers_in(const fs::path& file) {
  std::vector<float> numbers(2 * rows);
  const auto bytes = std::as_writable_bytes(std::span(numbers));
  if (file.filename() == text) {
    std::string line;
    std::getline(std::ifstream(file) >> std::ws, line);
    return {line.empty() ? -1.0F : std::stof(line)};
  }
  if (file.filename() == weights) {
    std::ranges::copy(io::read_weight_file(file).tensors.at(0).bytes, bytes.begin());
    return numbers;
  }
  const auto samples = io::open_samples(file, "x");
  if (samples->dtype() == DType::f64) {  // of text
    std::vector<double> wide(2 * rows);
    samples->read(rows, std::as_writable_bytes(std::span(wide)).data());
    return {wide.begin(), wide.end()};
  }
  samples->read(rows, bytes.data());
  return numbers;
}

/// 1 or 2; 0 for anything else.
int value_of(const fs::path& file) {
  if (!fs::exists(file)) {
    return 1;
  }
  try {
    const auto numbers = numbers_in(file);
    for (const int value : {1, 2}) {
      if (std::ranges::all_of(numbers, [&](float x) { return x == static_cast<float>(value); })) {
        return value;
      }
    }
  } catch (const std::exception&) {
    return 0;
  }
  return 0;
}

int recover() {
  for (std::string folder; std::getline(std::cin, folder);) {
    std::vector<int> values;
    for (const char* name : {arrays[0], arrays[1], arrays[2], text, weights}) {
      values.push_back(value_of(fs::path(folder) / name));
    }
    const auto is_new = std::ranges::count(values, 2);
    const char* state = is_new == 0 ? "old" : (is_new == std::ssize(values) ? "new" : "mixed");
    write(folder, 2.0F);
    std::printf("%s, %d wrong, goes on\n", state, static_cast<int>(std::ranges::count(values, 0)));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    return 2;
  }
  try {
    if (argv[1] == std::string("recover")) {
      return recover();
    }
    fs::create_directories(argv[2]);
    write(argv[2], std::stof(argv[3]));
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
}
