// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace zygos::memory {

/// What a byte is for. Every byte of a lane is charged to exactly one category.
enum class Category : std::uint8_t {
  inputs,
  weights,
  activations,
  gradients,
  optimizer_state,
  stash,
  workspace,
  communication,
};

inline constexpr std::array<Category, 8> all_categories{
    Category::inputs,          Category::weights, Category::activations, Category::gradients,
    Category::optimizer_state, Category::stash,   Category::workspace,   Category::communication};

/// "inputs", "weights", ..., as printed and as written to summary.json.
std::string_view name_of(Category category);

/// Bytes per category.
class Usage {
 public:
  std::size_t& operator[](Category category) { return bytes_[static_cast<std::size_t>(category)]; }
  std::size_t operator[](Category category) const {
    return bytes_[static_cast<std::size_t>(category)];
  }
  std::size_t total() const;

 private:
  std::array<std::size_t, all_categories.size()> bytes_{};
};

}  // namespace zygos::memory
