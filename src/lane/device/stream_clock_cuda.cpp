// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "lane/device/cuda_status.hpp"
#include "lane/device/device.hpp"

#include <Kokkos_Core.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <variant>
#include <vector>

namespace zygos::lane::device {
namespace {

struct DestroyEvent {
  void operator()(cudaEvent_t event) const { static_cast<void>(cudaEventDestroy(event)); }
};
using Event = std::unique_ptr<CUevent_st, DestroyEvent>;

class CudaClock final : public StreamClock {
 public:
  explicit CudaClock(const Kokkos::Cuda& space)
      : stream_(space.cuda_stream()), device_(space.cuda_device()) {}

  void start(double now_s) override {
    // Events belong to the device that is current on the calling thread.
    require_success(cudaSetDevice(device_), "cudaSetDevice");
    now_s_ = now_s;
    used_ = 0;
    mark();
  }

  std::size_t mark() override {
    if (used_ == events_.size()) {
      events_.push_back(new_event());
    }
    require_success(cudaEventRecord(events_[used_].get(), stream_), "cudaEventRecord");
    return used_++;
  }

  std::size_t recorded_mark() override {
    recorded_.push_back(new_event());
    require_success(
        cudaEventRecordWithFlags(recorded_.back().get(), stream_, cudaEventRecordExternal),
        "cudaEventRecordWithFlags");
    return first_recorded + recorded_.size() - 1;
  }

  double seconds_at(std::size_t mark) const override {
    const Event& event =
        mark < first_recorded ? events_.at(mark) : recorded_.at(mark - first_recorded);
    float milliseconds = 0.0F;
    require_success(cudaEventElapsedTime(&milliseconds, events_.front().get(), event.get()),
                    "cudaEventElapsedTime");
    return now_s_ + 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  /// Marks of recordings are numbered from here on.
  static constexpr std::size_t first_recorded = std::numeric_limits<std::size_t>::max() / 2;

  static Event new_event() {
    cudaEvent_t event = nullptr;
    require_success(cudaEventCreate(&event), "cudaEventCreate");
    return Event(event);
  }

  cudaStream_t stream_;
  int device_;
  std::vector<Event> events_;    ///< made in the first step
  std::vector<Event> recorded_;  ///< that recordings pass in each of their launches
  std::size_t used_ = 0;
  double now_s_ = 0.0;
};

}  // namespace

std::unique_ptr<StreamClock> stream_clock(const Execution& execution) {
  return std::make_unique<CudaClock>(std::get<Kokkos::Cuda>(execution));
}

}  // namespace zygos::lane::device
