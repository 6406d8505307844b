// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Communication between GPUs. Knows CUDA only as opaque pointers, so it exists in every build.
#pragma once

#include "zygos/comm/communicator.hpp"
#include "zygos/core/dtype.hpp"

#include <memory>

namespace zygos::comm {

/// Whether this build has NCCL (ZYGOS_ENABLE_NCCL).
bool nccl_available() noexcept;

/// A communicator whose channels carry device memory, on one stream. Its collectives of host memory
/// are those of the communicator it was made from. Beyond the contract of Communicator:
/// - NCCL knows no tags. Of the channels in one start(span) those of equal tag meet; channels
///   that are started one by one, to and from the same peer, are started in the same order there.
/// - After the first failure NCCL is aborted, so that the stream does not wait for ever, and every
///   call throws.
class NcclCommunicator : public Communicator {
 public:
  /// Starts to replace `count` elements of device memory by their sums over the ranks. The order of
  /// the additions is NCCL's. Throws UsageError for a dtype other than f32 and f64.
  virtual void start_sum(void* device, std::size_t count, DType dtype) = 0;
  /// Starts to replace device memory by the root's.
  virtual void start_broadcast(std::span<std::byte> device, int root) = 0;
  /// Blocks until what these two have started is done.
  virtual void finish() = 0;

 protected:
  using Communicator::Communicator;
};

/// One rank for each rank of `control`, on the calling thread's current CUDA device, which no other
/// rank has; `stream` is a cudaStream_t. Collective over `control`, which must outlive the result
/// and has its tags from `nccl_control_tags` on taken by it. Throws UsageError in a build without
/// NCCL and PeerError when NCCL does not start.
std::unique_ptr<NcclCommunicator> nccl_communicator(Communicator& control, void* stream,
                                                    const Options& options = {});
constexpr int nccl_control_tags = 1 << 20;

}  // namespace zygos::comm
