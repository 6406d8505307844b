// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/state/model_state.hpp"

#include "train/flat_ops.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace zygos::train {
namespace {

using schedule::BufferKind;
using Bytes = std::vector<std::byte>;

std::size_t flat_bytes(const ModelState &state) {
  return static_cast<std::size_t>(state.model.graph.parameter_elements()) *
         size_of(state.parameters);
}

void put(const lane::Lane &lane, const Elements &held, const Bytes &from) {
  const auto first = static_cast<std::size_t>(held.range.begin) * size_of(held.tensor.dtype());
  if (held.tier == schedule::Tier::host) {
    std::memcpy(held.tensor.raw(), from.data() + first, held.tensor.bytes());
  } else {
    lane.copy_to_lane(held.tensor.raw(), from.data() + first, held.tensor.bytes(),
                      "zygos::train::write_state");
  }
}

void put_zeros(const lane::Lane &lane, const Elements &held) {
  if (held.tier == schedule::Tier::host) {
    std::memset(held.tensor.raw(), 0, held.tensor.bytes());
  } else {
    fill_with_zeros(lane.execution(), held.tensor);
  }
}

bool spills_states(const PlaceState &place) {
  return schedule::spills_states(place.setup.schedule(), place.setup.place);
}

void write_buffer(const PlaceState &place, std::size_t number, const Bytes &flat) {
  const bool weights = number == 0;
  const auto which = static_cast<std::int32_t>(weights ? 0 : number - 1);
  if (!weights && spills_states(place)) {
    return write_spilled_state(place, which, flat);
  }
  const BufferKind kind = weights ? BufferKind::weights : BufferKind::optimizer_state;
  for (const Elements &held : place.buffers.held(kind, which)) {
    if (flat.empty()) {
      put_zeros(place.lane(), held);
    } else {
      put(place.lane(), held, flat);
    }
  }
  place.lane().fence("zygos::train::write_state");
}

void write_the_rest(const PlaceState &place) {
  for (const BufferKind kind : {BufferKind::compression_error, BufferKind::sum_error}) {
    for (const Elements &held : place.buffers.held(kind)) {
      put_zeros(place.lane(), held);
    }
  }
  write_decay_mask(place);
  write_norm_plan(place);
  write_constants(place);
  zero_gradients(place);
  clear_bad_gradient(place);
  place.lane().fence("zygos::train::write_state");
}

/// Elements of a flat buffer go from their place's rank to all others.
template <class T>
void share(const ModelState &state, const Held &held, std::vector<T> &flat, std::size_t units) {
  const Places &places = state.places;
  if (places.ranks != nullptr) {
    const auto part =
        std::span(flat).subspan(static_cast<std::size_t>(held.elements.begin) * units,
                                static_cast<std::size_t>(held.elements.count()) * units);
    places.ranks->broadcast(std::as_writable_bytes(part), places.owners.at(held.place));
  }
}

Tensor tensor_of(const ModelState &state, const Held &held, BufferKind kind, std::int32_t slot) {
  return state.places.here[held.place]->buffers.held(kind, slot, held.elements);
}

/// True if one place has all of it in memory that a host can read, for the only process.
bool lies_in_host_memory(const ModelState &state) {
  const auto &states = state.holders.states;
  const auto &weights = state.holders.weights;
  return weights.size() == 1 && states.size() == 1 && state.places.ranks == nullptr &&
         states.front().place == weights.front().place &&
         weights.front().elements.count() == state.model.graph.parameter_elements() &&
         state.places.lane(weights.front().place).host_accessible() &&
         !spills_states(*state.places.here[weights.front().place]);
}

std::vector<double> flat_zeros(const ModelState &state) {
  return std::vector<double>(static_cast<std::size_t>(state.model.graph.parameter_elements()), 0.0);
}

BufferKind kind_of(const PlaceState &place, Flat what) {
  return what == Flat::gradients ? gradient_kind(place) : BufferKind::weights;
}

/// Puts elements of a place at their position in the model's flat buffer.
void add_doubles(const ModelState &state, const Held &held, Flat what, std::vector<double> &flat) {
  const BufferKind kind = kind_of(*state.places.here[held.place], what);
  std::ranges::copy(to_doubles(state.places, held.place, tensor_of(state, held, kind, 0)),
                    flat.begin() + held.elements.begin);
}

}  // namespace

