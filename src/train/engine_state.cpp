// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/engine_impl.hpp"
#include "train/flat_ops.hpp"

#include "zygos/io/hash.hpp"
#include "zygos/tensor/initialiser.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace zygos::train {

using schedule::BufferKind;

namespace {

/// Calls f with a null pointer of the element type.
template <class F>
auto with_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f64:
      return f(static_cast<const double*>(nullptr));
    case DType::bf16:
      return f(static_cast<const bf16*>(nullptr));
    default:
      return f(static_cast<const float*>(nullptr));
  }
}

void require_finite(const Tensor& tensor, const std::string& name) {
  const bool finite = with_type(tensor.dtype(), [&]<class T>(const T*) {
    const std::span<const T> values(tensor.data<T>(), static_cast<std::size_t>(tensor.size()));
    return std::ranges::all_of(values, [](T value) { return std::isfinite(Wide<T>(value)); });
  });
  if (!finite) {
    throw NumericError("weight '" + name +
                       "' holds a value that is not finite; it is not written over a good "
                       "checkpoint. Lower the learning rate, or look for bad values in the data");
  }
}

const io::StoredTensor& stored_as(const io::Checkpoint& checkpoint, const std::string& name,
                                  DType dtype, const Shape& shape) {
  const io::StoredTensor& stored = checkpoint.tensor(name);
  if (stored.dtype != dtype || stored.shape != shape) {
    throw CheckpointError(checkpoint.path.filename().string() + ": tensor '" + name + "' is " +
                          std::string(name_of(stored.dtype)) + " " + stored.shape.text() +
                          ", the model has " + std::string(name_of(dtype)) + " " + shape.text());
  }
  return stored;
}

/// "weights", then the optimizer's states: the flat buffers of a place, by name.
std::vector<std::string> buffer_names(const nn::Optimizer& optimizer) {
  std::vector<std::string> names{"weights"};
  for (const std::string& state : optimizer.state_names()) {
    names.push_back(state);
  }
  return names;
}

}  // namespace

std::size_t Engine::Impl::flat_bytes() const {
  return static_cast<std::size_t>(graph.parameter_elements()) * size_of(parameters());
}

std::size_t Engine::Impl::whole_bytes() const {
  return static_cast<std::size_t>(whole_model.parameter_elements()) * size_of(parameters());
}

std::vector<std::byte> Engine::Impl::to_host(std::size_t place, const Tensor& tensor) {
  std::vector<std::byte> host(tensor.bytes());
  lanes[place].run_and_wait([&] {
    lanes[place].copy_to_host(host.data(), tensor.raw(), host.size(), "zygos::train::to_host");
    lanes[place].fence("zygos::train::to_host");
  });
  return host;
}

std::vector<double> Engine::Impl::to_doubles(std::size_t place, const Tensor& tensor) {
  const std::vector<std::byte> host = to_host(place, tensor);
  return with_type(tensor.dtype(), [&]<class T>(const T*) {
    const auto* values = reinterpret_cast<const T*>(host.data());
    return std::vector<double>(values, values + tensor.size());
  });
}

void Engine::Impl::write_state(const std::vector<std::byte>& flat_weights,
                               const std::vector<std::vector<std::byte>>& flat_states) {
  for (const std::size_t place : active) {
    const lane::Lane& lane = lanes[place];
    const PlaceState& state = *states[place];
    lanes[place].run_and_wait([&] {
      const auto put = [&](const Elements& held, const std::vector<std::byte>& from) {
        const auto first = static_cast<std::size_t>(held.range.begin) * size_of(parameters());
        if (held.tier == schedule::Tier::host) {
          std::memcpy(held.tensor.raw(), from.data() + first, held.tensor.bytes());
        } else {
          lane.copy_to_lane(held.tensor.raw(), from.data() + first, held.tensor.bytes(),
                            "zygos::train::write_state");
        }
      };
      for (const Elements& held : state.buffers.held(BufferKind::weights)) {
        put(held, flat_weights);
      }
      for (std::size_t i = 0; i < flat_states.size(); ++i) {
        for (const Elements& held :
             state.buffers.held(BufferKind::optimizer_state, static_cast<std::int32_t>(i))) {
          if (!flat_states[i].empty()) {
            put(held, flat_states[i]);
          } else if (held.tier == schedule::Tier::host) {
            std::memset(held.tensor.raw(), 0, held.tensor.bytes());
          } else {
            fill_with_zeros(lane.execution(), held.tensor);
          }
        }
      }
      write_decay_mask(state);
      write_norm_plan(state);
      write_constants(state);
      zero_gradients(state);
      clear_bad_gradient(state);
      lane.fence("zygos::train::write_state");
    });
  }
  whole = true;
}

