// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/comm/in_process.hpp"

#include "comm/backoff.hpp"
#include "comm/in_process_group.hpp"

#include "zygos/core/error.hpp"

#include <cstring>

namespace zygos::comm {
namespace {

void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes > 0) {
    std::memcpy(to, from, bytes);
  }
}

void throw_if_aborted(Group& group, int rank) {
  const int by = group.aborted_by();
  if (by >= 0) {
    throw PeerError(rank, by,
                    (by == rank ? "this rank" : "rank " + std::to_string(by)) +
                        " has failed: " + group.reason());
  }
}

[[noreturn]] void throw_left(int rank, int peer, const std::string& what) {
  throw PeerError(rank, peer, what + ": rank " + std::to_string(peer) + " is gone");
}

class SendChannel : public Channel {
 public:
  SendChannel(Communicator& owner, const Message& message, std::shared_ptr<Group> group,
              std::span<const std::byte> buffer)
      : Channel(owner, message),
        rank_(owner.rank()),
        group_(std::move(group)),
        slot_(group_->slot(rank_, message.peer, message.tag)),
        buffer_(buffer) {}

  ~SendChannel() override {
    const std::lock_guard lock(slot_->copying);
    slot_->sent.store(slot_->received.load());  // withdraws a message that nobody took
    slot_->refused.store(false);
  }

 private:
  void begin() override {
    throw_if_aborted(*group_, rank_);
    slot_->buffer = buffer_;
    slot_->sent.fetch_add(1, std::memory_order_release);
  }

  bool poll() override {
    const bool gone = group_->seat(message().peer).left.load(std::memory_order_acquire);
    if (slot_->received.load(std::memory_order_acquire) ==
        slot_->sent.load(std::memory_order_relaxed)) {
      return true;
    }
    if (slot_->refused.load(std::memory_order_acquire)) {
      throw PeerError(rank_, message().peer,
                      text_of(message()) + ": the receiver expects " +
                          std::to_string(slot_->wanted) + " bytes");
    }
    throw_if_aborted(*group_, rank_);
    if (gone) {
      throw_left(rank_, message().peer, text_of(message()));
    }
    return false;
  }

  int rank_;
  std::shared_ptr<Group> group_;
  std::shared_ptr<Slot> slot_;
  std::span<const std::byte> buffer_;
};

class ReceiveChannel : public Channel {
 public:
  ReceiveChannel(Communicator& owner, const Message& message, std::shared_ptr<Group> group,
                 std::span<std::byte> buffer)
      : Channel(owner, message),
        rank_(owner.rank()),
        group_(std::move(group)),
        slot_(group_->slot(message.peer, rank_, message.tag)),
        buffer_(buffer) {}

 private:
  void begin() override { throw_if_aborted(*group_, rank_); }

  bool poll() override {
    const bool gone = group_->seat(message().peer).left.load(std::memory_order_acquire);
    if (take()) {
      return true;
    }
    throw_if_aborted(*group_, rank_);
    if (gone) {
      throw_left(rank_, message().peer, text_of(message()));
    }
    return false;
  }

  bool take() {
    const auto received = slot_->received.load(std::memory_order_relaxed);
    if (slot_->sent.load(std::memory_order_acquire) == received) {
      return false;
    }
    const std::lock_guard lock(slot_->copying);
    if (slot_->sent.load(std::memory_order_acquire) == received) {  // withdrawn meanwhile
      return false;
    }
    if (slot_->buffer.size() != buffer_.size()) {
      slot_->wanted = buffer_.size();
      slot_->refused.store(true, std::memory_order_release);
      throw PeerError(rank_, message().peer,
                      text_of(message()) + ": the sender has " +
                          std::to_string(slot_->buffer.size()) + " bytes");
    }
    copy(buffer_.data(), slot_->buffer.data(), buffer_.size());
    slot_->received.store(received + 1, std::memory_order_release);
    return true;
  }

