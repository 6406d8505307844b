// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/place/place_runner.hpp"

#include "ops/elementwise/elementwise.hpp"
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
      buffers_(std::move(memory), setup.lane, setup.place, setup.parameters()),
      use_(std::make_unique<PlaceUse>(buffers_.arena(schedule::Tier::lane),
                                      buffers_.arena(schedule::Tier::host))),
      operands_(setup.schedule.tasks.size()),
      micro_batches_(setup.schedule.micro_batches.size()),
      mine_(setup.schedule.micro_batches.size(), false),
      statistics_(nn::sgd({.learning_rate = 1.0, .momentum = 0.0, .weight_decay = 0.0})) {
  for (std::size_t id = 0; id < operands_.size(); ++id) {
    const Task& one = setup_.schedule.tasks[id];
    if (one.place != setup_.place) {
      continue;
    }
    if (one.kind == TaskKind::load) {
      mine_[static_cast<std::size_t>(one.micro_batch)] = true;
    }
    operands_[id] = find_operands(one, buffers_);
  }
  bind_parameters();
  bind_constants();
  bind_samples(setup_.schedule.batch);
  plan_transfers();
}

BufferKind PlaceRunner::gradient_kind() const {
  return buffers_.slots_of(BufferKind::reduced_gradients) > 0 ? BufferKind::reduced_gradients
                                                              : BufferKind::gradients;
}

std::vector<std::vector<Tensor>> PlaceRunner::parameters_in(BufferKind kind,
                                                            std::int32_t slot) const {
  const std::vector<Elements> held = buffers_.held(kind, slot);
  std::vector<std::vector<Tensor>> parameters;
  for (auto node = plan().stage.nodes.begin; node < plan().stage.nodes.end; ++node) {
    auto& of_node = parameters.emplace_back();
    for (const graph::Parameter& parameter : setup_.graph.parameters_of(node)) {
      const schedule::ElementRange elements{parameter.offset,
                                            parameter.offset + parameter.shape.size()};
      const auto found = std::ranges::find_if(held, [&](const Elements& one) {
        return one.range.begin <= elements.begin && elements.end <= one.range.end;
      });
      of_node.push_back(found == held.end() ? Tensor()
                                            : found->part(elements).reshaped(parameter.shape));
    }
  }
  return parameters;
}

void PlaceRunner::bind_parameters() {
  // A stage without parameters has no such buffers, and its tasks have slots all the same.
  std::int32_t versions = buffers_.slots_of(BufferKind::weights);
  for (const Task& one : setup_.schedule.tasks) {
    versions = one.place == setup_.place ? std::max(versions, one.slot + 1) : versions;
  }
  for (std::int32_t slot = 0; slot < versions; ++slot) {
    parameters_.push_back(parameters_in(BufferKind::weights, slot));
  }
  for (std::int32_t slot = 0; slot < plan().tree.slots; ++slot) {
    d_parameters_.push_back(parameters_in(BufferKind::gradients, slot));
  }
  bind_updates();
  bind_norm();
  plan_gathers();
}

void PlaceRunner::bind_constants() {
  for (auto id = plan().stage.nodes.begin; id < plan().stage.nodes.end; ++id) {
    const graph::Node& node = setup_.graph.nodes()[static_cast<std::size_t>(id)];
    auto& of_node = constants_.emplace_back();
    for (const auto& spec : node.layer->constants(node.input_shapes, wide(setup_.dtype))) {
      of_node.push_back(buffers_.whole(BufferKind::constants, spec.dtype, spec.shape,
                                       static_cast<std::int32_t>(of_node.size()), id));
    }
  }
}

