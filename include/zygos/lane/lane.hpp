// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A lane: an execution-space instance, its memory, a driver thread, a byte budget and a link to the
// host. The one rule a reader could not guess: kernels and copies of a lane are issued only from
// its driver threads (inside run()), because an OpenMP instance has one pool per calling thread.
#pragma once

#include "zygos/lane/execution.hpp"
#include "zygos/lane/recording.hpp"
#include "zygos/lane/stream_clock.hpp"
#include "zygos/memory/arena.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::lane {

enum class Kind {
  host,      ///< host memory is its memory; copies to it are plain loads and stores
  emulated,  ///< a second host instance behind a modelled link, with memory of its own
  device,    ///< a GPU
};
std::string_view name_of(Kind kind);

/// A lane works on four lines at once, each with a driver thread of its own: its kernels, what
/// leaves it, what comes in, and its file. So transfers run beside kernels, as on a GPU's copy
/// engines.
enum class Line { compute, outgoing, incoming, file };
inline constexpr std::size_t line_count = 4;

/// Execution space of a host or emulated lane.
enum class HostSpace { openmp, serial };

/// Model of the way between host and lane. Copies of an emulated lane take at least
/// latency + bytes / bandwidth of wall-clock time; a real device's link is what it is.
struct Link {
  double bytes_per_second = 0.0;  ///< 0: as fast as the memory
  double latency_s = 0.0;
};

struct LaneSpec {
  std::string name;
  Kind kind = Kind::host;
  HostSpace space = HostSpace::openmp;
  int threads = 1;               ///< host and emulated lanes with OpenMP
  std::size_t budget_bytes = 0;  ///< 0: no budget
  Link link{};
  bool unified = false;   ///< emulated lanes: reads host memory where it lies, and has no link
  double slowdown = 1.0;  ///< >= 1; compute tasks are stretched by this factor
  int device_id = 0;
  std::vector<int> cores{};  ///< numbers of those the lane computes on; empty: all of the process
  /// Host and emulated lanes: their memory is page-locked (pinned), so that copies between it and
  /// GPUs of this process run beside kernels. Nothing where there is no GPU.
  bool pinned = false;
  /// Emulated lanes, not unified: record() keeps work and a launch runs it, so that what devices do
  /// with recordings can be tested without one.
  bool records = false;
};

/// A stretch of memory to copy.
struct CopyPiece {
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t bytes = 0;
};

class Lane {
 public:
  /// Builds the instance the spec asks for. Throws UsageError for a spec that this build or machine
  /// can't serve (no device support, threads < 1, slowdown < 1, more threads than Kokkos was
  /// initialised with, a link on a lane that is not emulated), and if Kokkos is not initialised.
  explicit Lane(LaneSpec spec);
  /// Uses an instance its caller owns, which must outlive the lane. `space` and `threads` of the
  /// spec are taken from the instance.
  Lane(LaneSpec spec, Execution execution);
  /// A lane of another process: what it is like, and nothing to run on.
  static std::unique_ptr<Lane> remote(LaneSpec spec);
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  const LaneSpec& spec() const noexcept;
  const std::string& name() const noexcept { return spec().name; }
  const Execution& execution() const noexcept;
  /// Instance of the line whose driver thread calls: for the compute line execution(), for the
  /// others a stream of their own on a device, a serial instance elsewhere.
  const Execution& execution_here() const;

  /// Makes driver thread and instance of a line other than compute; nothing if it has them.
  void open(Line line);

  /// Times of what runs on the line's stream; null for lanes whose kernels and copies have ended
  /// when they return, or are stretched by `slowdown`, and for devices without events. The line is
  /// open.
  std::unique_ptr<StreamClock> stream_clock(Line line) const;

  /// Whether record() keeps work: on CUDA devices as a graph, unless a Kokkos Tools library is
  /// loaded, which is to see every kernel, or the lane is stretched by `slowdown`; on emulated
  /// lanes whose spec says so.
  bool records() const;

  /// The compute line's thread is to move messages, too, on a core of its own: it asks for short
  /// turns from now on.
  void share_driver();

