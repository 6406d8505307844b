// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "insitu/kernels/columns.hpp"
#include "insitu/kernels/standards.hpp"
#include "insitu/placement.hpp"

#include "zygos/lane/execution.hpp"

#include <cstdint>

namespace zygos::insitu {

/// What a reservoir holds, in memory of its execution space.
struct Slots {
  Rows inputs;
  Rows targets;
  std::int64_t* owners = nullptr;  ///< by slot: number of the sample that lies there; -1: none
};

/// Puts samples first, first + 1, ... where the placement wants them. Of several for one slot the
/// last one stays, as if they had come one by one. A sample with a value that is not finite is left
/// out and counted in `refused` (1), in memory of the host that the space can reach.
void add_samples(const lane::Execution& execution, const Placement& placement, std::int64_t first,
                 const Columns& inputs, const Columns& targets, const Slots& slots,
                 std::int64_t* refused);

/// All owners: none.
void clear_owners(const lane::Execution& execution, std::int64_t* owners, std::int64_t slots);

/// What a network trains on, standardised.
struct BatchRows {
  Rows inputs;
  Rows targets;
  std::uint32_t* ids = nullptr;  ///< low half of the samples' numbers
  std::int64_t count = 0;
};

/// Rows are slots that the placement draws for batch `draws` of the first `resident` ones, each
/// replaced by the next one that holds a sample. Without any the rows are NaN.
void draw_batch(const lane::Execution& execution, const Placement& placement, std::uint64_t draws,
                std::int64_t resident, const Slots& slots, const Standards& inputs,
                const Standards& targets, const BatchRows& batch);

/// The same with slots first, first + 1, ... of `resident` ones that begin at `begin`, around the
/// end.
void take_slots(const lane::Execution& execution, std::int64_t begin, std::int64_t first,
                std::int64_t resident, const Slots& slots, const Standards& inputs,
                const Standards& targets, const BatchRows& batch);

}  // namespace zygos::insitu
