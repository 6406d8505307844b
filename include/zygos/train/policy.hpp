// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/deck/schema.hpp"
#include "zygos/deck/value.hpp"
#include "zygos/plan/problem.hpp"
#include "zygos/plan/profile.hpp"
#include "zygos/schedule/schedule.hpp"

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace zygos::train {

/// A policy maps a problem to a schedule. No Kokkos, no MPI, no threads, no memory.
class Policy {
 public:
  virtual ~Policy() = default;
  virtual std::string_view keyword() const = 0;
  /// True if schedule() needs a measured profile (a share that is `auto`).
  virtual bool needs_profile() const { return false; }
  /// `profile` may be null unless needs_profile(). Throws UsageError for a problem it can't split.
  virtual schedule::Schedule schedule(const plan::Problem& problem,
                                      const plan::Profile* profile) const = 0;
};

using PolicyPtr = std::shared_ptr<const Policy>;

/// A deck keyword with its options; the registry in policies/ has one line per policy.
struct PolicyEntry {
  deck::Schema schema;
  std::function<PolicyPtr(const deck::Section&)> make;
};

}  // namespace zygos::train
