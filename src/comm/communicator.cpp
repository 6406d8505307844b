// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/comm/communicator.hpp"

#include "comm/backoff.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

namespace zygos::comm {
namespace {

using Clock = std::chrono::steady_clock;

std::string seconds_text(double seconds) {
  std::string text = std::to_string(seconds);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') {
    text.pop_back();
  }
  return text + " s";
}

template <class T>
T value_at(std::span<const std::byte> bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

/// Folds the ranks' blocks in `gathered` into `values`, in rank order.
template <class T, class Fold>
void fold(std::span<const std::byte> gathered, std::span<T> values, int ranks, Fold combine) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    T result = value_at<T>(gathered, i);
    for (std::size_t r = 1; r < static_cast<std::size_t>(ranks); ++r) {
      result = combine(result, value_at<T>(gathered, r * values.size() + i));
    }
    values[i] = result;
  }
}

}  // namespace

std::string text_of(const Message& message) {
  const bool sends = message.direction == Message::Direction::send;
  return (sends ? "send of " : "receive of ") + std::to_string(message.bytes) +
         (message.bytes == 1 ? " byte " : " bytes ") + (sends ? "to rank " : "from rank ") +
         std::to_string(message.peer) + " with tag " + std::to_string(message.tag);
}

// ---------------------------------------------------------------- channels

Channel::Channel(Communicator& owner, const Message& message) : owner_(owner), message_(message) {
  owner_.open_.insert({message.direction, message.peer, message.tag});
}

Channel::~Channel() { owner_.open_.erase({message_.direction, message_.peer, message_.tag}); }

void Channel::start() {
  ZYGOS_REQUIRE(!under_way_, text_of(message_) + " is started, but the last one is under way");
  begin();
  under_way_ = true;
  started_ = Clock::now();
}

bool Channel::done() {
  if (!under_way_) {
    return true;
  }
  if (poll()) {
    under_way_ = false;
    owner_.last_progress_ = Clock::now();
    return true;
  }
  const auto waited = Clock::now() - std::max(started_, owner_.last_progress_);
  if (waited > std::chrono::duration<double>(owner_.options_.time_limit_s)) {
    owner_.give_up(message_.peer, text_of(message_));
  }
  return false;
}

// ---------------------------------------------------------------- communicators

Communicator::Communicator(int rank, int size, const Options& options)
    : rank_(rank),
      size_(size),
      options_(options),
      gathered_(small * sizeof(double) * static_cast<std::size_t>(size)),
      last_progress_(Clock::now()) {
  if (!(options.time_limit_s > 0.0) || options.part_bytes == 0) {
    throw UsageError("a communicator needs a time limit above 0 s and parts of at least 1 byte");
  }
}

Communicator::~Communicator() = default;

void Communicator::set_time_limit(double seconds) {
  if (!(seconds > 0.0)) {
    throw UsageError("a communicator needs a time limit above 0 s");
  }
  options_.time_limit_s = seconds;
}

void Communicator::give_up(int peer, const std::string& what) {
  lost();
  throw PeerError(rank_, peer,
                  what + ": no progress for " + seconds_text(options_.time_limit_s) +
                      "; the peer is lost, hangs or works longer than that on one task (the limit "
                      "is Options::time_limit_s, in a deck train.peer_timeout)");
}

void Communicator::require_rank(int rank, std::string_view role) const {
  if (rank < 0 || rank >= size_) {
    throw UsageError("there is no rank " + std::to_string(rank) + " to " + std::string(role) +
                     "; this communicator has ranks 0 to " + std::to_string(size_ - 1));
  }
}

void Communicator::require_new(const Message& message) const {
  require_rank(message.peer,
               message.direction == Message::Direction::send ? "send to" : "receive from");
  if (message.tag < 0) {
    throw UsageError(text_of(message) + ": tags are 0 or more");
  }
  if (open_.contains({message.direction, message.peer, message.tag})) {
    throw UsageError(text_of(message) + ": such a channel is open; give each its own tag");
  }
}

std::unique_ptr<Channel> Communicator::open_send(std::span<const std::byte> buffer, int to,
                                                 int tag) {
  const Message message{Message::Direction::send, to, tag, buffer.size()};
  require_new(message);
  return make_send(buffer, message);
}

