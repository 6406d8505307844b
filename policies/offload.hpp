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
#include <optional>
#include <string>

namespace zygos::policies {

struct Offload {
  std::string policy;  ///< keyword
  std::string owner;   ///< lane; empty: the first that reads host memory itself
  std::int64_t bucket_bytes = 0;
  bool streams =
      false;  ///< workers have weights and gradients of a bucket only while they use them
  /// Where gradients are clipped: buckets are updated before the norm is known. Empty: they are
  /// with `streams`, where no weights have to return after the norm.
  std::optional<bool> speculate{};
  bool spills_states = false;  ///< the owner's optimizer states rest in its file
  std::string role = "owner";  ///< the key that names the owner
};

/// What the workers update themselves: the first nodes, and a share of the elements of the next.
struct DeviceNodes {
  std::int32_t whole = 0;      ///< nodes
  std::int32_t next_end = 0;   ///< end of the nodes that are shared; they begin at `whole`
  double share_of_next = 0.0;  ///< 0 to 1

  std::int32_t shared_end() const { return share_of_next > 0.0 ? next_end : whole; }
};

/// The lane that is named, or else the first that reads host memory itself; UsageError if there is
/// none.
schedule::Place owner_in(const plan::Problem& problem, const Offload& offload);

/// UsageError for a bucket of no bytes.
void require_bucket(const Offload& offload);

/// One step. The workers update `device` themselves; with several workers each owns an equal part
/// of these parameters. UsageError for an owner that is no lane, fewer than two lanes, strict mode
/// with several workers, speculation on a norm that nobody needs or with states in a file, and
/// states in a file of an owner that does not read host memory.
schedule::Schedule offload_schedule(const plan::Problem& problem, const Offload& offload,
                                    const DeviceNodes& device = {});

/// The keys `owner`, `bucket`, `speculate` and `states` of a deck.
void add_offload_keys(deck::Schema& schema);
Offload offload_of(std::string policy, const deck::Section& section);

}  // namespace zygos::policies
