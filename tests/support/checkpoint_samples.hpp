// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the checkpoint store write, and how they look at what is left.
#pragma once

#include "support/quick_directory.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/checkpoint_store.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace zygos::test {

namespace fs = std::filesystem;

/// A new directory that is gone when the test ends.
class Scratch {
 public:
  explicit Scratch(const fs::path& parent = fs::temp_directory_path()) {
    std::random_device source;
    path_ = parent / ("zygos-checkpoints-" + std::to_string(source()) + std::to_string(source()));
    fs::create_directories(path_);
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const fs::path& path() const { return path_; }
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

/// Tensors that own their bytes, with the references the store wants.
class Samples {
 public:
  void add(const std::string& name, DType dtype, const Shape& shape, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    auto& bytes = bytes_.emplace_back(static_cast<std::size_t>(shape.size()) * size_of(dtype));
    for (std::byte& byte : bytes) {
      byte = static_cast<std::byte>(random());
    }
    refs_.push_back({name, dtype, shape, bytes.data()});
  }
  const std::vector<io::TensorRef>& refs() const { return refs_; }
  const std::vector<std::byte>& bytes(std::size_t i) const { return bytes_[i]; }

  bool equal(const io::Checkpoint& checkpoint) const {
    bool same = checkpoint.tensors.size() == refs_.size();
    for (std::size_t i = 0; same && i < refs_.size(); ++i) {
      const io::StoredTensor& stored = checkpoint.tensor(refs_[i].name);
      same = stored.dtype == refs_[i].dtype && stored.shape == refs_[i].shape &&
             stored.bytes == bytes_[i];
    }
    return same;
  }

 private:
  std::vector<std::vector<std::byte>> bytes_;  // moved, never copied: data() stays
  std::vector<io::TensorRef> refs_;
};

/// One layer and its moments; other bytes for every step.
inline Samples small_samples(std::int64_t step) {
  Samples samples;
  const auto seed = static_cast<std::uint64_t>(step) * 10;
  samples.add("weights/fc1/kernel", DType::f32, {3, 4}, seed + 1);
  samples.add("weights/fc1/bias", DType::f32, {4}, seed + 2);
  samples.add("adam/m/fc1/kernel", DType::f64, {3, 4}, seed + 3);
  samples.add("adam/v/fc1/kernel", DType::f64, {3, 4}, seed + 4);
  return samples;
}

inline io::Facts small_facts(std::int64_t step) {
  return {{"epoch", "2"}, {"cursor", std::to_string(step * 100)}, {"deck", "model:\n  - dense\n"}};
}

inline fs::path write_small(io::CheckpointStore& store, std::int64_t step) {
  return store.write(step, small_samples(step).refs(), small_facts(step));
}

inline std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void overwrite_file(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

inline std::vector<fs::path> entries(const fs::path& directory) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(directory)) {
    found.push_back(entry.path());
  }
  return found;
}

/// The message with which `f` is refused as a checkpoint, with exit code 4; anything else is "".
template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const CheckpointError& error) {
    return error.code() == ExitCode::checkpoint ? error.what() : "";
  }
  return "";
}

}  // namespace zygos::test
