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
    const PlaceRunner& runner = *runners[place];
    lanes[place].run_and_wait([&] {
      const auto put = [&](const Tensor& tensor, std::int64_t begin,
                           const std::vector<std::byte>& from) {
        const auto first = static_cast<std::size_t>(begin) * size_of(parameters());
        lane.copy_to_lane(tensor.raw(), from.data() + first, tensor.bytes(),
                          "zygos::train::write_state");
      };
      put(runner.weights(), runner.elements().begin, flat_weights);
      for (const PlaceRunner::Updated& updated : runner.updated()) {
        for (std::size_t i = 0; i < flat_states.size(); ++i) {
          if (flat_states[i].empty()) {
            fill_with_zeros(lane.execution(), updated.args.states[i]);
          } else {
            put(updated.args.states[i], updated.elements.begin, flat_states[i]);
          }
        }
      }
      runner.write_decay_mask();
      runner.write_norm_plan();
      runner.write_constants();
      runner.zero_gradients();
      lane.fence("zygos::train::write_state");
    });
  }
  whole = true;
}

std::vector<Engine::Impl::Held> Engine::Impl::held_weights() const {
  std::vector<Held> held;
  for (std::size_t stage = 0; stage < schedule.stages.size(); ++stage) {
    const auto found = std::ranges::find(schedule.stage_of, static_cast<schedule::Stage>(stage));
    const auto place = static_cast<std::size_t>(found - schedule.stage_of.begin());
    held.push_back({place, elements_of(place)});
  }
  return held;
}

std::vector<Engine::Impl::Held> Engine::Impl::held_states() const {
  std::vector<Held> held;
  for (const schedule::Place place : schedule.active_places()) {
    for (const schedule::ElementRange& elements : plan::updated_elements(schedule, place)) {
      if (std::ranges::find(held, elements, &Held::elements) == held.end()) {
        held.push_back({static_cast<std::size_t>(place), elements});
      }
    }
  }
  return held;
}

std::vector<Engine::Impl::Held> Engine::Impl::held_gradients() const {
  auto updated = held_states();
  return updated.empty() ? held_weights() : std::move(updated);
}

schedule::ElementRange Engine::Impl::elements_of(std::size_t place) const {
  const auto stage = static_cast<std::size_t>(schedule.stage_of[place]);
  return plan::outline_of(graph, options.dtype, target).parameters_of(schedule.stages[stage]);
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

void Engine::initialise() {
  std::vector<std::byte> weights(impl_->flat_bytes());
  for (const graph::Parameter& parameter : impl_->graph.parameters()) {
    auto* begin =
        weights.data() + static_cast<std::size_t>(parameter.offset) * size_of(impl_->parameters());
    zygos::initialise(Tensor(begin, impl_->parameters(), parameter.shape), parameter.init,
                      impl_->options.seed, parameter.name);
  }
  impl_->write_state(weights,
                     std::vector<std::vector<std::byte>>(impl_->optimizer.state_names().size()));
}

void Engine::restore(const io::Checkpoint& checkpoint) {
  const auto names = buffer_names(impl_->optimizer);
  std::vector<std::vector<std::byte>> buffers(names.size(),
                                              std::vector<std::byte>(impl_->flat_bytes()));
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (const graph::Parameter& parameter : impl_->graph.parameters()) {
      const auto& stored = stored_as(checkpoint, names[i] + "/" + parameter.name,
                                     impl_->parameters(), parameter.shape);
      std::ranges::copy(stored.bytes,
                        buffers[i].begin() +
                            static_cast<std::ptrdiff_t>(static_cast<std::size_t>(parameter.offset) *
                                                        size_of(impl_->parameters())));
    }
  }
  const std::vector<std::byte> weights = std::move(buffers.front());
  buffers.erase(buffers.begin());
  impl_->write_state(weights, buffers);
}

