// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/lane/lane.hpp"

#include "affinity.hpp"
#include "check_spec.hpp"
#include "driver.hpp"
#include "host_memory.hpp"
#include "lane/device/device.hpp"
#include "turns.hpp"

#include "zygos/core/error.hpp"
#include "zygos/lane/dispatch.hpp"
#include "zygos/memory/bytes.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

namespace zygos::lane {
namespace {

using Counter = std::shared_ptr<std::atomic<std::size_t>>;

Execution make_execution(const LaneSpec& spec) {
  if (spec.kind == Kind::device) {
    return device::make(spec);
  }
  if (spec.space == HostSpace::serial) {
    return Kokkos::Serial(Kokkos::NewInstance{});
  }
  return Kokkos::OpenMP(spec.threads);
}

/// A recording of an emulated lane.
class KeptWork final : public Recording {
 public:
  explicit KeptWork(std::function<void()> work) : work_(std::move(work)) {}
  void launch() override { work_(); }

 private:
  std::function<void()> work_;
};

/// What the caller's instance is, in the words of a spec.
LaneSpec described_by(LaneSpec spec, const Execution& execution) {
  spec.space =
      std::holds_alternative<Kokkos::Serial>(execution) ? HostSpace::serial : HostSpace::openmp;
  if (!device::is_device(execution)) {
    spec.threads = dispatch(execution, [](const auto& exec) { return int(exec.concurrency()); });
  }
  return spec;
}

/// Charges `bytes` to the lane before they are allocated, so that two threads can't both get the
/// last bytes of a budget.
void charge(const LaneSpec& spec, const Counter& counter, std::size_t bytes,
            const std::string& label) {
  const std::size_t before = counter->fetch_add(bytes);
  if (spec.budget_bytes == 0 ||
      (bytes <= spec.budget_bytes && before <= spec.budget_bytes - bytes)) {
    return;
  }
  counter->fetch_sub(bytes);
  throw MemoryError("lane '" + spec.name + "': " + memory::text_of_bytes(bytes) + " for '" + label +
                    "' do not fit, " + memory::text_of_bytes(before) + " of its budget of " +
                    memory::text_of_bytes(spec.budget_bytes) +
                    " are in use; use a smaller batch or raise the lane's 'memory'");
}

memory::Block charged(memory::Block block, const Counter& counter, std::size_t bytes) {
  std::byte* const address = block.get();
  return {address, [block = std::move(block), counter, bytes](std::byte*) mutable {
            block.reset();
            counter->fetch_sub(bytes);
          }};
}

}  // namespace

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::host:
      return "host";
    case Kind::emulated:
      return "emulated";
    case Kind::device:
      return "device";
  }
  throw InternalError("unknown lane kind " + std::to_string(static_cast<int>(kind)));
}

struct Lane::Impl {
  /// What models make a line wait for. Of its driver thread.
  struct Waits {
    bool deferred = false;
    double seconds = 0.0;
  };

  /// A line for transfers. Reductions of what comes in run on its instance, too.
  struct LinkLine {
    explicit LinkLine(const LaneSpec& spec)
        : execution(spec.kind == Kind::device ? device::make(spec)
                                              : Execution(Kokkos::Serial(Kokkos::NewInstance{}))) {}

    Execution execution;
    Waits waits;
    Driver driver{
        Driver::Work::messages};  // last, so that its thread has ended when the instance goes
  };

  LaneSpec spec;
  Counter allocated = std::make_shared<std::atomic<std::size_t>>(0);
  std::optional<Execution> execution;
  Waits waits;
  std::optional<Driver> driver;  // behind the instance, so that its thread ends before that goes
  std::unique_ptr<LinkLine> outgoing;
  std::unique_ptr<LinkLine> incoming;
  std::unique_ptr<LinkLine> file;

  /// `here`: a lane of this process.
  explicit Impl(LaneSpec wanted, bool here = true) : spec(std::move(wanted)) {
    if (here) {
      driver.emplace();
    }
  }

  std::unique_ptr<LinkLine>& link_line(Line line) {
    return line == Line::outgoing ? outgoing : line == Line::incoming ? incoming : file;
  }
  Driver& driver_of(Line line) {
    ZYGOS_REQUIRE(driver.has_value(), "lane '" + spec.name + "' is of another process");
    if (line == Line::compute) {
      return *driver;
    }
    ZYGOS_REQUIRE(link_line(line) != nullptr, "a line of lane '" + spec.name + "' is not open");
    return link_line(line)->driver;
  }
  /// Null unless a driver thread of this lane calls.
  const Execution* execution_here() const {
    if (driver && driver->is_current_thread()) {
      return &*execution;
    }
    for (const auto* link : {outgoing.get(), incoming.get(), file.get()}) {
      if (link != nullptr && link->driver.is_current_thread()) {
        return &link->execution;
      }
    }
    return nullptr;
  }