namespace {

/// Elements that a place updates, in the order of its updates.
std::vector<schedule::ElementRange> updated_elements(const schedule::Schedule& schedule,
                                                     schedule::Place place) {
  std::vector<schedule::ElementRange> updated;
  for (const schedule::Task& task : schedule.tasks) {
    if (task.place == place && task.kind == schedule::TaskKind::update &&
        std::ranges::find(updated, task.elements) == updated.end()) {
      updated.push_back(task.elements);
    }
  }
  return updated;
}

/// What is left of `elements` in front of and behind `taken`.
std::vector<schedule::ElementRange> without(const std::vector<schedule::ElementRange>& elements,
                                            schedule::ElementRange taken) {
  std::vector<schedule::ElementRange> left;
  for (const schedule::ElementRange& one : elements) {
    const std::int64_t begin = std::clamp(taken.begin, one.begin, one.end);
    const std::int64_t end = std::clamp(taken.end, begin, one.end);
    for (const schedule::ElementRange& side :
         {schedule::ElementRange{one.begin, begin}, schedule::ElementRange{end, one.end}}) {
      if (side.count() > 0) {
        left.push_back(side);
      }
    }
  }
  return left;
}

}  // namespace

void Engine::Impl::find_holders(const std::vector<plan::PlaceMemory>& memory) {
  for (const schedule::Place place : schedule.active_places()) {
    for (const schedule::ElementRange& elements : updated_elements(schedule, place)) {
      if (elements.count() > 0 &&
          std::ranges::find(state_holders, elements, &Held::elements) == state_holders.end()) {
        state_holders.push_back({static_cast<std::size_t>(place), elements});
      }
    }
  }
  weight_holders = state_holders;
  for (const schedule::Place place : schedule.active_places()) {
    const auto index = static_cast<std::size_t>(place);
    for (const auto& window : plan::windows_of(memory[index], BufferKind::weights)) {
      std::vector<schedule::ElementRange> left{window.elements};
      for (const Held& held : weight_holders) {
        left = without(left, held.elements);
      }
      for (const schedule::ElementRange& elements : left) {
        weight_holders.push_back({index, elements});
      }
    }
  }
}

template <class T>
void Engine::Impl::share(const Held& held, std::vector<T>& flat) {
  if (rank_messages == nullptr) {
    return;
  }
  const std::size_t scale = sizeof(T) == 1 ? size_of(parameters()) : sizeof(T);
  auto* bytes = reinterpret_cast<std::byte*>(flat.data()) +
                static_cast<std::size_t>(held.elements.begin) * scale;
  options.communicator->broadcast({bytes, static_cast<std::size_t>(held.elements.count()) * scale},
                                  owner_of(held.place));
}

template <class T>
std::vector<T> Engine::Impl::to_whole(std::vector<T> flat) const {
  if (!shards) {
    return flat;
  }
  const std::size_t units = sizeof(T) == 1 ? size_of(parameters()) : 1;
  std::vector<T> out(static_cast<std::size_t>(whole_model.parameter_elements()) * units);
  for (const graph::ElementRun& run : graph::element_runs(whole_model, graph)) {
    std::copy_n(flat.begin() + run.shard * static_cast<std::ptrdiff_t>(units),
                run.count * static_cast<std::ptrdiff_t>(units),
                out.begin() + run.whole * static_cast<std::ptrdiff_t>(units));
  }
  return out;
}