void PlaceRunner::write_constants() const {
  std::vector<std::byte> host;
  for (auto id = plan().stage.nodes.begin; id < plan().stage.nodes.end; ++id) {
    const graph::Node& node = setup_.graph.nodes()[static_cast<std::size_t>(id)];
    auto target = constants_[static_cast<std::size_t>(id - plan().stage.nodes.begin)].begin();
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
  const BindingSource source{setup_.graph, buffers_, setup_.target, setup_.dtype,
                             setup_.schedule.chunk};
  for (std::size_t i = 0; i < micro_batches_.size(); ++i) {
    if (mine_[i]) {
      const schedule::SampleRange& planned = setup_.schedule.micro_batches[i];
      micro_batches_[i] =
          bind_micro_batch(source, static_cast<schedule::MicroBatch>(i),
                           {std::min(planned.begin, given), std::min(planned.end, given)});
    }
  }
}

nn::Context PlaceRunner::context(graph::NodeId node, const Tensor& ids) const {
  return {setup_.lane.execution(),
          inputs_of_call_.mode,
          setup_.seed,
          inputs_of_call_.step,
          setup_.graph.nodes()[static_cast<std::size_t>(node)].stream,
          ids};
}

void PlaceRunner::begin(const StepInputs& inputs) {
  inputs_of_call_ = inputs;
  first_bad_ = -1;
  use_->begin(inputs.measures);
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
      return forward(id);
    case TaskKind::loss:
      return loss(one);
    case TaskKind::backward:
      return backward(id);
    case TaskKind::statistics:
      return statistics(one);
    case TaskKind::squares:
      return squares(id);
    case TaskKind::update:
      return update(id);
    case TaskKind::stash:
    case TaskKind::offload:
    case TaskKind::fetch:
      return copy_weights(id);
    case TaskKind::average:
      return average(id);
    case TaskKind::send:
    case TaskKind::broadcast:
      return send(id, board);
    case TaskKind::receive:
      return receive(id, board);
    case TaskKind::reduce:
      return reduce(id, board);
    case TaskKind::all_reduce:
      return all_reduce(id, board);
    case TaskKind::all_gather:
      return all_gather(id, board);
    case TaskKind::norm:
      return norm(id, board);
  }
  throw InternalError("the engine cannot execute a task of kind '" +
                      std::string(name_of(one.kind)) + "'");
}