  /// Of the line whose driver thread calls.
  Waits& waits_here() {
    for (auto* link : {outgoing.get(), incoming.get(), file.get()}) {
      if (link != nullptr && link->driver.is_current_thread()) {
        return link->waits;
      }
    }
    return waits;
  }

  /// At once, or later by whoever defers it.
  void wait(double seconds) {
    Waits& here = waits_here();
    if (!here.deferred) {
      wait_precisely(seconds);
    } else if (seconds > 0.0) {
      here.seconds += seconds;
    }
  }

  /// Threads of the OpenMP team that kernels of this lane run on.
  int team_size() const noexcept {
    return spec.kind == Kind::device || spec.space == HostSpace::serial ? 1 : spec.threads;
  }

  bool has_team() const noexcept { return team_size() > 1; }

  void require_driver_thread(const char* what) const {
    if (execution_here() == nullptr) {
      throw InternalError("lane '" + spec.name + "': " + what +
                          " was called outside a job; only the lane's driver threads may");
    }
  }

  void place_team() const {
    unbind_team(team_size());
    bind_team(team_size(), spec.cores);
  }

  void copy(std::span<const CopyPiece> pieces, const std::string& label);
  /// What is left of the time that a modelled link takes for a message.
  void wait_for_link(std::size_t bytes, double taken_s);
};