std::vector<std::byte> Engine::Impl::from_whole(std::vector<std::byte> flat) const {
  if (!shards) {
    return flat;
  }
  const auto units = static_cast<std::ptrdiff_t>(size_of(parameters()));
  std::vector<std::byte> out(flat_bytes());
  for (const graph::ElementRun& run : graph::element_runs(whole_model, graph)) {
    std::copy_n(flat.begin() + run.whole * units, run.count * units,
                out.begin() + run.shard * units);
  }
  return out;
}

void Engine::initialise() {
  std::vector<std::byte> weights(impl_->whole_bytes());
  for (const graph::Parameter& parameter : impl_->whole_model.parameters()) {
    auto* begin =
        weights.data() + static_cast<std::size_t>(parameter.offset) * size_of(impl_->parameters());
    zygos::initialise(Tensor(begin, impl_->parameters(), parameter.shape), parameter.init,
                      impl_->options.seed, parameter.name);
  }
  impl_->write_state(impl_->from_whole(std::move(weights)),
                     std::vector<std::vector<std::byte>>(impl_->optimizer.state_names().size()));
}

void Engine::restore(const io::Checkpoint& checkpoint) {
  const auto names = buffer_names(impl_->optimizer);
  std::vector<std::vector<std::byte>> buffers(names.size(),
                                              std::vector<std::byte>(impl_->whole_bytes()));
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (const graph::Parameter& parameter : impl_->whole_model.parameters()) {
      const auto& stored = stored_as(checkpoint, names[i] + "/" + parameter.name,
                                     impl_->parameters(), parameter.shape);
      std::ranges::copy(stored.bytes,
                        buffers[i].begin() +
                            static_cast<std::ptrdiff_t>(static_cast<std::size_t>(parameter.offset) *
                                                        size_of(impl_->parameters())));
    }
  }
  for (std::vector<std::byte>& buffer : buffers) {
    buffer = impl_->from_whole(std::move(buffer));
  }
  const std::vector<std::byte> weights = std::move(buffers.front());
  buffers.erase(buffers.begin());
  impl_->write_state(weights, buffers);
}

std::vector<Tensor> Engine::Impl::gather_state() {
  const std::vector<Held>& weights = weight_holders;
  const std::vector<Held>& held_states = state_holders;
  const bool lies_here = weights.size() == 1 && held_states.size() == 1 &&
                         rank_messages == nullptr &&
                         held_states.front().place == weights.front().place &&
                         weights.front().elements.count() == graph.parameter_elements() &&
                         lanes[weights.front().place].host_accessible();
  const auto states_in = static_cast<std::int32_t>(optimizer.state_names().size());
  const auto tensor_of = [&](const Held& held, BufferKind kind, std::int32_t slot) {
    return states[held.place]->buffers.held(kind, slot, held.elements);
  };
  if (lies_here) {
    std::vector<Tensor> buffers{tensor_of(weights.front(), BufferKind::weights, 0)};
    for (std::int32_t i = 0; i < states_in; ++i) {
      buffers.push_back(tensor_of(held_states.front(), BufferKind::optimizer_state, i));
    }
    return buffers;
  }
  snapshot_memory.assign(1 + optimizer.state_names().size(), std::vector<std::byte>(flat_bytes()));
  const auto gather = [&](const Held& held, std::size_t buffer, BufferKind kind,
                          std::int32_t slot) {
    if (is_here(held.place)) {
      const auto begin = static_cast<std::size_t>(held.elements.begin) * size_of(parameters());
      std::ranges::copy(to_host(held.place, tensor_of(held, kind, slot)),
                        snapshot_memory[buffer].begin() + static_cast<std::ptrdiff_t>(begin));
    }
    share(held, snapshot_memory[buffer]);
  };
  for (const Held& held : weights) {
    gather(held, 0, BufferKind::weights, 0);
  }
  for (const Held& held : held_states) {
    for (std::int32_t i = 0; i < states_in; ++i) {
      gather(held, 1 + static_cast<std::size_t>(i), BufferKind::optimizer_state, i);
    }
  }
  std::vector<Tensor> out;
  for (std::vector<std::byte>& memory : snapshot_memory) {
    memory = to_whole(std::move(memory));
    out.emplace_back(memory.data(), parameters(), Shape{whole_model.parameter_elements()});
  }
  return out;
}

