// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// TensorFlow's MirroredStrategy by its name: replicas on all lanes of this process, equal shares of
// the batch, gradients summed by an all-reduce. A preset of data_parallel (exchange: all_reduce).
#include "data_parallel.hpp"
#include "policy_files.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>

namespace zygos::policies {
namespace {

constexpr const char* mirrored_keyword = "mirrored";

class Mirrored final : public train::Policy {
 public:
  std::string_view keyword() const override { return mirrored_keyword; }

  schedule::Schedule schedule(const plan::Problem& problem,
                              const plan::Profile* /*profile*/) const override {
    const bool one_process = std::ranges::all_of(problem.places, [&](const plan::PlaceInfo& place) {
      return place.rank == problem.places.front().rank;
    });
    if (!one_process) {
      throw UsageError(
          "policy 'mirrored' has its replicas on the lanes of one process, and this run's lanes "
          "belong to several MPI ranks; take policy multi_worker_mirrored, or start one process");
    }
    return data_parallel_schedule(mirrored_keyword, problem,
                                  {.exchange = Exchange::all_reduce, .shares = {}});
  }

  /// data_parallel offers a planner the same.
  std::vector<train::PolicyOptions> candidates(const plan::Problem& /*problem*/,
                                               const plan::Profile* /*profile*/) const override {
    return {};
  }
};

}  // namespace

train::PolicyPtr mirrored() { return std::make_shared<Mirrored>(); }

train::PolicyEntry mirrored_entry() {
  return {deck::Schema(mirrored_keyword,
                       "TensorFlow's MirroredStrategy: a replica on every lane of this process, "
                       "equal shares of the batch, gradients summed by all_reduce."),
          [](const deck::Section&) { return mirrored(); }};
}

}  // namespace zygos::policies