  /// True for a lane of another process: only spec(), name() and host_accessible() mean something.
  bool is_remote() const noexcept;

  /// True for the host lane only: its tensors may be read and written by host code, so copies are
  /// elided. Emulated lanes say false on purpose.
  bool host_accessible() const noexcept { return spec().kind == Kind::host || spec().unified; }

  /// Memory of this lane, labelled `label`. Counted by bytes_allocated(); throws MemoryError for a
  /// block that would take the sum of all living blocks over the budget.
  memory::Allocator allocator() const;
  /// Host memory that copies to and from this lane are fastest with (pinned for a GPU).
  memory::Allocator staging_allocator() const;
  /// Bytes of the living blocks that allocator() gave out; staging is host memory and not counted.
  std::size_t bytes_allocated() const noexcept;

  /// Hands `job` to a line's driver thread and returns at once; `job` must stay alive until wait().
  /// One job a line at a time: calling run() twice without wait() is an InternalError, as is a line
  /// that was not opened. Allocates nothing.
  void run(const std::function<void()>& job, Line line = Line::compute);
  /// Blocks until the job has ended and rethrows what it threw; returns at once without a job.
  void wait(Line line = Line::compute);
  /// Behind wait(), of a lane with several threads: the calling thread goes on at the core where
  /// the job ended. For callers that do nothing but wait for lanes that compute on all cores: woken
  /// on another one, it would have to take that from a thread of the lane's team, which spins
  /// for the next kernel.
  void follow(Line line = Line::compute) const;
  /// run() and wait() in one.
  void run_and_wait(const std::function<void()>& job);

  // Inside a job only, on a driver thread of the lane:

  /// Host to lane and back; complete on return for host and emulated lanes, ordered on the lane's
  /// stream for a device (fence() completes it). `label` names the copy for profilers.
  void copy_to_lane(void* lane, const void* host, std::size_t bytes,
                    const std::string& label) const;
  void copy_to_host(void* host, const void* lane, std::size_t bytes,
                    const std::string& label) const;
  /// Several pieces as one message: a modelled link's latency is paid once.
  void copy_to_lane(std::span<const CopyPiece> pieces, const std::string& label) const;
  void copy_to_host(std::span<const CopyPiece> pieces, const std::string& label) const;
  /// Within the lane's memory: no link takes part.
  void copy_on_lane(std::span<const CopyPiece> pieces, const std::string& label) const;
  /// Where the lane can read once what lies in host memory: there, or after a copy in `landing`,
  /// which must have room. A modelled link takes its time either way.
  const void* readable(const void* host, void* landing, std::size_t bytes,
                       const std::string& label) const;
  /// What `work` gives this line, to be launched: nothing of it is executed here. Only of lanes
  /// with records(). On a device `work` is called once, now: whatever it does on the host and the
  /// arguments of its kernels are of this moment, and it may neither wait for the device nor
  /// allocate. So each of its kernels has run before. On an emulated lane each launch calls it.
  /// What `work` throws goes on to the caller, and InternalError if the device's runtime cannot
  /// record it; either way the stream is as before.
  std::unique_ptr<Recording> record(const std::function<void()>& work) const;
  /// Waits for everything issued on this line's instance; `label` says what for.
  void fence(const std::string& label) const;
  /// Stretches a compute task that took `seconds` by the lane's slow-down factor.
  void hold_back(double seconds) const;
  /// Whether this line's copies and hold_back() end when the work is done, and what the link or the
  /// slow-down takes beyond that is summed for take_waits(): for who has other work meanwhile.
  void defer_waits(bool defer) const;
  /// Seconds summed since the last call.
  double take_waits() const;

 private:
  struct Impl;
  explicit Lane(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

/// Waits until `seconds` from now with microsecond precision: sleeps for the bulk, spins at the
/// end.
void wait_precisely(double seconds);

/// Seconds for which the calling thread has had a core; 0 where the system does not tell.
double thread_core_seconds() noexcept;

}  // namespace zygos::lane
