// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/state/state_source.hpp"

#include "train/state/compression_errors.hpp"
#include "train/state/snapshot.hpp"

#include "zygos/tensor/convert.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace zygos::train {
namespace {

using schedule::BufferKind;

/// Of elements that may lie anywhere.
void require_finite(DType dtype, std::span<const std::byte> bytes, const std::string& name) {
  alignas(16) std::array<std::byte, 4096> aligned{};
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), aligned.size());
    std::memcpy(aligned.data(), bytes.data(), count);
    if (first_not_finite(dtype, aligned.data(),
                         static_cast<std::int64_t>(count / size_of(dtype)))) {
      refuse_not_finite(name);
    }
    bytes = bytes.subspan(count);
  }
}

}  // namespace

StateSource::StateSource(const ModelState& state, const nn::Optimizer& optimizer) : state_(state) {
  if (state.model.shards) {
    runs_ = graph::element_runs(state.model.whole, state.model.graph);
    std::ranges::sort(runs_, {}, &graph::ElementRun::whole);
  }
  const auto names = buffer_names(optimizer);
  add_buffer(names.front(), {BufferKind::weights, 0, state.holders.weights});
  for (std::size_t i = 1; i < names.size(); ++i) {
    add_buffer(names[i], {BufferKind::optimizer_state, static_cast<std::int32_t>(i - 1),
                          state.holders.states});
  }
  for (ErrorBuffer& errors : error_buffers(state)) {
    add_buffer(errors.name, {errors.kind, 0, std::move(errors.held)});
  }
}

void StateSource::add_buffer(const std::string& name, Buffer buffer) {
  buffers_.push_back(std::move(buffer));
  for (const graph::Parameter& parameter : state_.model.whole.parameters()) {
    refs_.push_back({name + "/" + parameter.name, state_.parameters, parameter.shape, nullptr});
  }
}

void StateSource::read(std::size_t tensor, std::size_t begin, std::span<std::byte> out) {
  const auto& parameters = state_.model.whole.parameters();
  const graph::Parameter& parameter = parameters[tensor % parameters.size()];
  const Buffer& buffer = buffers_.at(tensor / parameters.size());
  const std::size_t units = size_of(state_.parameters);
  const std::int64_t first = parameter.offset + static_cast<std::int64_t>(begin / units);
  const std::int64_t last = first + static_cast<std::int64_t>(out.size() / units);
  if (runs_.empty()) {
    read_running(buffer, {first, last}, out);
  } else {
    std::ranges::fill(out, std::byte{0});
    const auto ends_before = [](const graph::ElementRun& run, std::int64_t element) {
      return run.whole + run.count <= element;
    };
    for (auto run = std::lower_bound(runs_.begin(), runs_.end(), first, ends_before);
         run != runs_.end() && run->whole < last; ++run) {
      const std::int64_t from = std::max(first, run->whole);
      const std::int64_t to = std::min(last, run->whole + run->count);
      const std::int64_t shift = run->shard - run->whole;
      read_running(buffer, {from + shift, to + shift},
                   out.subspan(static_cast<std::size_t>(from - first) * units,
                               static_cast<std::size_t>(to - from) * units));
    }
  }
  if (buffer.kind == BufferKind::weights) {
    require_finite(state_.parameters, out, parameter.name);
  }
}

void StateSource::read_running(const Buffer& buffer, schedule::ElementRange elements,
                               std::span<std::byte> out) const {
  const std::size_t units = size_of(state_.parameters);
  std::ranges::fill(out, std::byte{0});
  for (const Held& held : buffer.held) {
    const schedule::ElementRange part{std::max(elements.begin, held.elements.begin),
                                      std::min(elements.end, held.elements.end)};
    if (part.begin < part.end) {
      read_held(state_, held, buffer.kind, buffer.slot, part,
                out.subspan(static_cast<std::size_t>(part.begin - elements.begin) * units,
                            static_cast<std::size_t>(part.end - part.begin) * units));
    }
  }
}

}  // namespace zygos::train