std::unique_ptr<Channel> Communicator::open_receive(std::span<std::byte> buffer, int from,
                                                    int tag) {
  const Message message{Message::Direction::receive, from, tag, buffer.size()};
  require_new(message);
  return make_receive(buffer, message);
}

void Communicator::start(std::span<Channel* const> channels) {
  for (Channel* const channel : channels) {
    channel->start();
  }
}

void Communicator::wait(Channel& channel) {
  // done() keeps the time limit.
  for (Backoff backoff(*this); !channel.done();) {
    backoff.pause();
  }
}

void Communicator::give_way() noexcept {
  // A yield to nobody takes a microsecond, a turn of another thread hundreds.
  constexpr std::chrono::microseconds turn{100};
  constexpr std::chrono::microseconds nap{20};
  constexpr std::chrono::milliseconds remembered{100};
  const auto begun = Clock::now();
  if (begun < shared_until_) {
    return std::this_thread::sleep_for(nap);
  }
  std::this_thread::yield();
  const auto now = Clock::now();
  if (now - begun > turn) {
    shared_until_ = now + remembered;
  }
}

void Communicator::broadcast(std::span<std::byte> buffer, int root) {
  require_rank(root, "broadcast from");
  do_broadcast(buffer, root);
  last_progress_ = Clock::now();
}

void Communicator::all_gather(std::span<const std::byte> mine, std::span<std::byte> all) {
  if (all.size() != mine.size() * static_cast<std::size_t>(size_)) {
    throw UsageError("all_gather of " + std::to_string(mine.size()) + " bytes from each of " +
                     std::to_string(size_) + " ranks into " + std::to_string(all.size()) +
                     " bytes: the blocks do not fill the result");
  }
  do_all_gather(mine, all);
  last_progress_ = Clock::now();
}

std::span<const std::byte> Communicator::gather_small(std::span<const std::byte> mine) {
  const std::size_t bytes = mine.size() * static_cast<std::size_t>(size_);
  if (gathered_.size() < bytes) {
    gathered_.resize(bytes);
  }
  const auto all = std::span(gathered_).first(bytes);
  all_gather(mine, all);
  return all;
}

void Communicator::sum(std::span<double> values) {
  fold(gather_small(std::as_bytes(values)), values, size_,
       [](double a, double b) { return a + b; });
}

void Communicator::max(std::span<std::int64_t> values) {
  fold(gather_small(std::as_bytes(values)), values, size_,
       [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
}

// ---------------------------------------------------------------- one message at a time

void send(Communicator& communicator, std::span<const std::byte> buffer, int to, int tag) {
  const auto channel = communicator.open_send(buffer, to, tag);
  channel->start();
  communicator.wait(*channel);
}

void receive(Communicator& communicator, std::span<std::byte> buffer, int from, int tag) {
  const auto channel = communicator.open_receive(buffer, from, tag);
  channel->start();
  communicator.wait(*channel);
}

std::vector<std::vector<std::byte>> gather(Communicator& communicator,
                                           std::span<const std::byte> mine, int root, int tag) {
  if (root < 0 || root >= communicator.size()) {
    throw UsageError("there is no rank " + std::to_string(root) +
                     " to gather on; this communicator has ranks 0 to " +
                     std::to_string(communicator.size() - 1));
  }
  const auto ranks = static_cast<std::size_t>(communicator.size());
  const auto own = static_cast<std::size_t>(communicator.rank());
  std::vector<std::uint64_t> sizes(ranks);
  const std::uint64_t size = mine.size();
  communicator.all_gather(std::as_bytes(std::span(&size, 1)),
                          std::as_writable_bytes(std::span(sizes)));
  if (communicator.rank() != root) {
    send(communicator, mine, root, tag);
    return {};
  }
  std::vector<std::vector<std::byte>> blocks(ranks);
  blocks[own].assign(mine.begin(), mine.end());
  for (std::size_t r = 0; r < ranks; ++r) {
    if (r != own) {
      blocks[r].resize(sizes[r]);
      receive(communicator, blocks[r], static_cast<int>(r), tag);
    }
  }
  return blocks;
}

}  // namespace zygos::comm
