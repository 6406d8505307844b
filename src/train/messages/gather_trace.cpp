// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/engine_impl.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

namespace zygos::train {
namespace {

/// A line's record on its way to other ranks.
struct LineRecord {
  std::size_t line = 0;
  TaskRecord record;
};
static_assert(std::is_trivially_copyable_v<LineRecord>);

/// Ranks leave a barrier at about the same time; the middle of several attempts is nearest to it.
constexpr std::size_t attempts = 15;

template <class T>
std::span<std::byte> bytes_of(T& list) {
  return std::as_writable_bytes(std::span(list));
}

/// Seconds that this rank's clock is ahead of rank 0's.
double ahead_of_first(comm::Communicator& ranks, const Workers& workers) {
  std::array<double, attempts> ahead{};
  for (double& difference : ahead) {
    ranks.barrier();
    const double mine = workers.now();
    std::array<double, 1> first{mine};
    ranks.broadcast(bytes_of(first), 0);
    difference = mine - first[0];
  }
  std::ranges::sort(ahead);
  return ahead[attempts / 2];
}

}  // namespace

void Engine::gather_trace() {
  Impl& impl = *impl_;
  if (impl.places.ranks == nullptr) {
    return;
  }
  comm::Communicator& ranks = *impl.places.ranks;
  const double ahead = ahead_of_first(ranks, impl.workers);
  std::vector<LineRecord> mine;
  for (const auto& worker : impl.workers.all) {
    for (const auto& head : worker.heads) {
      for (TaskRecord record : impl.trace.of(head.line)) {
        record.start_s -= ahead;
        record.end_s -= ahead;
        mine.push_back({head.line, record});
      }
    }
  }
  impl.trace.clear();
  std::array<std::uint64_t, 1> count{mine.size()};
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(ranks.size()));
  ranks.all_gather(bytes_of(count), bytes_of(counts));
  for (int rank = 0; rank < ranks.size(); ++rank) {
    std::vector<LineRecord> records(counts[static_cast<std::size_t>(rank)]);
    if (rank == ranks.rank()) {
      records = mine;
    }
    ranks.broadcast(bytes_of(records), rank);
    for (const LineRecord& arrived : records) {
      impl.trace.record(arrived.line, arrived.record);
    }
  }
}

}  // namespace zygos::train