void Lane::Impl::copy(std::span<const CopyPiece> pieces, const std::string& label) {
  const auto begin = std::chrono::steady_clock::now();
  std::size_t bytes = 0;
  for (const CopyPiece& piece : pieces) {
    copy_host(piece.to, piece.from, piece.bytes, label);
    bytes += piece.bytes;
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  wait_for_link(bytes, taken.count());
}

void Lane::Impl::wait_for_link(std::size_t bytes, double taken_s) {
  if (spec.kind != Kind::emulated) {
    return;
  }
  const Link& link = spec.link;
  const double on_link =
      link.latency_s +
      (link.bytes_per_second > 0.0 ? static_cast<double>(bytes) / link.bytes_per_second : 0.0);
  wait(on_link - taken_s);
}

Lane::Lane(LaneSpec spec) {
  require_kokkos();
  check_spec(spec);
  if (spec.space == HostSpace::serial) {
    spec.threads = 1;
  }
  impl_ = std::make_unique<Impl>(std::move(spec));
  // On the driver thread: an OpenMP instance remembers the nesting level it was made at, and the
  // caller may be inside a parallel region.
  run_and_wait([this] {
    impl_->place_team();
    impl_->execution.emplace(make_execution(impl_->spec));
  });
}

Lane::Lane(LaneSpec spec, Execution execution) {
  require_kokkos();
  spec = described_by(std::move(spec), execution);
  if (device::is_device(execution) != (spec.kind == Kind::device)) {
    throw UsageError(
        "lane '" + spec.name + "' has kind '" + std::string(name_of(spec.kind)) +
        "' but was given an instance of " +
        dispatch(execution, [](const auto& exec) { return std::string(exec.name()); }) +
        "; a device lane needs a device instance, any other a host instance");
  }
  check_spec(spec);
  impl_ = std::make_unique<Impl>(std::move(spec));
  impl_->execution.emplace(std::move(execution));
  run_and_wait([this] { impl_->place_team(); });
}

Lane::Lane(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Lane::~Lane() = default;

std::unique_ptr<Lane> Lane::remote(LaneSpec spec) {
  check_spec(spec);
  auto impl = std::make_unique<Impl>(std::move(spec), /*here=*/false);
  return std::unique_ptr<Lane>(new Lane(std::move(impl)));
}

bool Lane::is_remote() const noexcept { return !impl_->driver.has_value(); }

const LaneSpec& Lane::spec() const noexcept { return impl_->spec; }

const Execution& Lane::execution() const noexcept { return *impl_->execution; }

std::size_t Lane::bytes_allocated() const noexcept { return impl_->allocated->load(); }

memory::Allocator Lane::allocator() const {
  return [spec = impl_->spec, counter = impl_->allocated, execution = *impl_->execution](
             std::size_t bytes, const std::string& label) {
    charge(spec, counter, bytes, label);
    try {
      const bool pinned = spec.pinned && device::count() > 0;
      return charged(spec.kind == Kind::device ? device::allocate(execution, bytes, label)
                     : pinned                  ? device::allocate_staging(bytes, label)
                                               : allocate_host(bytes, label),
                     counter, bytes);
    } catch (...) {
      counter->fetch_sub(bytes);
      throw;
    }
  };
}

memory::Allocator Lane::staging_allocator() const {
  return spec().kind == Kind::device ? device::allocate_staging : allocate_host;
}

const Execution& Lane::execution_here() const {
  impl_->require_driver_thread("execution_here()");
  return *impl_->execution_here();
}

void Lane::open(Line line) {
  if (line != Line::compute && impl_->link_line(line) == nullptr) {
    impl_->link_line(line) = std::make_unique<Impl::LinkLine>(impl_->spec);
    if (line == Line::incoming) {
      // The lane waits for what comes in, so its cores are likely to be free. What goes out is left
      // to whichever core is.
      const std::function<void()> bind = [this] { bind_team(1, impl_->spec.cores); };
      run(bind, line);  // which must outlive it
      wait(line);
    }
  }
}

std::unique_ptr<StreamClock> Lane::stream_clock(Line line) const {
  if (spec().kind != Kind::device || spec().slowdown != 1.0) {
    return nullptr;
  }
  return device::stream_clock(line == Line::compute ? *impl_->execution
                                                    : impl_->link_line(line)->execution);
}

bool Lane::records() const {
  if (spec().kind != Kind::device) {
    return spec().records && !is_remote();
  }
  return !is_remote() && spec().slowdown == 1.0 && device::can_record() &&
         !Kokkos::Tools::profileLibraryLoaded();
}

void Lane::share_driver() {
  run_and_wait([] { ask_for_turns(message_turn); });
}

void Lane::run(const std::function<void()>& job, Line line) { impl_->driver_of(line).post(job); }

void Lane::wait(Line line) {
  impl_->driver_of(line).join(impl_->has_team() ? Driver::Waiting::asleep
                                                : Driver::Waiting::yielding);
}

void Lane::follow(Line line) const {
  if (impl_->has_team()) {
    go_to_core(impl_->driver_of(line).core());
  }
}

void Lane::run_and_wait(const std::function<void()>& job) {
  run(job);
  wait();
}

void Lane::copy_to_lane(void* lane, const void* host, std::size_t bytes,
                        const std::string& label) const {
  const CopyPiece piece{lane, host, bytes};
  copy_to_lane({&piece, 1}, label);
}

void Lane::copy_to_host(void* host, const void* lane, std::size_t bytes,
                        const std::string& label) const {
  const CopyPiece piece{host, lane, bytes};
  copy_to_host({&piece, 1}, label);
}

void Lane::copy_to_lane(std::span<const CopyPiece> pieces, const std::string& label) const {
  impl_->require_driver_thread("copy_to_lane()");
  if (spec().kind != Kind::device) {
    return impl_->copy(pieces, label);
  }
  for (const CopyPiece& piece : pieces) {
    device::copy_to_lane(execution_here(), piece.to, piece.from, piece.bytes, label);
  }
}

void Lane::copy_to_host(std::span<const CopyPiece> pieces, const std::string& label) const {
  impl_->require_driver_thread("copy_to_host()");
  if (spec().kind != Kind::device) {
    return impl_->copy(pieces, label);
  }
  for (const CopyPiece& piece : pieces) {
    device::copy_to_host(execution_here(), piece.to, piece.from, piece.bytes, label);
  }
}

void Lane::copy_on_lane(std::span<const CopyPiece> pieces, const std::string& label) const {
  impl_->require_driver_thread("copy_on_lane()");
  for (const CopyPiece& piece : pieces) {
    if (spec().kind == Kind::device) {
      device::copy_on_lane(execution_here(), piece.to, piece.from, piece.bytes, label);
    } else {
      copy_host(piece.to, piece.from, piece.bytes, label);
    }
  }
}

const void* Lane::readable(const void* host, void* landing, std::size_t bytes,
                           const std::string& label) const {
  impl_->require_driver_thread("readable()");
  if (spec().kind == Kind::device) {
    copy_to_lane(landing, host, bytes, label);
    return landing;
  }
  impl_->wait_for_link(bytes, 0.0);
  return host;
}

std::unique_ptr<Recording> Lane::record(const std::function<void()>& work) const {
  impl_->require_driver_thread("record()");
  ZYGOS_REQUIRE(records(), "lane '" + name() + "' does not record work");
  if (spec().kind == Kind::device) {
    return device::record(execution_here(), work);
  }
  return std::make_unique<KeptWork>(work);
}

void Lane::fence(const std::string& label) const {
  impl_->require_driver_thread("fence()");
  dispatch(execution_here(), [&](const auto& exec) { exec.fence(label); });
}

void Lane::hold_back(double seconds) const {
  impl_->require_driver_thread("hold_back()");
  impl_->wait(seconds * (spec().slowdown - 1.0));
}

void Lane::defer_waits(bool defer) const {
  impl_->require_driver_thread("defer_waits()");
  impl_->waits_here() = {.deferred = defer, .seconds = 0.0};
}

double Lane::take_waits() const {
  impl_->require_driver_thread("take_waits()");
  return std::exchange(impl_->waits_here().seconds, 0.0);
}

}  // namespace zygos::lane
