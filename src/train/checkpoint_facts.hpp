// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers among the facts of a checkpoint.
#pragma once

#include "zygos/core/error.hpp"
#include "zygos/io/checkpoint_store.hpp"

#include <array>
#include <charconv>
#include <string>
#include <system_error>

namespace zygos::train {

/// The shortest text that is read back as the same number.
inline std::string text_of(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

/// Throws CheckpointError for a fact that is not there or no such number.
template <class T>
T number_in(const io::Checkpoint& checkpoint, const std::string& fact) {
  const std::string& text = checkpoint.fact(fact);
  T value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) {
    throw CheckpointError(checkpoint.path.filename().string() + ": fact '" + fact + "' is '" +
                          text + "', not a number");
  }
  return value;
}

}  // namespace zygos::train