  int rank_;
  std::shared_ptr<Group> group_;
  std::shared_ptr<Slot> slot_;
  std::span<std::byte> buffer_;
};

class InProcess : public Communicator {
 public:
  InProcess(int rank, std::shared_ptr<Group> group, const Options& options)
      : Communicator(rank, group->size(), options), group_(std::move(group)) {}
  ~InProcess() override { own_seat().left.store(true, std::memory_order_release); }

  std::string_view kind() const noexcept override { return "in-process"; }

  void barrier() override {
    collective({.operation = "barrier"}, [] {});
  }

  void abort(std::string_view reason) noexcept override { group_->abort(rank(), reason); }
  void check() override { throw_if_aborted(*group_, rank()); }

 private:
  Seat& own_seat() { return group_->seat(rank()); }

  std::unique_ptr<Channel> make_send(std::span<const std::byte> buffer,
                                     const Message& message) override {
    return std::make_unique<SendChannel>(*this, message, group_, buffer);
  }

  std::unique_ptr<Channel> make_receive(std::span<std::byte> buffer,
                                        const Message& message) override {
    return std::make_unique<ReceiveChannel>(*this, message, group_, buffer);
  }

  void do_broadcast(std::span<std::byte> buffer, int root) override {
    const Contribution own{"broadcast", buffer.size(), root, buffer.data()};
    collective(own, [&] {
      if (rank() != root) {
        copy(buffer.data(), group_->seat(root).contribution.data, buffer.size());
      }
    });
  }

  void do_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    const Contribution own{.operation = "all_gather", .bytes = mine.size(), .data = mine.data()};
    collective(own, [&] {
      for (int r = 0; r < size(); ++r) {
        copy(all.data() + static_cast<std::size_t>(r) * mine.size(),
             group_->seat(r).contribution.data, mine.size());
      }
    });
  }

  /// `read` runs while all contributions are in place and none may change.
  template <class Read>
  void collective(const Contribution& own, Read read) {
    check();
    own_seat().contribution = own;
    meet(own);
    int other = -1;
    for (int r = 0; r < size() && other < 0; ++r) {
      if (!group_->seat(r).contribution.matches(own)) {
        other = r;
      }
    }
    std::string theirs;
    if (other < 0) {
      read();
    } else {
      theirs = text_of_call(group_->seat(other).contribution);
    }
    meet(own);
    if (other >= 0) {
      throw PeerError(rank(), other,
                      "calls " + text_of_call(own) + ", but rank " + std::to_string(other) +
                          " calls " + theirs + "; all ranks must make the same calls in order");
    }
  }

  static std::string text_of_call(const Contribution& call) {
    return std::string(call.operation) + " of " + std::to_string(call.bytes) + " bytes" +
           (call.root < 0 ? "" : " from rank " + std::to_string(call.root));
  }

  void meet(const Contribution& own) {
    own_seat().arrived.store(++meetings_, std::memory_order_release);
    Backoff backoff(*this);
    for (int r = 0; r < size(); ++r) {
      Seat& seat = group_->seat(r);
      for (;;) {
        const bool gone = seat.left.load(std::memory_order_acquire);
        if (seat.arrived.load(std::memory_order_acquire) >= meetings_) {
          break;
        }
        check();
        if (gone) {
          throw_left(rank(), r, text_of_call(own));
        }
        if (!backoff.pause()) {
          give_up(r, text_of_call(own) + ", waiting for rank " + std::to_string(r));
        }
      }
    }
  }

  std::shared_ptr<Group> group_;
  std::uint64_t meetings_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<Communicator>> in_process_group(int size, const Options& options) {
  if (size < 1) {
    throw UsageError("a group of " + std::to_string(size) + " ranks; 1 is the least");
  }
  const auto group = std::make_shared<Group>(size);
  std::vector<std::unique_ptr<Communicator>> ranks;
  for (int r = 0; r < size; ++r) {
    ranks.push_back(std::make_unique<InProcess>(r, group, options));
  }
  return ranks;
}

}  // namespace zygos::comm
