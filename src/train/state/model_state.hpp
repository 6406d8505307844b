// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Weights, optimizer states and gradients of the model, wherever places have
// them.
#pragma once

#include "train/place/places.hpp"
#include "train/state/holders.hpp"
#include "train/state/running_model.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace zygos::train {

struct ModelState {
  const RunningModel &model;
  const Places &places;
  DType parameters = DType::f32;     ///< of weights, gradients and optimizer states
  std::size_t optimizer_states = 0;  ///< kinds of them
  Holders holders{};
  std::vector<std::vector<std::byte>> gathered{};         ///< in host memory, until the next time
  std::vector<std::vector<std::byte>> gathered_errors{};  ///< likewise
};

/// Bytes of one flat buffer of the whole model.
inline std::size_t whole_bytes(const ModelState &state) {
  return static_cast<std::size_t>(state.model.whole.parameter_elements()) *
         size_of(state.parameters);
}

/// Where a parameter begins in it, in bytes.
inline std::size_t offset_of(const ModelState &state, const graph::Parameter &parameter) {
  return static_cast<std::size_t>(parameter.offset) * size_of(state.parameters);
}

/// Makes a flat buffer of the model that runs: 0 is that of the weights, those of the optimizer's
/// states follow. Without bytes it is zero.
using MakeFlat = std::function<std::vector<std::byte>(std::size_t number)>;
/// Puts flat buffers on all places, one after the other, so that the host has memory for one of
/// them only, and all else that a place starts with.
void write_state(const ModelState &state, const MakeFlat &make);
/// Weights, then the optimizer's states, as flat buffers of the whole model in
/// host memory. Collective.
std::vector<Tensor> gather_state(ModelState &state);

/// Elements of one place into memory of the host: a part of what `held` names, `part.count()` of
/// them. The place is one of this process.
void read_held(const ModelState &state, const Held &held, schedule::BufferKind kind,
               std::int32_t slot, schedule::ElementRange part, std::span<std::byte> out);

/// Elements of one place into a flat buffer of the model, on every rank.
void gather(const ModelState &state, const Held &held, schedule::BufferKind kind, std::int32_t slot,
            std::vector<std::byte> &flat);

enum class Flat { weights, gradients };
/// Of the whole model, collective; of one place, zeros where its stage has no
/// parameters.
std::vector<double> doubles_of(const ModelState &state, Flat what);
std::vector<double> doubles_of(const ModelState &state, Flat what, std::size_t place);

}  // namespace zygos::train
