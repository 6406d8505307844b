// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Which layers' activations are kept, recomputed, offloaded or spilled (policies.md 3.16).
#pragma once

#include "zygos/plan/problem.hpp"
#include "zygos/plan/profile.hpp"
#include "zygos/schedule/schedule.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace zygos::plan {

/// What becomes of the activations of all nodes; those that are not named are kept.
struct ActivationPlan {
  std::string text;
  std::vector<schedule::KeptNodes> nodes;
};

/// "4 layers recomputed, 2 layers offloaded, 1 layer spilled"; "everything kept".
std::string text_of(const std::vector<schedule::KeptNodes>& choices);

/// About every sqrt(n)-th tensor stays and what lies between is recomputed, so memory grows with
/// the square root of the model's depth, for at most one more forward pass (Chen et al., 2016). The
/// last group is kept: backward begins with it.
ActivationPlan recompute_plan(const schedule::ModelOutline& model);
/// Every node's activations go to host memory, but for the last ones, which backward begins with.
ActivationPlan offload_plan(const schedule::ModelOutline& model);
/// The same, to a file.
ActivationPlan spill_plan(const schedule::ModelOutline& model);

/// Memory that a schedule takes.
struct PlanBytes {
  std::vector<std::size_t> lanes;  ///< by place
  std::size_t host = 0;            ///< in front of all lanes, beside their own
};

struct ActivationSearch {
  Problem problem;  ///< its budgets; its activations do not count
  const Profile& profile;
  std::function<schedule::Schedule(const Problem&)> schedule;
  std::function<PlanBytes(const schedule::Schedule&)> bytes;
  std::size_t host_budget_bytes = 0;  ///< for PlanBytes::host; 0: none
};

/// Of keeping everything, and of recomputing, offloading or both for as many of the first layers as
/// the budgets demand (in groups of 1, 2, 4 ... tensors between which nothing else crosses), the
/// plan that is predicted to be fastest. Their activations wait longest for backward, so their
/// copies have most time to hide. Where host memory has a budget, that of offloaded data or that of
/// a lane which reads host memory itself, as many of the first of them are spilled as that demands.
/// Throws MemoryError if none fits: with the smallest budgets that one would.
ActivationPlan choose_activation_plan(const ActivationSearch& search);

}  // namespace zygos::plan
