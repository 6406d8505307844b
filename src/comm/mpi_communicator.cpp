// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/backoff.hpp"
#include "comm/mpi_calls.hpp"
#include "comm/mpi_channel.hpp"

#include "zygos/comm/mpi.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <exception>
#include <thread>

namespace zygos::comm {
namespace {

int rank_in(MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  return rank;
}

int size_of(MPI_Comm communicator) {
  int size = 0;
  MPI_Comm_size(communicator, &size);
  return size;
}

/// The largest tag; kept for the notice of a rank that has failed.
int largest_tag() {
  void* value = nullptr;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
  return found != 0 ? *static_cast<int*>(value) : 32767;  // the least that MPI allows
}

void require_countable(const Options& options) {
  if (options.part_bytes > INT_MAX) {
    throw UsageError("MPI counts in int: parts of a message have at most " +
                     std::to_string(INT_MAX) + " bytes");
  }
}

class Mpi : public Communicator {
 public:
  Mpi(MPI_Comm duplicate, const Options& options)
      : Communicator(rank_in(duplicate), size_of(duplicate), options),
        duplicate_(duplicate),
        notice_tag_(largest_tag()),
        thread_(std::this_thread::get_id()) {
    MPI_Irecv(notice_.data(), static_cast<int>(notice_.size()), MPI_BYTE, MPI_ANY_SOURCE,
              notice_tag_, duplicate_, &notice_request_);
  }

  ~Mpi() override {
    if (!mpi_is_initialised()) {
      return;
    }
    const bool all_leave = !broken_ && std::uncaught_exceptions() == 0 && others_leave_too();
    if (notice_request_ != MPI_REQUEST_NULL) {
      MPI_Cancel(&notice_request_);
      MPI_Wait(&notice_request_, MPI_STATUS_IGNORE);
    }
    // One that is not freed costs a number. One that is freed while another rank still sends a
    // notice of failure on it lets Open MPI 4.1 hand that to the caller's communicator.
    if (all_leave) {
      MPI_Comm_free(&duplicate_);
    }
  }

  std::string_view kind() const noexcept override { return "mpi"; }

  void barrier() override {
    check();
    collective("barrier", [&](MPI_Request* request) { return MPI_Ibarrier(duplicate_, request); });
  }

  void abort(std::string_view reason) noexcept override;
  void check() override;

 private:
  void lost() noexcept override { broken_ = true; }

  std::unique_ptr<Channel> make_send(std::span<const std::byte> buffer,
                                     const Message& message) override {
    // MPI takes buffers that it only reads as pointers to non-const in persistent requests.
    return make(message, const_cast<std::byte*>(buffer.data()));
  }

  std::unique_ptr<Channel> make_receive(std::span<std::byte> buffer,
                                        const Message& message) override {
    return make(message, buffer.data());
  }

  std::unique_ptr<Channel> make(const Message& message, void* buffer) {
    require_thread();
    if (message.tag >= notice_tag_) {
      throw UsageError(text_of(message) + ": this MPI has tags up to " +
                       std::to_string(notice_tag_ - 1));
    }
    return mpi_channel(*this, message, buffer, duplicate_, [this] { look_for_notice(); });
  }

  void do_broadcast(std::span<std::byte> buffer, int root) override {
    check();
    for (std::size_t at = 0; at < buffer.size(); at += options().part_bytes) {
      const auto part = buffer.subspan(at, std::min(options().part_bytes, buffer.size() - at));
      collective("broadcast", [&](MPI_Request* request) {
        return MPI_Ibcast(part.data(), static_cast<int>(part.size()), MPI_BYTE, root, duplicate_,
                          request);
      });
    }
  }

  void do_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override;

  /// Starts a collective operation and waits for it.
  template <class Start>
  void collective(const char* name, Start start) {
    const auto what = [&] { return std::string(name); };
    MPI_Request request = MPI_REQUEST_NULL;
    mpi_check(start(&request), rank(), -1, what);
    Backoff backoff(*this);
    for (;;) {
      int complete = 0;
      const int code = MPI_Test(&request, &complete, MPI_STATUS_IGNORE);
      if (code != MPI_SUCCESS) {
        broken_ = true;
        mpi_check(code, rank(), -1, what);
      }
      if (complete != 0) {
        return;
      }
      check();
      if (!backoff.pause()) {
        give_up(-1, what());
      }
    }
  }

