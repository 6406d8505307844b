// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/memory/category.hpp"

#include "zygos/core/error.hpp"

#include <numeric>

namespace zygos::memory {

std::string_view name_of(Category category) {
  switch (category) {
    case Category::inputs:
      return "inputs";
    case Category::weights:
      return "weights";
    case Category::activations:
      return "activations";
    case Category::gradients:
      return "gradients";
    case Category::optimizer_state:
      return "optimizer_state";
    case Category::stash:
      return "stash";
    case Category::workspace:
      return "workspace";
    case Category::communication:
      return "communication";
  }
  throw InternalError("unknown memory category " + std::to_string(static_cast<int>(category)));
}

std::size_t Usage::total() const {
  return std::accumulate(bytes_.begin(), bytes_.end(), std::size_t{0});
}

}  // namespace zygos::memory
