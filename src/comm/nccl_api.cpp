// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The table's real functions.
#include "comm/nccl_api.hpp"

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstring>

namespace zygos::comm {
namespace {

static_assert(ncclSuccess == nccl_code::success && ncclInProgress == nccl_code::in_progress);
static_assert(sizeof(ncclUniqueId) == sizeof(NcclId));

ncclComm_t comm_of(void* comm) { return static_cast<ncclComm_t>(comm); }
cudaStream_t stream_of(void* stream) { return static_cast<cudaStream_t>(stream); }
cudaEvent_t event_of(void* event) { return static_cast<cudaEvent_t>(event); }

int get_id(NcclId& id) {
  ncclUniqueId made;
  const int code = ncclGetUniqueId(&made);
  std::memcpy(id.data(), &made, id.size());
  return code;
}

int init(void*& comm, int size, const NcclId& id, int rank) {
  ncclUniqueId known;
  std::memcpy(&known, id.data(), id.size());
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;  // a peer that is lost must not keep us
  ncclComm_t made = nullptr;
  const int code = ncclCommInitRankConfig(&made, size, known, rank, &config);
  comm = made;
  return code;
}

int get_state(void* comm, int& state) {
  ncclResult_t result = ncclSuccess;
  const int code = ncclCommGetAsyncError(comm_of(comm), &result);
  state = result;
  return code;
}

int send(const void* buffer, std::size_t bytes, int to, void* comm, void* stream) {
  return ncclSend(buffer, bytes, ncclUint8, to, comm_of(comm), stream_of(stream));
}

int receive(void* buffer, std::size_t bytes, int from, void* comm, void* stream) {
  return ncclRecv(buffer, bytes, ncclUint8, from, comm_of(comm), stream_of(stream));
}

int sum(void* buffer, std::size_t count, DType dtype, void* comm, void* stream) {
  return ncclAllReduce(buffer, buffer, count, dtype == DType::f64 ? ncclFloat64 : ncclFloat32,
                       ncclSum, comm_of(comm), stream_of(stream));
}

int broadcast(void* buffer, std::size_t bytes, int root, void* comm, void* stream) {
  return ncclBroadcast(buffer, buffer, bytes, ncclUint8, root, comm_of(comm), stream_of(stream));
}

std::string error_text(int code, void* comm) {
  const std::string last = ncclGetLastError(comm_of(comm));
  return ncclGetErrorString(static_cast<ncclResult_t>(code)) +
         (last.empty() ? last : " (" + last + ")");
}

void* create_event() {
  cudaEvent_t event = nullptr;
  return cudaEventCreateWithFlags(&event, cudaEventDisableTiming) == cudaSuccess ? event : nullptr;
}

EventState query_event(void* event) {
  switch (cudaEventQuery(event_of(event))) {
    case cudaSuccess:
      return EventState::done;
    case cudaErrorNotReady:
      return EventState::pending;
    default:
      return EventState::failed;
  }
}

NcclApi real_api() {
  return {.get_id = get_id,
          .init = init,
          .get_state = get_state,
          .finalize = [](void* comm) -> int { return ncclCommFinalize(comm_of(comm)); },
          .destroy = [](void* comm) -> int { return ncclCommDestroy(comm_of(comm)); },
          .abort = [](void* comm) -> int { return ncclCommAbort(comm_of(comm)); },
          .group_start = []() -> int { return ncclGroupStart(); },
          .group_end = []() -> int { return ncclGroupEnd(); },
          .send = send,
          .receive = receive,
          .sum = sum,
          .broadcast = broadcast,
          .error_text = error_text,
          .create_event = create_event,
          .destroy_event = [](void* event) { cudaEventDestroy(event_of(event)); },
          .record_event =
              [](void* event, void* stream) {
                return cudaEventRecord(event_of(event), stream_of(stream)) == cudaSuccess;
              },
          .query_event = query_event,
          .cuda_error_text = [] { return std::string(cudaGetErrorString(cudaGetLastError())); }};
}

}  // namespace

bool nccl_available() noexcept { return true; }

std::unique_ptr<NcclCommunicator> nccl_communicator(Communicator& control, void* stream,
                                                    const Options& options) {
  return nccl_communicator_over(real_api(), control, stream, options);
}

}  // namespace zygos::comm
