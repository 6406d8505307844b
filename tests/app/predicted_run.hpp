// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A run that the executable trained, and what `zygos predict` says of samples in a file: for tests
// of other ways to predict.
#pragma once

#include "tiny_run.hpp"

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace zygos::test {

class PredictedRun {
 public:
  static constexpr int count = 150;
  static constexpr int batch = 32;
  static constexpr int features = 6;

  /// `precision` is that of the deck, and of the file of outputs.
  explicit PredictedRun(const std::string& precision) {
    write_text(scratch_.path() / "run.yaml", "deck_version: 1\nprecision: " + precision + R"(
data: {format: synthetic, function: invariants, samples: 256}
model:
  layers:
    - {name: h, type: dense, units: 96, activation: tanh}
    - {name: out, type: dense, units: 3}
  loss: mse
optimizer: adam
lanes: {host: {kind: host}}
policy: single
train: {batch: )" + std::to_string(batch) + ", epochs: 1}\n");
    json_of({"train", "run.yaml", "--json"}, scratch_.path());
    write_inputs();
    json_of({"predict", "runs/run", "--input", "in.npy", "--output", "out.npy", "--json"},
            scratch_.path());
  }

  std::filesystem::path folder() const { return scratch_.path() / "runs/run"; }
  /// Both have a header of `header` bytes, then their elements, row major.
  static constexpr std::size_t header = 128;
  std::filesystem::path input_file() const { return scratch_.path() / "in.npy"; }
  std::filesystem::path output_file() const { return scratch_.path() / "out.npy"; }
  const std::filesystem::path& scratch() const { return scratch_.path(); }

  std::vector<double> inputs() const {
    std::vector<double> values;
    for (int i = 0; i < count * features; ++i) {
      values.push_back(static_cast<double>((i * 37) % 101) / 64.0 - 0.75);
    }
    return values;
  }
  template <class T>
  std::vector<T> outputs() const {
    const std::string bytes = read_text(output_file()).substr(header);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }

 private:
  void write_inputs() const {
    std::string text("\x93NUMPY\x01\x00", 8);
    text += std::string("\x76\x00", 2);  // 118 bytes follow
    text += "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(count) + ", " +
            std::to_string(features) + "), }";
    text.resize(header - 1, ' ');
    text += '\n';
    const auto values = inputs();
    text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
    write_text(input_file(), text);
  }

  Scratch scratch_;
};

}  // namespace zygos::test