  /// As check(), but only looks every now and then: for loops that poll.
  void look_for_notice() {
    if (++polls_ % 64 == 0) {
      check();
    }
  }

  /// Whether all ranks have entered their destructors without a failure.
  bool others_leave_too() noexcept {
    MPI_Request request = MPI_REQUEST_NULL;
    int complete = 0;
    try {
      MPI_Ibarrier(duplicate_, &request);
      for (Backoff backoff(*this, std::min(10.0, options().time_limit_s));
           MPI_Test(&request, &complete, MPI_STATUS_IGNORE) == MPI_SUCCESS && complete == 0;) {
        check();
        if (!backoff.pause()) {
          break;
        }
      }
    } catch (const std::exception&) {
      return false;
    }
    return complete != 0;
  }

  void require_thread() const {
    ZYGOS_REQUIRE(
        std::this_thread::get_id() == thread_,
        "a communicator over MPI is called from another thread than the one that made it");
  }

  MPI_Comm duplicate_;
  int notice_tag_;
  std::thread::id thread_;
  std::array<char, 1024> notice_{};  ///< what a failing rank says
  MPI_Request notice_request_ = MPI_REQUEST_NULL;
  int failed_ = -1;  ///< the rank that has failed
  std::string reason_;
  bool broken_ = false;
  std::uint64_t polls_ = 0;
};

void Mpi::do_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) {
  check();
  if (mine.size() <= options().part_bytes) {
    const int bytes = static_cast<int>(mine.size());
    collective("all_gather", [&](MPI_Request* request) {
      return MPI_Iallgather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, duplicate_,
                            request);
    });
    return;
  }
  for (int r = 0; r < size(); ++r) {
    const auto block = all.subspan(static_cast<std::size_t>(r) * mine.size(), mine.size());
    if (r == rank()) {
      std::memcpy(block.data(), mine.data(), mine.size());
    }
    do_broadcast(block, r);
  }
}

void Mpi::check() {
  require_thread();
  if (failed_ < 0) {
    int complete = 0;
    MPI_Status status;
    mpi_check(MPI_Test(&notice_request_, &complete, &status), rank(), -1,
              [] { return std::string("waiting for notices of failure"); });
    if (complete == 0) {
      return;
    }
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    failed_ = status.MPI_SOURCE;
    reason_.assign(notice_.data(), static_cast<std::size_t>(bytes));
    broken_ = true;
  }
  throw PeerError(rank(), failed_,
                  (failed_ == rank() ? "this rank" : "rank " + std::to_string(failed_)) +
                      " has failed: " + reason_);
}

void Mpi::abort(std::string_view reason) noexcept {
  if (failed_ >= 0) {
    return;
  }
  try {
    require_thread();
    failed_ = rank();
    broken_ = true;
    reason_ = reason.substr(0, notice_.size());
    std::vector<MPI_Request> notices(static_cast<std::size_t>(size()), MPI_REQUEST_NULL);
    for (int r = 0; r < size(); ++r) {
      if (r != rank()) {
        MPI_Isend(reason_.data(), static_cast<int>(reason_.size()), MPI_BYTE, r, notice_tag_,
                  duplicate_, &notices[static_cast<std::size_t>(r)]);
      }
    }
    // So short a message leaves at once; a rank that is lost must not keep us.
    int complete = 0;
    for (Backoff backoff(*this, 1.0); complete == 0 && backoff.pause();) {
      MPI_Testall(size(), notices.data(), &complete, MPI_STATUSES_IGNORE);
    }
  } catch (...) {  // the others will run into their time limits
  }
}

}  // namespace

std::unique_ptr<Communicator> mpi_communicator(MPI_Comm communicator, const Options& options) {
  if (!mpi_is_initialised()) {
    throw UsageError(
        "MPI is not initialised: call MPI_Init_thread first, or let zygos::comm::MpiSession do it");
  }
  require_countable(options);
  MPI_Comm duplicate = MPI_COMM_NULL;
  const int rank = rank_in(communicator);
  mpi_check(MPI_Comm_dup(communicator, &duplicate), rank, -1,
            [] { return std::string("duplicating a communicator"); });
  mpi_check(MPI_Comm_set_errhandler(duplicate, MPI_ERRORS_RETURN), rank, -1,
            [] { return std::string("setting an error handler"); });
  return std::make_unique<Mpi>(duplicate, options);
}

}  // namespace zygos::comm
