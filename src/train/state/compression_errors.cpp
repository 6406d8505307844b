// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/state/compression_errors.hpp"

#include <algorithm>
#include <utility>

namespace zygos::train {
namespace {

using schedule::BufferKind;
using Bytes = std::vector<std::byte>;

void put(const ModelState& state, const ErrorBuffer& buffer, const Held& held, const Bytes& flat) {
  const PlaceState& place = *state.places.here[held.place];
  const Tensor target = place.buffers.held(buffer.kind, 0, held.elements);
  state.places.lane(held.place).run_and_wait([&] {
    place.lane().copy_to_lane(
        target.raw(),
        flat.data() + static_cast<std::size_t>(held.elements.begin) * size_of(state.parameters),
        target.bytes(), "zygos::train::restore_errors");
    place.lane().fence("zygos::train::restore_errors");
  });
}

}  // namespace

std::vector<ErrorBuffer> error_buffers(const ModelState& state) {
  std::vector<ErrorBuffer> buffers;
  ErrorBuffer sums{"sum_error", BufferKind::sum_error, {}};
  for (const Held& held : state.holders.errors) {
    const std::string name =
        "compression_error/" + state.places.schedule.places[held.place];
    if (buffers.empty() || buffers.back().name != name) {
      buffers.push_back({name, BufferKind::compression_error, {}});
    }
    buffers.back().held.push_back(held);
  }
  sums.held = state.holders.sum_errors;
  if (!sums.held.empty()) {
    buffers.push_back(std::move(sums));
  }
  return buffers;
}

void append_errors(ModelState& state, std::vector<io::TensorRef>& refs) {
  const auto buffers = error_buffers(state);
  state.gathered_errors.assign(buffers.size(), Bytes(whole_bytes(state)));
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    for (const Held& held : buffers[i].held) {
      gather(state, held, buffers[i].kind, 0, state.gathered_errors[i]);
    }
    for (const graph::Parameter& parameter : state.model.whole.parameters()) {
      refs.push_back({buffers[i].name + "/" + parameter.name, state.parameters, parameter.shape,
                      state.gathered_errors[i].data() + offset_of(state, parameter)});
    }
  }
}

void restore_errors(const ModelState& state, const io::Checkpoint& checkpoint) {
  for (const ErrorBuffer& buffer : error_buffers(state)) {
    Bytes flat(whole_bytes(state));
    for (const graph::Parameter& parameter : state.model.whole.parameters()) {
      const std::string name = buffer.name + "/" + parameter.name;
      const auto found = std::ranges::find(checkpoint.tensors, name, &io::StoredTensor::name);
      if (found == checkpoint.tensors.end()) {
        continue;
      }
      if (found->dtype != state.parameters || found->shape != parameter.shape) {
        throw CheckpointError(checkpoint.path.filename().string() + ": tensor '" + name +
                              "' has another type or shape than the model's");
      }
      std::ranges::copy(found->bytes,
                        flat.begin() + static_cast<std::ptrdiff_t>(offset_of(state, parameter)));
    }
    for (const Held& held : buffer.held) {
      if (state.places.is_here(held.place)) {
        put(state, buffer, held, flat);
      }
    }
  }
}

}  // namespace zygos::train
