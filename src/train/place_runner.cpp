// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/place_runner.hpp"

#include "ops/elementwise.hpp"
#include "train/flat_ops.hpp"

#include "zygos/nn/optimizers.hpp"
#include "zygos/schedule/batch_statistics.hpp"

#include <algorithm>

namespace zygos::train {

using schedule::BufferKind;
using schedule::Task;
using schedule::TaskKind;

PlaceRunner::PlaceRunner(const PlaceSetup& setup, plan::PlaceMemory memory)
    : setup_(setup),
      memory_(std::move(memory)),
      arena_(memory_.lane, setup.lane.name(), setup.lane.spec().budget_bytes,
             setup.lane.allocator()),
      staging_(memory_.staging, setup.lane.name() + "_staging", 0, setup.lane.staging_allocator()),
      micro_batches_(setup.schedule.micro_batches.size()),
      mine_(setup.schedule.micro_batches.size(), false),
      statistics_(nn::sgd({.learning_rate = 1.0, .momentum = 0.0, .weight_decay = 0.0})) {
  for (const Task& one : setup_.schedule.tasks) {
    if (one.place == setup_.place && one.kind == TaskKind::load) {
      mine_[static_cast<std::size_t>(one.micro_batch)] = true;
    }
    has_reduced_ |= one.place == setup_.place && one.kind == TaskKind::all_reduce;
  }
  bind_parameters();
  bind_constants();
  bind_samples(setup_.schedule.batch);
  plan_transfers();
}

Tensor PlaceRunner::flat(std::size_t piece, std::int32_t slot) const {
  const Shape shape{memory_.elements.count()};
  const auto bytes = static_cast<std::size_t>(shape.size()) * size_of(setup_.parameters());
  return {arena_.at(piece) + static_cast<std::size_t>(slot) * bytes, setup_.parameters(), shape};
}

Tensor PlaceRunner::part_of(const Tensor& whole, schedule::ElementRange elements) const {
  auto* begin =
      static_cast<std::byte*>(whole.raw()) +
      static_cast<std::size_t>(elements.begin - memory_.elements.begin) * size_of(whole.dtype());
  return {begin, whole.dtype(), Shape{elements.count()}};
}

std::vector<std::vector<Tensor>> PlaceRunner::parameters_in(const Tensor& whole) const {
  std::vector<std::vector<Tensor>> parameters;
  for (auto node = memory_.stage.nodes.begin; node < memory_.stage.nodes.end; ++node) {
    auto& of_node = parameters.emplace_back();
    for (const graph::Parameter& parameter : setup_.graph.parameters_of(node)) {
      const schedule::ElementRange elements{parameter.offset,
                                            parameter.offset + parameter.shape.size()};
      of_node.emplace_back(part_of(whole, elements).raw(), whole.dtype(), parameter.shape);
    }
  }
  return parameters;
}

bool PlaceRunner::trains() const {
  return std::ranges::any_of(setup_.schedule.tasks, [&](const Task& one) {
    return one.place == setup_.place && one.kind == TaskKind::backward;
  });
}

void PlaceRunner::bind_parameters() {
  const auto& pieces = memory_.pieces;
  for (const std::size_t piece : pieces.weights) {
    weights_.push_back(flat(piece));
    parameters_.push_back(parameters_in(weights_.back()));
  }
  if (trains()) {
    for (std::int32_t slot = 0; slot < memory_.tree.slots; ++slot) {
      gradient_slots_.push_back(flat(pieces.gradients, slot));
      d_parameters_.push_back(parameters_in(gradient_slots_.back()));
    }
    gradients_ = gradient_slots_.front();
  }
  reduced_ = flat(pieces.reduced);
  incoming_ = flat(pieces.incoming);
  bind_updates();
  bind_norm();
  plan_gathers();
}

void PlaceRunner::bind_constants() {
  auto piece = memory_.pieces.constants.begin();
  for (auto id = memory_.stage.nodes.begin; id < memory_.stage.nodes.end; ++id) {
    const graph::Node& node = setup_.graph.nodes()[static_cast<std::size_t>(id)];
    auto& of_node = constants_.emplace_back();
    for (const auto& spec : node.layer->constants(node.input_shapes, wide(setup_.dtype))) {
      of_node.emplace_back(arena_.at(*piece++), spec.dtype, spec.shape);
    }
  }
}

void PlaceRunner::write_constants() const {
  std::vector<std::byte> host;
  for (auto id = memory_.stage.nodes.begin; id < memory_.stage.nodes.end; ++id) {
    const graph::Node& node = setup_.graph.nodes()[static_cast<std::size_t>(id)];
    auto target = constants_[static_cast<std::size_t>(id - memory_.stage.nodes.begin)].begin();
    for (const auto& spec : node.layer->constants(node.input_shapes, wide(setup_.dtype))) {
      host.resize(target->bytes());
      spec.fill(host.data());
      setup_.lane.copy_to_lane(target->raw(), host.data(), host.size(), "zygos::train::constants");
      setup_.lane.fence("zygos::train::constants");
      ++target;
    }
  }
}

void PlaceRunner::bind_samples(std::int64_t given) {
  given_ = given;
  const BindingSource source{setup_.graph,  memory_,      arena_,
                             setup_.target, setup_.dtype, setup_.schedule.chunk};
  for (std::size_t i = 0; i < micro_batches_.size(); ++i) {
    if (mine_[i]) {
      const schedule::SampleRange& planned = setup_.schedule.micro_batches[i];
      micro_batches_[i] =
          bind_micro_batch(source, setup_.place, static_cast<schedule::MicroBatch>(i),
                           {std::min(planned.begin, given), std::min(planned.end, given)});
    }
  }
}

nn::Context PlaceRunner::context(graph::NodeId node, const Tensor& ids) const {
  return {setup_.lane.execution(),
          inputs_of_call_.mode,
          setup_.seed,
          inputs_of_call_.step,
          static_cast<std::uint32_t>(node),
          ids};
}

void PlaceRunner::begin(const StepInputs& inputs) {
  inputs_of_call_ = inputs;
  first_bad_ = -1;
  if (inputs.batch->samples() != given_) {
    bind_samples(inputs.batch->samples());
  }
}

std::int64_t PlaceRunner::averaged_samples(std::int32_t update) const {
  if (inputs_of_call_.mode == nn::Mode::evaluate) {
    return given_;
  }
  const schedule::SampleRange& all = setup_.schedule.updates[static_cast<std::size_t>(update)];
  return std::min(all.end, given_) - std::min(all.begin, given_);
}

void PlaceRunner::run(schedule::TaskId id, const MessageBoard& board) {
  const Task& one = task(id);
  switch (one.kind) {
    case TaskKind::load:
      return load(one);
    case TaskKind::copy:
      return copy_in(one);
    case TaskKind::forward:
    case TaskKind::recompute:
      return forward(one);
    case TaskKind::loss:
      return loss(one);
    case TaskKind::backward:
      return backward(one);
    case TaskKind::statistics:
      return statistics(one);
    case TaskKind::squares:
      return squares(id);
    case TaskKind::update:
      return update(one);
    case TaskKind::stash:
      return stash(one);
    case TaskKind::average:
      return average(one);
    default:
      return exchange(id, board);
  }
}

void PlaceRunner::exchange(schedule::TaskId id, const MessageBoard& board) {
  const Task& one = task(id);
  switch (one.kind) {
    case TaskKind::send:
    case TaskKind::broadcast:
      return send(id, board);
    case TaskKind::receive:
      return receive(id, board);
    case TaskKind::reduce:
      return reduce(one, board);
    case TaskKind::all_reduce:
      return all_reduce(one, board);
    case TaskKind::all_gather:
      return all_gather(id, board);
    case TaskKind::norm:
      return norm(id, board);
    default:
      break;
  }
  throw InternalError("the engine cannot execute a task of kind '" +
                      std::string(name_of(one.kind)) + "'");
}

void PlaceRunner::forward(const Task& one) {
  const auto& parameters = parameters_[static_cast<std::size_t>(slot_of(one))];
  for (const SliceTensors& slice : tensors_of(one).slices) {
    const auto& passes = one.kind == TaskKind::recompute ? slice.recompute : slice.forward;
    for (auto node = one.nodes.begin; node < one.nodes.end; ++node) {
      const auto index = static_cast<std::size_t>(node - memory_.stage.nodes.begin);
      const NodePass& pass = passes[index];
      setup_.graph.nodes()[static_cast<std::size_t>(node)].layer->forward(
          context(node, slice.ids), {pass.inputs, parameters[index], pass.workspace, pass.output,
                                     constants_[index], batch_statistics(node, one)});
      if (inputs_of_call_.examines) {
        examine(node, pass.output);
      }
    }
  }
}

void PlaceRunner::loss(const Task& one) {
  nn::LossArgs args = tensors_of(one).loss;
  if (!inputs_of_call_.trains()) {
    // Evaluation has no use for the prediction's gradient; an empty tensor says so.
    args.d_prediction = Tensor();
  }
  setup_.graph.loss().evaluate(setup_.lane.execution(), args, averaged_samples(one.update));
  if (!setup_.lane.host_accessible()) {
    const auto offset = static_cast<std::size_t>(one.micro_batch) * args.totals.bytes();
    setup_.lane.copy_to_host(staging_.at(memory_.staged_totals) + offset, args.totals.raw(),
                             args.totals.bytes(), "zygos::train::copy_totals");
  }
}

void PlaceRunner::backward(const Task& one) {
  const Tensors& tensors = tensors_of(one);
  if (setup_.schedule.chunk > 0) {
    return backward_in_chunks(one);
  }
  if (tensors.slices.empty() && !one.accumulates) {
    return zero_gradients_of(one.nodes, 0);
  }
  for (const SliceTensors& slice : tensors.slices) {
    backward_slice(one, slice, d_parameters_.front(), one.accumulates);
  }
}

void PlaceRunner::backward_in_chunks(const Task& one) {
  const Tensors& tensors = tensors_of(one);
  const auto planned = schedule::slices_of(one.samples, setup_.schedule.chunk);
  for (std::size_t i = 0; i < planned.size(); ++i) {
    const auto& leaf = memory_.tree.leaves.at(planned[i].begin / setup_.schedule.chunk);
    if (i < tensors.slices.size()) {
      backward_slice(one, tensors.slices[i], d_parameters_[static_cast<std::size_t>(leaf.slot)],
                     false);
    } else {
      zero_gradients_of(one.nodes, leaf.slot);
    }
    for (const auto& merge : leaf.merges) {
      const auto& into = d_parameters_[static_cast<std::size_t>(merge.into)];
      const auto& from = d_parameters_[static_cast<std::size_t>(merge.from)];
      for (auto node = one.nodes.begin; node < one.nodes.end; ++node) {
        const auto index = static_cast<std::size_t>(node - memory_.stage.nodes.begin);
        for (std::size_t k = 0; k < into[index].size(); ++k) {
          add_to(setup_.lane.execution(), into[index][k], from[index][k]);
        }
      }
    }
  }
}

void PlaceRunner::backward_slice(const Task& one, const SliceTensors& slice,
                                 std::span<const std::vector<Tensor>> d_parameters,
                                 bool accumulates) {
  const auto& parameters = parameters_[static_cast<std::size_t>(slot_of(one))];
  for (auto node = one.nodes.end; node-- > one.nodes.begin;) {
    const auto index = static_cast<std::size_t>(node - memory_.stage.nodes.begin);
    const NodeBackward& bound = slice.backward[index];
    if (!bound.runs) {
      continue;
    }
    setup_.graph.nodes()[static_cast<std::size_t>(node)].layer->backward(
        context(node, slice.ids),
        {bound.pass.inputs, parameters[index], bound.pass.workspace, bound.pass.output,
         bound.d_output, bound.d_inputs, d_parameters[index], accumulates,
         averaged_samples(update_of(setup_.schedule, one.samples)), constants_[index],
         batch_statistics(node, one), own_statistics(node, slice)});
    for (const auto& [part, whole] : bound.added) {
      add_to(setup_.lane.execution(), whole, part);
    }
  }
}

void PlaceRunner::zero_gradients() const {
  for (const Tensor& slot : gradient_slots_) {
    fill_with_zeros(setup_.lane.execution(), slot);
  }
  clear_bad();
}

void PlaceRunner::zero_gradients_of(schedule::NodeRange nodes, std::int32_t slot) const {
  const auto& d_parameters = d_parameters_[static_cast<std::size_t>(slot)];
  for (auto node = nodes.begin; node < nodes.end; ++node) {
    for (const Tensor& d_parameter :
         d_parameters[static_cast<std::size_t>(node - memory_.stage.nodes.begin)]) {
      fill_with_zeros(setup_.lane.execution(), d_parameter);
    }
  }
}

void PlaceRunner::stash(const Task& one) const {
  copy_into(setup_.lane.execution(), weights_[static_cast<std::size_t>(one.slot)],
            weights_.front());
}

void PlaceRunner::average(const Task& one) const {
  if (inputs_of_call_.step % static_cast<std::uint64_t>(one.every) != 0) {
    return;
  }
  double versions = 0.0;
  for (const schedule::Buffer& buffer : one.reads) {
    if (buffer.slot > 0) {
      add_to(setup_.lane.execution(), weights_.front(),
             weights_[static_cast<std::size_t>(buffer.slot)]);
    }
    versions += 1.0;
  }
  scale_by(setup_.lane.execution(), weights_.front(), 1.0 / versions);
}

double PlaceRunner::sum_of_totals(std::size_t which) const {
  if (!memory_.stage.is_last) {
    return 0.0;
  }
  const auto* totals = reinterpret_cast<const double*>(setup_.lane.host_accessible()
                                                           ? arena_.at(memory_.pieces.totals)
                                                           : staging_.at(memory_.staged_totals));
  double sum = 0.0;
  for (std::size_t i = 0; i < micro_batches_.size(); ++i) {
    sum += mine_[i] ? totals[nn::loss_totals * i + which] : 0.0;
  }
  return sum;
}

std::vector<Tensor> PlaceRunner::predictions() const {
  std::vector<Tensor> out;
  for (std::size_t i = 0; i < micro_batches_.size() && memory_.stage.is_last; ++i) {
    if (mine_[i]) {
      out.push_back(micro_batches_[i].outputs.back());
    }
  }
  return out;
}

}  // namespace zygos::train
