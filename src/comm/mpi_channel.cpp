// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/mpi_channel.hpp"

#include "comm/mpi_calls.hpp"

#include <algorithm>

namespace zygos::comm {
namespace {

class MpiChannel : public Channel {
 public:
  MpiChannel(Communicator& owner, const Message& message, void* buffer, MPI_Comm communicator,
             std::function<void()> pause)
      : Channel(owner, message),
        rank_(owner.rank()),
        part_bytes_(owner.options().part_bytes),
        pause_(std::move(pause)),
        requests_(message.bytes / part_bytes_ + 1, MPI_REQUEST_NULL),
        next_(requests_.size()) {
    try {
      for (std::size_t i = 0; i < requests_.size(); ++i) {
        open(i, static_cast<std::byte*>(buffer) + i * part_bytes_, communicator);
      }
    } catch (...) {
      close();
      throw;
    }
  }

  ~MpiChannel() override {
    if (mpi_is_initialised()) {
      close();
    }
  }

 private:
  bool sends() const { return message().direction == Message::Direction::send; }

  int bytes_of(std::size_t part) const {
    return static_cast<int>(std::min(part_bytes_, message().bytes - part * part_bytes_));
  }

  void open(std::size_t part, std::byte* at, MPI_Comm communicator) {
    const Message& m = message();
    check(sends() ? MPI_Send_init(at, bytes_of(part), MPI_BYTE, m.peer, m.tag, communicator,
                                  &requests_[part])
                  : MPI_Recv_init(at, bytes_of(part), MPI_BYTE, m.peer, m.tag, communicator,
                                  &requests_[part]));
  }

  void close() {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      // A send under way cannot be cancelled; MPI frees it when it has ended.
      if (i >= next_ && !sends()) {
        MPI_Cancel(&requests_[i]);
        MPI_Wait(&requests_[i], MPI_STATUS_IGNORE);
      }
      if (requests_[i] != MPI_REQUEST_NULL) {
        MPI_Request_free(&requests_[i]);
      }
    }
  }

  void begin() override {
    // One by one: MPI_Startall may start them in another order, and the order is all that tells
    // parts apart.
    for (MPI_Request& request : requests_) {
      check(MPI_Start(&request));
    }
    next_ = 0;
  }

  bool poll() override {
    for (; next_ < requests_.size(); ++next_) {
      int complete = 0;
      MPI_Status status;
      const int code = MPI_Test(&requests_[next_], &complete, &status);
      if (code != MPI_SUCCESS) {
        ++next_;  // failed is ended, too
        check(code);
      }
      if (complete == 0) {
        pause_();
        return false;
      }
      if (!sends()) {
        require_whole(status);
      }
    }
    return true;
  }

  void require_whole(const MPI_Status& status) const {
    int received = 0;
    MPI_Get_count(&status, MPI_BYTE, &received);
    if (received != bytes_of(next_)) {
      throw PeerError(rank_, message().peer,
                      text_of(message()) + ": the sender has only " +
                          std::to_string(next_ * part_bytes_ + static_cast<std::size_t>(received)) +
                          " bytes");
    }
  }

  void check(int code) const {
    mpi_check(code, rank_, message().peer, [&] { return text_of(message()); });
  }

  int rank_;
  std::size_t part_bytes_;
  std::function<void()> pause_;
  std::vector<MPI_Request> requests_;
  std::size_t next_;  ///< parts before this one have ended; all, if nothing is under way
};

}  // namespace

std::unique_ptr<Channel> mpi_channel(Communicator& owner, const Message& message, void* buffer,
                                     MPI_Comm communicator, std::function<void()> pause) {
  return std::make_unique<MpiChannel>(owner, message, buffer, communicator, std::move(pause));
}

}  // namespace zygos::comm