void PlaceRunner::forward(schedule::TaskId id) {
  const Task& one = task(id);
  const auto& statistics = operands(id).batch_statistics;
  const auto& parameters = parameters_[static_cast<std::size_t>(slot_of(one))];
  for (const SliceTensors& slice : tensors_of(one).slices) {
    const auto& passes = one.kind == TaskKind::recompute ? slice.recompute : slice.forward;
    for (auto node = one.nodes.begin; node < one.nodes.end; ++node) {
      const auto index = static_cast<std::size_t>(node - plan().stage.nodes.begin);
      const NodePass& pass = passes[index];
      const Tensor of_batch = statistics.empty() ? Tensor() : statistics[index];
      use_->note(one, slice.ids, pass, parameters[index], constants_[index], of_batch);
      setup_.graph.nodes()[static_cast<std::size_t>(node)].layer->forward(
          context(node, slice.ids), {pass.inputs, parameters[index], pass.workspace, pass.output,
                                     constants_[index], of_batch});
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
  use_->note(one, args.prediction, args.target, args.sample_losses, args.sample_hits,
             args.d_prediction, args.totals);
  setup_.graph.loss().evaluate(setup_.lane.execution(), args, averaged_samples(one.update));
  if (!setup_.lane.host_accessible()) {
    const auto offset = static_cast<std::size_t>(one.micro_batch) * args.totals.bytes();
    std::byte* const staged = buffers_.at(*buffers_.find(BufferKind::staged_totals)) + offset;
    use_->note_bytes(one, staged, args.totals.bytes());
    setup_.lane.copy_to_host(staged, args.totals.raw(), args.totals.bytes(),
                             "zygos::train::copy_totals");
  }
}

void PlaceRunner::backward(schedule::TaskId id) {
  const Task& one = task(id);
  const Tensors& tensors = tensors_of(one);
  if (setup_.schedule.chunk > 0) {
    return backward_in_chunks(id);
  }
  if (tensors.slices.empty() && !one.accumulates) {
    return zero_gradients_of(one.nodes, 0);
  }
  for (std::size_t i = 0; i < tensors.slices.size(); ++i) {
    backward_slice(id, i, d_parameters_.front(), one.accumulates);
  }
}

void PlaceRunner::backward_in_chunks(schedule::TaskId id) {
  const Task& one = task(id);
  const Tensors& tensors = tensors_of(one);
  const auto planned = schedule::slices_of(one.samples, setup_.schedule.chunk);
  for (std::size_t i = 0; i < planned.size(); ++i) {
    const auto& leaf = plan().tree.leaves.at(planned[i].begin / setup_.schedule.chunk);
    if (i < tensors.slices.size()) {
      backward_slice(id, i, d_parameters_[static_cast<std::size_t>(leaf.slot)], false);
    } else {
      zero_gradients_of(one.nodes, leaf.slot);
    }
    for (const auto& merge : leaf.merges) {
      const auto& into = d_parameters_[static_cast<std::size_t>(merge.into)];
      const auto& from = d_parameters_[static_cast<std::size_t>(merge.from)];
      for (auto node = one.nodes.begin; node < one.nodes.end; ++node) {
        const auto index = static_cast<std::size_t>(node - plan().stage.nodes.begin);
        use_->note(one, into[index], from[index]);
        for (std::size_t k = 0; k < into[index].size(); ++k) {
          add_to(setup_.lane.execution(), into[index][k], from[index][k]);
        }
      }
    }
  }
}

void PlaceRunner::backward_slice(schedule::TaskId id, std::size_t number,
                                 std::span<const std::vector<Tensor>> d_parameters,
                                 bool accumulates) {
  const Task& one = task(id);
  const SliceTensors& slice = tensors_of(one).slices[number];
  const TaskOperands& named = operands(id);
  const auto slice_number = static_cast<std::int64_t>(number);
  const auto& parameters = parameters_[static_cast<std::size_t>(slot_of(one))];
  for (auto node = one.nodes.end; node-- > one.nodes.begin;) {
    const auto index = static_cast<std::size_t>(node - plan().stage.nodes.begin);
    const NodeBackward& bound = slice.backward[index];
    if (!bound.runs) {
      continue;
    }
    const Tensor of_batch =
        named.batch_statistics.empty() ? Tensor() : named.batch_statistics[index];
    const Tensor own = named.own_statistics.empty()
                           ? Tensor()
                           : rows_of(named.own_statistics[index], slice_number, 1);
    use_->note(one, slice.ids, bound, parameters[index], d_parameters[index], constants_[index],
               of_batch, own);
    setup_.graph.nodes()[static_cast<std::size_t>(node)].layer->backward(
        context(node, slice.ids),
        {bound.pass.inputs, parameters[index], bound.pass.workspace, bound.pass.output,
         bound.d_output, bound.d_inputs, d_parameters[index], accumulates,
         averaged_samples(update_of(setup_.schedule, one.samples)), constants_[index], of_batch,
         own});
    for (const auto& [part, whole] : bound.added) {
      add_to(setup_.lane.execution(), whole, part);
    }
  }
}

void PlaceRunner::zero_gradients() const {
  for (std::int32_t slot = 0; slot < buffers_.slots_of(BufferKind::gradients); ++slot) {
    for (const Elements& elements : buffers_.held(BufferKind::gradients, slot)) {
      fill_with_zeros(setup_.lane.execution(), elements.tensor);
    }
  }
  clear_bad();
}

void PlaceRunner::zero_gradients_of(schedule::NodeRange nodes, std::int32_t slot) const {
  const auto& d_parameters = d_parameters_[static_cast<std::size_t>(slot)];
  for (auto node = nodes.begin; node < nodes.end; ++node) {
    for (const Tensor& d_parameter :
         d_parameters[static_cast<std::size_t>(node - plan().stage.nodes.begin)]) {
      fill_with_zeros(setup_.lane.execution(), d_parameter);
    }
  }
}

void PlaceRunner::copy_weights(schedule::TaskId id) const {
  use_->note(task(id), operands(id).target().tensor, operands(id).source().tensor);
  copy_elements(setup_.lane, operands(id).target(), operands(id).source());
}

void PlaceRunner::average(schedule::TaskId id) const {
  if (inputs_of_call_.step % static_cast<std::uint64_t>(task(id).every) != 0) {
    return;
  }
  const Tensor& current = operands(id).write(BufferKind::weights).tensor;
  double versions = 0.0;
  for (const Elements& version : operands(id).reads) {
    use_->note(task(id), version.tensor);
    if (version.slot > 0) {
      add_to(setup_.lane.execution(), current, version.tensor);
    }
    versions += 1.0;
  }
  scale_by(setup_.lane.execution(), current, 1.0 / versions);
}

double PlaceRunner::sum_of_totals(std::size_t which) const {
  const plan::PlannedBuffer* planned = buffers_.find(
      setup_.lane.host_accessible() ? BufferKind::loss_totals : BufferKind::staged_totals);
  if (planned == nullptr) {
    return 0.0;
  }
  const auto* totals = reinterpret_cast<const double*>(buffers_.at(*planned));
  double sum = 0.0;
  for (std::size_t i = 0; i < micro_batches_.size(); ++i) {
    sum += mine_[i] ? totals[nn::loss_totals * i + which] : 0.0;
  }
  return sum;
}

std::vector<Tensor> PlaceRunner::predictions() const {
  std::vector<Tensor> out;
  for (std::size_t i = 0; i < micro_batches_.size() && plan().stage.is_last; ++i) {
    if (mine_[i]) {
      out.push_back(micro_batches_[i].outputs.back());
    }
  }
  return out;
}

}  // namespace zygos::train
