// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// TensorFlow's MultiWorkerMirroredStrategy by its name: replicas on the lanes of all MPI ranks,
// equal shares of the batch, gradients summed round a ring. A preset of data_parallel (exchange:
// ring).
#include "data_parallel.hpp"
#include "policy_files.hpp"

namespace zygos::policies {
namespace {

constexpr const char* multi_worker_mirrored_keyword = "multi_worker_mirrored";

class MultiWorkerMirrored final : public train::Policy {
 public:
  std::string_view keyword() const override { return multi_worker_mirrored_keyword; }

  schedule::Schedule schedule(const plan::Problem& problem,
                              const plan::Profile* /*profile*/) const override {
    return data_parallel_schedule(multi_worker_mirrored_keyword, problem,
                                  {.exchange = Exchange::ring, .shares = {}});
  }

  /// data_parallel offers a planner the same.
  std::vector<train::PolicyOptions> candidates(const plan::Problem& /*problem*/,
                                               const plan::Profile* /*profile*/) const override {
    return {};
  }
};

}  // namespace

train::PolicyPtr multi_worker_mirrored() { return std::make_shared<MultiWorkerMirrored>(); }

train::PolicyEntry multi_worker_mirrored_entry() {
  return {deck::Schema(multi_worker_mirrored_keyword,
                       "TensorFlow's MultiWorkerMirroredStrategy: a replica on every lane of all "
                       "MPI ranks, equal shares of the batch, gradients summed round a ring (in "
                       "strict mode by all_reduce)."),
          [](const deck::Section&) { return multi_worker_mirrored(); }};
}

}  // namespace zygos::policies
