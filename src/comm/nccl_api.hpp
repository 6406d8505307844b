// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Everything that is called in NCCL and CUDA, as a table: tests put functions of their own into it.
#pragma once

#include "zygos/comm/nccl.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace zygos::comm {

using NcclId = std::array<std::byte, 128>;

/// What the table's functions return; NCCL's own numbers (checked where nccl.h is known).
namespace nccl_code {
constexpr int success = 0;
constexpr int in_progress = 7;
}  // namespace nccl_code

enum class EventState { done, pending, failed };

/// The functions of NCCL return its codes; communicator, stream and event are opaque pointers.
struct NcclApi {
  std::function<int(NcclId& id)> get_id;
  std::function<int(void*& comm, int size, const NcclId& id, int rank)> init;  ///< non-blocking
  std::function<int(void* comm, int& state)> get_state;
  std::function<int(void* comm)> finalize;
  std::function<int(void* comm)> destroy;
  std::function<int(void* comm)> abort;

  std::function<int()> group_start;
  std::function<int()> group_end;
  std::function<int(const void* buffer, std::size_t bytes, int to, void* comm, void* stream)> send;
  std::function<int(void* buffer, std::size_t bytes, int from, void* comm, void* stream)> receive;
  std::function<int(void* buffer, std::size_t count, DType dtype, void* comm, void* stream)> sum;
  std::function<int(void* buffer, std::size_t bytes, int root, void* comm, void* stream)> broadcast;
  /// Text of a code, and what NCCL says of its latest error; `comm` may be null.
  std::function<std::string(int code, void* comm)> error_text;

  /// Null if CUDA has none to give.
  std::function<void*()> create_event;
  std::function<void(void* event)> destroy_event;
  std::function<bool(void* event, void* stream)> record_event;
  std::function<EventState(void* event)> query_event;
  std::function<std::string()> cuda_error_text;  ///< of the latest error
};

/// nccl_communicator() over the functions of `api`.
std::unique_ptr<NcclCommunicator> nccl_communicator_over(NcclApi api, Communicator& control,
                                                         void* stream, const Options& options);

}  // namespace zygos::comm
