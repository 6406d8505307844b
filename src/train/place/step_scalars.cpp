// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/place/step_scalars.hpp"

#include "train/place/place_state.hpp"
#include "train/tasks/update.hpp"

#include <algorithm>
#include <cstring>

namespace zygos::train {

using schedule::BufferKind;

StepScalars bind_step_scalars(const PlaceState& state) {
  StepScalars scalars;
  const plan::PlannedBuffer* const planned = state.buffers.find(BufferKind::step_scalars);
  if (!state.setup.records || planned == nullptr) {
    return scalars;
  }
  scalars.on_lane = state.buffers.at(*planned);
  scalars.staged = state.buffers.at(*state.buffers.find(BufferKind::staged_scalars));
  scalars.bytes = planned->bytes;
  scalars.step = reinterpret_cast<const std::uint64_t*>(scalars.on_lane);
  auto* const first = reinterpret_cast<double*>(scalars.on_lane + sizeof(std::uint64_t));
  const std::size_t updates =
      state.setup.optimizer.reads_scalars() ? state.setup.schedule().updates.size() : 0;
  for (std::size_t update = 0; update < updates; ++update) {
    scalars.of_updates.emplace_back(first + update * nn::update_scalars, DType::f64,
                                    Shape{static_cast<std::int64_t>(nn::update_scalars)});
  }
  return scalars;
}

void fill_step_scalars(const PlaceState& state) {
  const StepScalars& scalars = state.scalars;
  if (scalars.staged == nullptr) {
    return;
  }
  std::memcpy(scalars.staged, &state.inputs.step, sizeof(std::uint64_t));
  std::byte* to = scalars.staged + sizeof(std::uint64_t);
  for (std::size_t update = 0; update < scalars.of_updates.size(); ++update) {
    const nn::UpdateScalars values =
        state.setup.optimizer.scalars_at(optimizer_step(state.setup.schedule(), state.inputs.step,
                                                        static_cast<std::int32_t>(update)),
                                         state.inputs.rate_factor);
    std::memcpy(to, values.data(), sizeof(values));
    to += sizeof(values);
  }
}

void copy_step_scalars(PlaceState& state) {
  const StepScalars& scalars = state.scalars;
  if (scalars.staged == nullptr) {
    return;
  }
  const auto own = state.own_tasks();
  const auto noted = std::ranges::find_if(
      own, [&](schedule::TaskId id) { return state.task(id).queue == schedule::Queue::compute; });
  if (noted != own.end()) {  // with all that this thread notes
    state.use.note_bytes(state.task(*noted), scalars.on_lane, scalars.bytes);
    state.use.note_bytes(state.task(*noted), scalars.staged, scalars.bytes);
  }
  state.lane().copy_to_lane(scalars.on_lane, scalars.staged, scalars.bytes,
                            "zygos::train::step_scalars");
}

}  // namespace zygos::train