void write_state(const ModelState &state, const MakeFlat &make) {
  const auto on_all_places = [&](const auto &write) {
    for (const std::size_t place : state.places.active) {
      state.places.lane(place).run_and_wait([&] { write(*state.places.here[place]); });
    }
  };
  for (std::size_t i = 0; i < 1 + state.optimizer_states; ++i) {
    const Bytes flat = make(i);
    on_all_places([&](const PlaceState &place) { write_buffer(place, i, flat); });
  }
  on_all_places(write_the_rest);
}

void read_held(const ModelState &state, const Held &held, BufferKind kind, std::int32_t slot,
               schedule::ElementRange part, std::span<std::byte> out) {
  const PlaceState &place = *state.places.here[held.place];
  const auto first = static_cast<std::size_t>(part.begin - held.elements.begin) *
                     size_of(state.parameters);
  if (kind == BufferKind::optimizer_state && spills_states(place)) {
    return read_spilled_state(place, held.elements, slot, first, out);
  }
  const Tensor tensor = tensor_of(state, held, kind, slot);
  lane::Lane &lane = state.places.lane(held.place);
  lane.run_and_wait([&] {
    lane.copy_to_host(out.data(), static_cast<const std::byte *>(tensor.raw()) + first, out.size(),
                      "zygos::train::to_host");
    lane.fence("zygos::train::to_host");
  });
}

void gather(const ModelState &state, const Held &held, BufferKind kind, std::int32_t slot,
            Bytes &flat) {
  const std::size_t units = size_of(state.parameters);
  if (state.places.is_here(held.place)) {
    const auto begin = static_cast<std::size_t>(held.elements.begin) * units;
    const auto bytes = static_cast<std::size_t>(held.elements.count()) * units;
    read_held(state, held, kind, slot, held.elements, std::span(flat).subspan(begin, bytes));
  }
  share(state, held, flat, units);
}

std::vector<Tensor> gather_state(ModelState &state) {
  const Holders &holders = state.holders;
  const auto states = static_cast<std::int32_t>(state.optimizer_states);
  std::vector<Tensor> out;
  if (lies_in_host_memory(state)) {
    out.push_back(tensor_of(state, holders.weights.front(), BufferKind::weights, 0));
    for (std::int32_t i = 0; i < states; ++i) {
      out.push_back(tensor_of(state, holders.states.front(), BufferKind::optimizer_state, i));
    }
    return out;
  }
  state.gathered.resize(1 + state.optimizer_states);
  for (Bytes &flat : state.gathered) {
    flat.assign(flat_bytes(state), std::byte{0});
  }
  for (const Held &held : holders.weights) {
    gather(state, held, BufferKind::weights, 0, state.gathered.front());
  }
  for (const Held &held : holders.states) {
    for (std::int32_t i = 0; i < states; ++i) {
      gather(state, held, BufferKind::optimizer_state, i,
             state.gathered[1 + static_cast<std::size_t>(i)]);
    }
  }
  for (Bytes &flat : state.gathered) {
    flat = to_whole(state.model, std::move(flat), size_of(state.parameters));
    out.emplace_back(flat.data(), state.parameters, Shape{state.model.whole.parameter_elements()});
  }
  return out;
}

std::vector<double> doubles_of(const ModelState &state, Flat what) {
  auto flat = flat_zeros(state);
  const Holders &holders = state.holders;
  for (const Held &held : what == Flat::gradients ? holders.gradients() : holders.weights) {
    if (state.places.is_here(held.place)) {
      add_doubles(state, held, what, flat);
    }
    share(state, held, flat, 1);
  }
  return to_whole(state.model, std::move(flat), 1);
}

std::vector<double> doubles_of(const ModelState &state, Flat what, std::size_t place) {
  auto flat = flat_zeros(state);
  const PlaceState &of_place = state.places.at(place);
  for (const Elements &elements : of_place.buffers.held(kind_of(of_place, what))) {
    add_doubles(state, {place, elements.range}, what, flat);
  }
  return to_whole(state.model, std::move(flat), 1);
}

}  // namespace zygos::train
