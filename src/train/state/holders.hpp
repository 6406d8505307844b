// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/plan/memory_plan.hpp"
#include "zygos/schedule/tasks_by_place.hpp"

#include <cstddef>
#include <vector>

namespace zygos::train {

/// Elements of the flat parameters that a place has.
struct Held {
  std::size_t place = 0;
  schedule::ElementRange elements;
};

/// Who of all places speaks for which elements of the model.
struct Holders {
  std::vector<Held> states;      ///< the first place that updates the elements
  std::vector<Held> weights;     ///< the same, or the first place that has them
  std::vector<Held> errors;      ///< of compression: what each worker has
  std::vector<Held> sum_errors;  ///< of sums: what each owner has

  /// Whole gradients: where they are updated; without updates, with the
  /// weights.
  const std::vector<Held> &gradients() const { return states.empty() ? weights : states; }
};

Holders find_holders(const schedule::TasksByPlace &tasks,
                     const std::vector<plan::PlaceMemory> &memory);

}  // namespace zygos::train
