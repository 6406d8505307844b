// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "lane/device/device.hpp"

#include "zygos/core/error.hpp"

#include <Kokkos_Core.hpp>

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace zygos::lane::device {
namespace {

void require(cudaError_t status, const char* call) {
  if (status != cudaSuccess) {
    throw InternalError(std::string(call) + ": " + cudaGetErrorString(status));
  }
}

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
    require(cudaSetDevice(device_), "cudaSetDevice");
    now_s_ = now_s;
    used_ = 0;
    mark();
  }

  std::size_t mark() override {
    if (used_ == events_.size()) {
      cudaEvent_t event = nullptr;
      require(cudaEventCreate(&event), "cudaEventCreate");
      events_.emplace_back(event);
    }
    require(cudaEventRecord(events_[used_].get(), stream_), "cudaEventRecord");
    return used_++;
  }

  double seconds_at(std::size_t mark) const override {
    float milliseconds = 0.0F;
    require(cudaEventElapsedTime(&milliseconds, events_.front().get(), events_.at(mark).get()),
            "cudaEventElapsedTime");
    return now_s_ + 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  cudaStream_t stream_;
  int device_;
  std::vector<Event> events_;  ///< made in the first step
  std::size_t used_ = 0;
  double now_s_ = 0.0;
};

}  // namespace

std::unique_ptr<StreamClock> stream_clock(const Execution& execution) {
  return std::make_unique<CudaClock>(std::get<Kokkos::Cuda>(execution));
}

}  // namespace zygos::lane::device