std::vector<Tensor> Engine::Impl::gather_state() {
  const std::vector<Held> weights = held_weights();
  const std::vector<Held> states = held_states();
  const PlaceRunner* first = runners[weights.front().place].get();
  const bool lies_here = weights.size() == 1 && states.size() == 1 && rank_messages == nullptr &&
                         states.front().place == weights.front().place &&
                         lanes[weights.front().place].host_accessible();
  if (lies_here) {
    std::vector<Tensor> buffers{first->weights()};
    const std::vector<Tensor>& kept = first->updated().front().args.states;
    buffers.insert(buffers.end(), kept.begin(), kept.end());
    return buffers;
  }
  snapshot_memory.assign(1 + optimizer.state_names().size(), std::vector<std::byte>(flat_bytes()));
  const auto gather = [&](const Held& held, std::size_t buffer, const auto& tensor_on) {
    if (is_here(held.place)) {
      const auto begin = static_cast<std::size_t>(held.elements.begin) * size_of(parameters());
      std::ranges::copy(to_host(held.place, tensor_on(*runners[held.place])),
                        snapshot_memory[buffer].begin() + static_cast<std::ptrdiff_t>(begin));
    }
    share(held, snapshot_memory[buffer]);
  };
  for (const Held& held : weights) {
    gather(held, 0, [](const PlaceRunner& runner) { return runner.weights(); });
  }
  for (const Held& held : states) {
    for (std::size_t i = 0; i + 1 < snapshot_memory.size(); ++i) {
      gather(held, i + 1, [&](const PlaceRunner& runner) {
        return std::ranges::find(runner.updated(), held.elements, &PlaceRunner::Updated::elements)
            ->args.states[i];
      });
    }
  }
  std::vector<Tensor> out;
  for (std::vector<std::byte>& memory : snapshot_memory) {
    out.emplace_back(memory.data(), parameters(), Shape{graph.parameter_elements()});
  }
  return out;
}

std::vector<io::TensorRef> Engine::snapshot() {
  const std::vector<Tensor> buffers = impl_->gather_state();
  const auto names = buffer_names(impl_->optimizer);
  std::vector<io::TensorRef> refs;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    for (const graph::Parameter& parameter : impl_->graph.parameters()) {
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

const PlaceRunner& Engine::Impl::runner_of(std::size_t place) const {
  if (std::ranges::find(active, place) == active.end()) {
    throw UsageError("place " + std::to_string(place) +
                     " takes no part in this schedule here and holds nothing; ask one of "
                     "schedule().active_places()");
  }
  return *runners[place];
}

std::vector<double> Engine::Impl::flat_zeros() const {
  return std::vector<double>(static_cast<std::size_t>(graph.parameter_elements()), 0.0);
}

void Engine::Impl::add_doubles(const Held& held, const Tensor& tensor, std::vector<double>& flat) {
  std::ranges::copy(to_doubles(held.place, runners[held.place]->part_of(tensor, held.elements)),
                    flat.begin() + held.elements.begin);
}

std::vector<double> Engine::gradient() {
  impl_->require_training();
  auto flat = impl_->flat_zeros();
  for (const Impl::Held& held : impl_->held_gradients()) {
    if (impl_->is_here(held.place)) {
      impl_->add_doubles(held, impl_->runners[held.place]->gradient(), flat);
    }
    impl_->share(held, flat);
  }
  return flat;
}

std::vector<double> Engine::weights() {
  auto flat = impl_->flat_zeros();
  for (const Impl::Held& held : impl_->held_weights()) {
    if (impl_->is_here(held.place)) {
      impl_->add_doubles(held, impl_->runners[held.place]->weights(), flat);
    }
    impl_->share(held, flat);
  }
  return flat;
}

std::vector<double> Engine::gradient(std::size_t place) {
  impl_->require_training();
  auto flat = impl_->flat_zeros();
  const PlaceRunner& runner = impl_->runner_of(place);
  impl_->add_doubles({place, runner.elements()}, runner.gradient(), flat);
  return flat;
}

std::vector<double> Engine::weights(std::size_t place) {
  auto flat = impl_->flat_zeros();
  const PlaceRunner& runner = impl_->runner_of(place);
  impl_->add_doubles({place, runner.elements()}, runner.weights(), flat);
  return flat;
}

std::vector<double> Engine::prediction(std::size_t place) {
  std::vector<double> all;
  for (const Tensor& part : impl_->runner_of(place).predictions()) {
    const std::vector<double> values = impl_->to_doubles(place, part);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

}  // namespace zygos::train
