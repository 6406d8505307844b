// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/backoff.hpp"
#include "comm/nccl_api.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>

namespace zygos::comm {
namespace {

class Nccl;

/// A CUDA event.
class Event {
 public:
  Event(const NcclApi& api, int rank) : api_(api), event_(api.create_event()) {
    if (event_ == nullptr) {
      throw PeerError(rank, -1, "creating a CUDA event: " + api.cuda_error_text());
    }
  }
  ~Event() { api_.destroy_event(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void* get() const noexcept { return event_; }

 private:
  const NcclApi& api_;
  void* event_;
};

class NcclChannel : public Channel {
 public:
  NcclChannel(Nccl& owner, const Message& message, void* buffer);

  void issue();
  void record();

 private:
  void begin() override;
  bool poll() override;
  bool sizes_agree();

  Nccl& owner_;
  void* buffer_;
  Event event_;
  /// Before the first message the two ends compare their sizes, which NCCL does not.
  std::uint64_t size_;
  std::unique_ptr<Channel> size_channel_;
};

class Nccl : public NcclCommunicator {
 public:
  Nccl(NcclApi api, Communicator& control, void* stream, const Options& options);
  ~Nccl() override;

  std::string_view kind() const noexcept override { return "nccl"; }
  bool device_channels() const noexcept override { return true; }

  void start(std::span<Channel* const> channels) override;
  void start_sum(void* device, std::size_t count, DType dtype) override;
  void start_broadcast(std::span<std::byte> device, int root) override;
  void finish() override;

  void barrier() override {
    check();
    control_.barrier();
  }
  void abort(std::string_view reason) noexcept override {
    release();
    control_.abort(reason);
  }
  void check() override;

  /// What NcclChannel uses.
  const NcclApi& api() const noexcept { return api_; }
  Communicator& control() noexcept { return control_; }
  void* comm() const noexcept { return comm_; }
  void* stream() const noexcept { return stream_; }
  bool starts_together() const noexcept { return starts_together_; }
  void begin_group(int peer, const std::string& what);
  void end_group(int peer, const std::string& what);
  /// Throws if `code` says that the operation has failed.
  template <class What>
  void require(int code, int peer, What what) {
    if (code != nccl_code::success && code != nccl_code::in_progress) {
      fail(peer, what() + ": NCCL: " + api_.error_text(code, comm_));
    }
  }
  template <class What>
  void record(const Event& event, int peer, What what) {
    if (!api_.record_event(event.get(), stream_)) {
      fail(peer, what() + ": CUDA: " + api_.cuda_error_text());
    }
  }
  template <class What>
  bool is_over(const Event& event, int peer, What what);
  [[noreturn]] void fail(int peer, const std::string& what);

 private:
  std::unique_ptr<Channel> make_send(std::span<const std::byte> buffer,
                                     const Message& message) override {
    return make(message, const_cast<std::byte*>(buffer.data()));
  }
  std::unique_ptr<Channel> make_receive(std::span<std::byte> buffer,
                                        const Message& message) override {
    return make(message, buffer.data());
  }
  std::unique_ptr<Channel> make(const Message& message, void* buffer) {
    check();
    together_.reserve(++opened_);
    return std::make_unique<NcclChannel>(*this, message, buffer);
  }
  void do_broadcast(std::span<std::byte> buffer, int root) override {
    check();
    control_.broadcast(buffer, root);
  }
  void do_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    check();
    control_.all_gather(mine, all);
  }
  void lost() noexcept override { release(); }

  void init();
  /// Waits while NCCL works in the background on what it was told.
  void settle(int peer, const std::string& what);
  /// Gives up NCCL, with all that is under way on the stream.
  void release() noexcept;

  NcclApi api_;
  Communicator& control_;
  void* stream_;
  void* comm_ = nullptr;
  std::string failure_ = "NCCL was aborted";
  std::unique_ptr<Event> collective_;
  bool in_group_ = false;
  bool starts_together_ = false;
  std::vector<NcclChannel*> together_;
  std::size_t opened_ = 0;
};

// ---------------------------------------------------------------- channels

NcclChannel::NcclChannel(Nccl& owner, const Message& message, void* buffer)
    : Channel(owner, message),
      owner_(owner),
      buffer_(buffer),
      event_(owner.api(), owner.rank()),
      size_(message.bytes) {
  const std::span<std::uint64_t> size(&size_, 1);
  const int tag = nccl_control_tags + message.tag;
  size_channel_ =
      message.direction == Message::Direction::send
          ? owner.control().open_send(std::as_bytes(size), message.peer, tag)
          : owner.control().open_receive(std::as_writable_bytes(size), message.peer, tag);
}

void NcclChannel::issue() {
  const Message& m = message();
  owner_.require(
      m.direction == Message::Direction::send
          ? owner_.api().send(buffer_, m.bytes, m.peer, owner_.comm(), owner_.stream())
          : owner_.api().receive(buffer_, m.bytes, m.peer, owner_.comm(), owner_.stream()),
      m.peer, [&] { return text_of(m); });
}

void NcclChannel::record() {
  owner_.record(event_, message().peer, [&] { return text_of(message()); });
}

void NcclChannel::begin() {
  owner_.check();
  if (size_channel_ != nullptr) {
    size_channel_->start();
  }
  if (owner_.starts_together()) {
    issue();
    return;
  }
  owner_.begin_group(message().peer, "a message");
  issue();
  owner_.end_group(message().peer, "a message");
  record();
}

bool NcclChannel::poll() {
  owner_.check();
  return sizes_agree() &&
         owner_.is_over(event_, message().peer, [&] { return text_of(message()); });
}

bool NcclChannel::sizes_agree() {
  if (size_channel_ == nullptr) {
    return true;
  }
  if (!size_channel_->done()) {
    return false;
  }
  size_channel_.reset();
  if (size_ != message().bytes) {
    owner_.fail(message().peer,
                text_of(message()) + ": the sender has " + std::to_string(size_) + " bytes");
  }
  return true;
}

// ---------------------------------------------------------------- life

Nccl::Nccl(NcclApi api, Communicator& control, void* stream, const Options& options)
    : NcclCommunicator(control.rank(), control.size(), options),
      api_(std::move(api)),
      control_(control),
      stream_(stream) {
  try {
    init();
    collective_ = std::make_unique<Event>(api_, rank());
  } catch (...) {
    release();
    throw;
  }
}

void Nccl::init() {
  NcclId id{};
  if (rank() == 0) {
    require(api_.get_id(id), -1, [] { return std::string("making NCCL's id"); });
  }
  control_.broadcast(id, 0);
  const std::string what = "starting NCCL with " + std::to_string(size()) + " ranks";
  require(api_.init(comm_, size(), id, rank()), -1, [&] { return what; });
  settle(-1, what);
}

Nccl::~Nccl() {
  collective_.reset();
  if (comm_ == nullptr) {
    return;
  }
  try {
    const std::string what = "ending NCCL";
    require(api_.finalize(comm_), -1, [&] { return what; });
    settle(-1, what);
    api_.destroy(comm_);
    comm_ = nullptr;
  } catch (const Error&) {  // there is nobody to tell
  }
  release();
}

void Nccl::release() noexcept {
  if (comm_ != nullptr) {
    api_.abort(comm_);
    comm_ = nullptr;
  }
}

void Nccl::fail(int peer, const std::string& what) {
  failure_ = what;
  if (in_group_) {  // NCCL counts groups by thread, not by communicator
    in_group_ = false;
    api_.group_end();
  }
  release();
  throw PeerError(rank(), peer, what);
}

void Nccl::settle(int peer, const std::string& what) {
  Backoff backoff(*this);
  for (;;) {
    int state = nccl_code::success;
    require(api_.get_state(comm_, state), peer, [&] { return what; });
    require(state, peer, [&] { return what; });
    if (state == nccl_code::success) {
      return;
    }
    control_.check();
    if (!backoff.pause()) {
      failure_ = what + ": no progress";
      give_up(peer, what);
    }
  }
}

void Nccl::check() {
  control_.check();
  if (comm_ == nullptr) {
    throw PeerError(rank(), -1, "NCCL is not used any more, since: " + failure_);
  }
}

// ---------------------------------------------------------------- operations

void Nccl::begin_group(int peer, const std::string& what) {
  require(api_.group_start(), peer, [&] { return "starting " + what; });
  in_group_ = true;
}

void Nccl::end_group(int peer, const std::string& what) {
  in_group_ = false;
  const int code = api_.group_end();
  require(code, peer, [&] { return "starting " + what; });
  if (code == nccl_code::in_progress) {
    settle(peer, "starting " + what);
  }
}

void Nccl::start(std::span<Channel* const> channels) {
  check();
  together_.clear();
  for (Channel* const channel : channels) {
    together_.push_back(static_cast<NcclChannel*>(channel));
  }
  std::sort(together_.begin(), together_.end(),
            [](const Channel* a, const Channel* b) { return a->message().tag < b->message().tag; });
  starts_together_ = true;
  try {
    begin_group(-1, "several messages");
    for (NcclChannel* const channel : together_) {
      channel->start();
    }
    starts_together_ = false;
  } catch (...) {
    starts_together_ = false;
    throw;
  }
  end_group(-1, "several messages");
  for (NcclChannel* const channel : together_) {
    channel->record();
  }
}

void Nccl::start_sum(void* device, std::size_t count, DType dtype) {
  if (dtype != DType::f32 && dtype != DType::f64) {
    throw UsageError("a sum over NCCL of " + std::string(name_of(dtype)) +
                     "; allowed are f32 and f64");
  }
  check();
  const auto what = [&] {
    return "sum of " + std::to_string(count) + " " + std::string(name_of(dtype));
  };
  const int code = api_.sum(device, count, dtype, comm_, stream_);
  require(code, -1, what);
  if (code == nccl_code::in_progress) {
    settle(-1, what());
  }
  record(*collective_, -1, what);
}

void Nccl::start_broadcast(std::span<std::byte> device, int root) {
  check();
  const auto what = [&] {
    return "broadcast of " + std::to_string(device.size()) + " bytes from rank " +
           std::to_string(root);
  };
  const int code = api_.broadcast(device.data(), device.size(), root, comm_, stream_);
  require(code, root, what);
  if (code == nccl_code::in_progress) {
    settle(root, what());
  }
  record(*collective_, root, what);
}

template <class What>
bool Nccl::is_over(const Event& event, int peer, What what) {
  int state = nccl_code::success;
  require(api_.get_state(comm_, state), peer, what);
  require(state, peer, what);
  const EventState is = api_.query_event(event.get());
  if (is == EventState::failed) {
    fail(peer, what() + ": CUDA: " + api_.cuda_error_text());
  }
  return is == EventState::done;
}

void Nccl::finish() {
  const auto what = [] { return std::string("waiting for collectives"); };
  Backoff backoff(*this);
  for (;;) {
    check();
    if (is_over(*collective_, -1, what)) {
      return;
    }
    if (!backoff.pause()) {
      failure_ = what() + ": no progress";
      give_up(-1, what());
    }
  }
}

}  // namespace

std::unique_ptr<NcclCommunicator> nccl_communicator_over(NcclApi api, Communicator& control,
                                                         void* stream, const Options& options) {
  return std::make_unique<Nccl>(std::move(api), control, stream, options);
}

}  // namespace zygos::comm
