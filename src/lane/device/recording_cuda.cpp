// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A stream's work as a CUDA graph, by stream capture.
#include "lane/device/cuda_status.hpp"
#include "lane/device/device.hpp"

#include <Kokkos_Core.hpp>

#include <cuda_runtime_api.h>

#include <exception>
#include <memory>
#include <mutex>
#include <type_traits>
#include <variant>

namespace zygos::lane::device {
namespace {

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const { static_cast<void>(cudaGraphDestroy(graph)); }
  void operator()(cudaGraphExec_t graph) const { static_cast<void>(cudaGraphExecDestroy(graph)); }
};
using Graph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, DestroyGraph>;
using ExecutableGraph = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, DestroyGraph>;

class CudaRecording final : public Recording {
 public:
  CudaRecording(cudaStream_t stream, ExecutableGraph graph)
      : stream_(stream), graph_(std::move(graph)) {}
  void launch() override {
    require_success(cudaGraphLaunch(graph_.get(), stream_), "cudaGraphLaunch");
  }

 private:
  cudaStream_t stream_;
  ExecutableGraph graph_;
};

/// Kokkos passes functors of 512 bytes and more through one buffer of the device, which the next
/// such kernel overwrites: a graph would launch with whatever lies there. The event that guards the
/// buffer tells whether a capture had such a kernel; it must not stay one of a capture, which
/// nobody can wait for.
bool has_captured_buffer(const Kokkos::Cuda& space) {
  using Kokkos::Impl::CudaInternal;
  const int device = space.cuda_device();
  const std::lock_guard lock(CudaInternal::constantMemMutexPerDevice[device]);
  const cudaEvent_t event = CudaInternal::constantMemReusablePerDevice.at(device);
  if (cudaEventQuery(event) != cudaErrorCapturedEvent) {
    return false;
  }
  require_success(cudaEventRecord(event, space.cuda_stream()), "cudaEventRecord");
  return true;
}

Graph capture(const Kokkos::Cuda& space, const std::function<void()>& work) {
  require_success(cudaStreamBeginCapture(space.cuda_stream(), cudaStreamCaptureModeThreadLocal),
                  "cudaStreamBeginCapture");
  std::exception_ptr failure;
  try {
    work();
  } catch (...) {
    failure = std::current_exception();
  }
  cudaGraph_t captured = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(space.cuda_stream(), &captured);
  Graph graph(captured);
  const bool shares_buffer = has_captured_buffer(space);
  static_cast<void>(cudaGetLastError());  // Kokkos would take it for one of its next launch
  if (failure != nullptr) {
    std::rethrow_exception(failure);
  }
  require_success(ended, "cudaStreamEndCapture");
  if (shares_buffer) {
    throw InternalError("a kernel whose functor has 512 bytes or more cannot be recorded");
  }
  return graph;
}

}  // namespace

bool can_record() { return true; }

std::unique_ptr<Recording> record(const Execution& execution, const std::function<void()>& work) {
  const auto& space = std::get<Kokkos::Cuda>(execution);
  require_success(cudaSetDevice(space.cuda_device()), "cudaSetDevice");
  const Graph graph = capture(space, work);
  cudaGraphExec_t executable = nullptr;
  require_success(cudaGraphInstantiate(&executable, graph.get(), 0), "cudaGraphInstantiate");
  return std::make_unique<CudaRecording>(space.cuda_stream(), ExecutableGraph(executable));
}

}  // namespace zygos::lane::device
