// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What zero_offload and cotrain share: one place, the owner, keeps optimizer states and updates,
// the others, the workers, compute. Gradients go out bucket by bucket during backward, weights come
// back by bucket.
#pragma once

#include "zygos/deck/schema.hpp"
#include "zygos/deck/value.hpp"
#include "zygos/plan/problem.hpp"
#include "zygos/schedule/schedule.hpp"

#include <cstdint>
#include <string>

namespace zygos::policies {

struct Offload {
  std::string policy;  ///< keyword
  std::string owner;   ///< lane; empty: the first that reads host memory itself
  std::int64_t bucket_bytes = 0;
  bool streams =
      false;  ///< workers have weights and gradients of a bucket only while they use them
};

/// UsageError for a bucket of no bytes.
void require_bucket(const Offload& offload);

/// One step. The workers update the first `device_nodes` nodes themselves; with several workers
/// each owns an equal part of these parameters. UsageError for an owner that is no lane, fewer than
/// two lanes, and strict mode with several workers.
schedule::Schedule offload_schedule(const plan::Problem& problem, const Offload& offload,
                                    std::int32_t device_nodes = 0);

/// The keys `owner` and `bucket` of a deck.
void add_offload_keys(deck::Schema& schema);
Offload offload_of(std::string policy, const deck::Section& section);

}  // namespace zygos::policies
