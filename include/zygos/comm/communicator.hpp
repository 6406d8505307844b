// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Moves bytes between ranks. Knows no tensors, gradients, schedules or lanes. The one rule a reader
// could not guess: everything of one rank, its communicator and all its channels, is called from
// one thread, and messages only move while that thread is inside a call.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace zygos::comm {

class Communicator;

struct Options {
  /// Seconds without any progress after which a wait throws; more than the longest single task.
  double time_limit_s = 300.0;
  /// A longer message travels in several requests, as MPI counts in int. The same on all ranks.
  std::size_t part_bytes = std::size_t{1} << 30;
};

/// What one channel carries, every time the same.
struct Message {
  enum class Direction { send, receive };
  Direction direction = Direction::send;
  int peer = 0;
  int tag = 0;
  std::size_t bytes = 0;
};
/// "receive of 40 bytes from rank 1 with tag 3"
std::string text_of(const Message& message);

/// A message that is repeated with the same buffer, peer and tag. Opened once, started any number
/// of times; starting and testing allocate nothing. Must not outlive its communicator.
class Channel {
 public:
  virtual ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  const Message& message() const noexcept { return message_; }

  /// Begins one message; until done() a buffer to be sent must not be written and a buffer to be
  /// received not be read. The n-th start on one side meets the n-th on the other; a send may wait
  /// for its receive to have been started. Throws InternalError if the last message is under way.
  void start();
  /// Moves messages on and says at once whether this channel has nothing under way. Throws
  /// PeerError when the peer failed, was lost or has another size, and when this rank has seen no
  /// progress for Options::time_limit_s.
  bool done();

 protected:
  Channel(Communicator& owner, const Message& message);

 private:
  virtual void begin() = 0;
  virtual bool poll() = 0;

  Communicator& owner_;
  Message message_;
  bool under_way_ = false;
  std::chrono::steady_clock::time_point started_{};
};

/// One rank's end of a group of ranks. Collective calls are made by all ranks in the same order;
/// the result has the same bits on every rank, whatever the timing.
class Communicator {
 public:
  virtual ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  const Options& options() const noexcept { return options_; }
  /// Of waits that begin from now on: Options::time_limit_s; infinity waits for ever. Ranks may
  /// differ. Throws UsageError unless it is above 0.
  void set_time_limit(double seconds);
  /// "in-process", "mpi" or "nccl".
  virtual std::string_view kind() const noexcept = 0;
  /// Whether the buffers of channels lie in device memory. Those of collectives never do.
  virtual bool device_channels() const noexcept { return false; }

  /// Channels to and from another rank (or this one). Not collective and in any order: an end meets
  /// the peer's end with the same tag, whose size must be the same. The buffer belongs to the
  /// caller and must outlive the channel. Throws UsageError for a rank that does not exist, a tag
  /// that is negative or beyond what the kind has, and a second channel of the same direction, peer
  /// and tag.
  std::unique_ptr<Channel> open_send(std::span<const std::byte> buffer, int to, int tag);
  std::unique_ptr<Channel> open_receive(std::span<std::byte> buffer, int from, int tag);

  /// Starts several channels at once, in any order; needed where ranks send to each other through
  /// NCCL, which would otherwise wait for the first before it begins the second.
  virtual void start(std::span<Channel* const> channels);
  /// Blocks until channel.done().
  void wait(Channel& channel);
  /// For a thread that polls, between two polls: lets others have its core. Where others want it,
  /// which a turn of theirs tells, the thread sleeps for a moment, now and for a while: one that
  /// only yields would take them half of it and wait for a whole turn of theirs each time.
  void give_way() noexcept;

  virtual void barrier() = 0;
  /// Every rank's `buffer` becomes the root's; the same size on all ranks.
  void broadcast(std::span<std::byte> buffer, int root);
  /// `all`, size() times as large as `mine`, becomes the blocks of all ranks in rank order.
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all);
  /// Elementwise sum over the ranks, added in rank order; the same number of values on all ranks.
  /// Allocates nothing up to `small` values.
  void sum(std::span<double> values);
  /// Elementwise maximum over the ranks. Allocates nothing up to `small` values.
  void max(std::span<std::int64_t> values);
  static constexpr std::size_t small = 64;

  /// This rank has failed: tells the others, whose current or next wait throws a PeerError with
  /// `reason`. Returns without waiting for them. Afterwards this communicator only throws.
  virtual void abort(std::string_view reason) noexcept = 0;
  /// Throws PeerError if any rank has called abort(). Waits do this by themselves.
  virtual void check() = 0;

 protected:
  Communicator(int rank, int size, const Options& options);
  /// Throws PeerError: this rank waited too long for `what`.
  [[noreturn]] void give_up(int peer, const std::string& what);

 private:
  friend class Channel;
  /// Called before a wait is given up: a message may now be under way for ever.
  virtual void lost() noexcept {}
  using Key = std::tuple<Message::Direction, int, int>;

  virtual std::unique_ptr<Channel> make_send(std::span<const std::byte> buffer,
                                             const Message& message) = 0;
  virtual std::unique_ptr<Channel> make_receive(std::span<std::byte> buffer,
                                                const Message& message) = 0;
  virtual void do_broadcast(std::span<std::byte> buffer, int root) = 0;
  virtual void do_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  void require_rank(int rank, std::string_view role) const;
  void require_new(const Message& message) const;
  /// All ranks' blocks of 8-byte values, in rank order; valid until the next call.
  std::span<const std::byte> gather_small(std::span<const std::byte> mine);

  int rank_;
  int size_;
  Options options_;
  std::set<Key> open_;
  std::vector<std::byte> gathered_;
  std::chrono::steady_clock::time_point last_progress_;
  std::chrono::steady_clock::time_point shared_until_{};  ///< others want this thread's core
};

/// Sends or receives one message now and blocks until it is done.
void send(Communicator& communicator, std::span<const std::byte> buffer, int to, int tag);
void receive(Communicator& communicator, std::span<std::byte> buffer, int from, int tag);
/// Collective: blocks of any size, gathered on `root` in rank order; empty on the other ranks.
/// `tag` must be free between every rank and the root.
std::vector<std::vector<std::byte>> gather(Communicator& communicator,
                                           std::span<const std::byte> mine, int root, int tag);

}  // namespace zygos::comm