std::vector<io::TensorRef> Engine::snapshot() {
  const std::vector<Tensor> buffers = impl_->gather_state();
  const auto names = buffer_names(impl_->optimizer);
  std::vector<io::TensorRef> refs;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    for (const graph::Parameter& parameter : impl_->whole_model.parameters()) {
      auto* begin = static_cast<std::byte*>(buffers[i].raw()) +
                    static_cast<std::size_t>(parameter.offset) * size_of(buffers[i].dtype());
      if (i == 0) {
        require_finite(Tensor(begin, buffers[i].dtype(), parameter.shape), parameter.name);
      }
      refs.push_back({names[i] + "/" + parameter.name, buffers[i].dtype(), parameter.shape, begin});
    }
  }
  return refs;
}

std::string Engine::weights_hash() {
  io::Hasher hasher;
  for (const io::TensorRef& ref : snapshot()) {
    if (ref.name.starts_with("weights/")) {
      hasher.add(std::span(static_cast<const std::byte*>(ref.data),
                           static_cast<std::size_t>(ref.shape.size()) * size_of(ref.dtype)));
    }
  }
  return hasher.hex();
}

const PlaceState& Engine::Impl::state_of(std::size_t place) const {
  if (std::ranges::find(active, place) == active.end()) {
    throw UsageError("place " + std::to_string(place) +
                     " takes no part in this schedule here and holds nothing; ask one of "
                     "schedule().active_places()");
  }
  return *states[place];
}

std::vector<double> Engine::Impl::flat_zeros() const {
  return std::vector<double>(static_cast<std::size_t>(graph.parameter_elements()), 0.0);
}

void Engine::Impl::add_doubles(const Held& held, BufferKind kind, std::vector<double>& flat) {
  const Tensor tensor = states[held.place]->buffers.held(kind, 0, held.elements);
  std::ranges::copy(to_doubles(held.place, tensor), flat.begin() + held.elements.begin);
}

std::vector<double> Engine::Impl::all_doubles(const std::vector<Held>& holders, bool gradients) {
  auto flat = flat_zeros();
  for (const Held& held : holders) {
    if (is_here(held.place)) {
      add_doubles(held, gradients ? gradient_kind(*states[held.place]) : BufferKind::weights, flat);
    }
    share(held, flat);
  }
  return to_whole(std::move(flat));
}

std::vector<double> Engine::Impl::doubles_of(std::size_t place, bool gradients) {
  auto flat = flat_zeros();
  const PlaceState& state = state_of(place);
  const BufferKind kind = gradients ? gradient_kind(state) : BufferKind::weights;
  for (const Elements& elements : state.buffers.held(kind)) {
    add_doubles({place, elements.range}, kind, flat);
  }
  return to_whole(std::move(flat));
}

std::vector<double> Engine::gradient() {
  impl_->require_training();
  return impl_->all_doubles(impl_->gradient_holders(), true);
}

std::vector<double> Engine::weights() { return impl_->all_doubles(impl_->weight_holders, false); }

std::vector<double> Engine::gradient(std::size_t place) {
  impl_->require_training();
  return impl_->doubles_of(place, true);
}

std::vector<double> Engine::weights(std::size_t place) { return impl_->doubles_of(place, false); }

std::vector<double> Engine::prediction(std::size_t place) {
  std::vector<double> all;
  for (const Tensor& part : predictions(impl_->state_of(place))) {
    const std::vector<double> values = impl_->to_doubles(place, part);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

}  // namespace zygos::train
