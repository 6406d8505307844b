// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What the ranks of an in-process group share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace zygos::comm {

/// The meeting point of a channel's two ends. The sender publishes its buffer by raising `sent`;
/// the receiver copies out of it and then raises `received` to the same number.
struct Slot {
  std::span<const std::byte> buffer;  ///< written by the sender while sent == received
  std::atomic<std::uint64_t> sent{0};
  std::atomic<std::uint64_t> received{0};
  std::atomic<bool> refused{false};  ///< the receiver found another size than its own...
  std::size_t wanted = 0;            ///< ...which is this
  std::mutex copying;                ///< a sender that is destroyed waits for a copy under way
};

/// What a rank brings to a collective call.
struct Contribution {
  std::string_view operation;
  std::size_t bytes = 0;
  int root = -1;
  const std::byte* data = nullptr;

  bool matches(const Contribution& other) const noexcept {
    return operation == other.operation && bytes == other.bytes && root == other.root;
  }
};

/// A rank's place in collective calls; on cache lines of its own, as the others poll it.
struct alignas(128) Seat {
  std::atomic<std::uint64_t> arrived{0};  ///< barriers that this rank has reached
  std::atomic<bool> left{false};
  Contribution contribution;  ///< written before a meeting, read between two
};

class Group {
 public:
  explicit Group(int size) : seats_(static_cast<std::size_t>(size)) {}

  int size() const noexcept { return static_cast<int>(seats_.size()); }
  Seat& seat(int rank) { return seats_[static_cast<std::size_t>(rank)]; }
  std::shared_ptr<Slot> slot(int from, int to, int tag);

  /// The first call wins.
  void abort(int rank, std::string_view reason) noexcept;
  /// The rank that called abort, or -1.
  int aborted_by() const noexcept { return aborted_by_.load(std::memory_order_acquire); }
  std::string reason();

 private:
  std::vector<Seat> seats_;
  std::mutex mutex_;
  std::map<std::tuple<int, int, int>, std::shared_ptr<Slot>> slots_;
  std::atomic<int> aborted_by_{-1};
  std::string reason_;
};

}  // namespace zygos::comm
