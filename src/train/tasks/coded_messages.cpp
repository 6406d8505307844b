// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/tasks/coded_messages.hpp"

#include "ops/codec/bf16_codec.hpp"
#include "ops/codec/one_bit_codec.hpp"
#include "train/place/place_state.hpp"

#include "zygos/lane/dispatch.hpp"

namespace zygos::train {
namespace {

using schedule::BufferKind;
using schedule::Codec;
using schedule::Task;

/// f(exec, type) for the elements of a tensor in memory.
template <class F>
void dispatch_elements(const PlaceState& state, const Tensor& tensor, F&& f) {
  lane::dispatch(state.lane().execution_here(), tensor.dtype(), f);
}

/// A message as kernels take it, for the elements of `like`.
template <class Exec, class Coded>
VectorView<Exec, Coded> coded(const std::byte* message, std::int64_t size) {
  // Views of what arrives are read only.
  auto* const begin =
      reinterpret_cast<std::remove_const_t<Coded>*>(const_cast<std::byte*>(message));
  return {begin, static_cast<std::size_t>(size)};
}

std::int64_t coded_bytes(const Task& task, std::span<const Tensor> tensors) {
  std::int64_t bytes = 0;
  for (const Tensor& tensor : tensors) {
    bytes += schedule::coded_bytes(task.codec, tensor.size(),
                                   static_cast<std::int64_t>(size_of(tensor.dtype())));
  }
  return bytes;
}

/// Lane memory of a message that is on its way through the task's queue.
std::byte* lane_memory(PlaceState& state, const Task& task, std::int64_t bytes) {
  const Tensor room = state.buffers.whole(BufferKind::coded_message, DType::u8, Shape{bytes},
                                          static_cast<std::int32_t>(task.queue));
  ZYGOS_REQUIRE(room, "a coded message has no room on its lane");
  state.use.note(task, room);
  return static_cast<std::byte*>(room.raw());
}

/// The message where the lane's kernels can read it.
const std::byte* arrived(PlaceState& state, const Task& task, const std::byte* message,
                         std::int64_t bytes) {
  if (state.lane().host_accessible()) {
    return message;
  }
  std::byte* const here = lane_memory(state, task, bytes);
  state.lane().copy_to_lane(here, message, static_cast<std::size_t>(bytes),
                            "zygos::train::receive");
  return here;
}

void encode(const PlaceState& state, const Task& task, const Tensor& tensor, std::byte* to) {
  const std::int64_t bytes = coded_bytes(task, {&tensor, 1});
  dispatch_elements(state, tensor, [&](const auto& exec, auto type) {
    using Exec = std::decay_t<decltype(exec)>;
    using T = typename decltype(type)::type;
    if (task.codec == Codec::one_bit) {
      ops::encode_one_bit(exec, vector_view<Exec, const T>(tensor),
                          coded<Exec, std::uint8_t>(to, bytes));
    } else if (rounds_source(task)) {
      ops::round_to_bf16(exec, vector_view<Exec, T>(tensor), coded<Exec, bf16>(to, tensor.size()));
    } else {
      ops::encode_bf16(exec, vector_view<Exec, const T>(tensor),
                       coded<Exec, bf16>(to, tensor.size()));
    }
  });
}

}  // namespace

void send_coded(PlaceState& state, const Task& task, std::span<const Tensor> tensors,
                std::byte* message) {
  const bool on_host = state.lane().host_accessible();
  const std::int64_t bytes = coded_bytes(task, tensors);
  std::byte* const begin = on_host ? message : lane_memory(state, task, bytes);
  std::byte* to = begin;
  for (const Tensor& tensor : tensors) {
    encode(state, task, tensor, to);
    to += coded_bytes(task, {&tensor, 1});
  }
  if (!on_host) {
    state.lane().copy_to_host(message, begin, static_cast<std::size_t>(bytes),
                              "zygos::train::send");
  }
}

void receive_coded(PlaceState& state, const Task& task, std::span<const Tensor> tensors,
                   const std::byte* message) {
  const std::byte* from = arrived(state, task, message, coded_bytes(task, tensors));
  for (const Tensor& tensor : tensors) {
    dispatch_elements(state, tensor, [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      if (task.codec == Codec::one_bit) {
        ops::decode_one_bit(exec,
                            coded<Exec, const std::uint8_t>(from, coded_bytes(task, {&tensor, 1})),
                            vector_view<Exec, T>(tensor));
      } else {
        ops::decode_bf16(exec, coded<Exec, const bf16>(from, tensor.size()),
                         vector_view<Exec, T>(tensor));
      }
    });
    from += coded_bytes(task, {&tensor, 1});
  }
}

void add_coded(PlaceState& state, const Task& task, const Tensor& sum, const Tensor& term,
               const std::byte* message) {
  const std::byte* const from = arrived(state, task, message, coded_bytes(task, {&sum, 1}));
  dispatch_elements(state, sum, [&](const auto& exec, auto type) {
    using Exec = std::decay_t<decltype(exec)>;
    using T = typename decltype(type)::type;
    if (task.codec == Codec::one_bit) {
      ops::add_one_bit(exec, vector_view<Exec, T>(sum), vector_view<Exec, const T>(term),
                       coded<Exec, const std::uint8_t>(from, coded_bytes(task, {&sum, 1})));
    } else {
      ops::add_bf16(exec, vector_view<Exec, T>(sum), vector_view<Exec, const T>(term),
                    coded<Exec, const bf16>(from, sum.size()));
    }
  });
}

}  // namespace zygos::train
