// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/engine_impl.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace zygos::train {
namespace {

bool all_finite(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

}  // namespace

void Engine::Impl::require_training() const {
  if (!trains()) {
    throw UsageError(
        "this schedule has no backward pass: it evaluates, and has neither steps nor gradients");
  }
}

void Engine::Impl::check_batch(const Batch& batch) const {
  if (batch.samples() < 1 || batch.samples() > schedule.batch) {
    throw UsageError("a batch of " + std::to_string(batch.samples()) +
                     " samples was given; this schedule takes 1 to " +
                     std::to_string(schedule.batch));
  }
  const std::int64_t features = graph.input_shape().size();
  if (batch.inputs.row_elements != features) {
    throw UsageError("samples have " + std::to_string(batch.inputs.row_elements) +
                     " values each; the model takes " + std::to_string(features) + " " +
                     graph.input_shape().text());
  }
  if (batch.targets.row_elements != target.shape.size()) {
    throw UsageError("targets have " + std::to_string(batch.targets.row_elements) +
                     " values each; the model's loss takes " + std::to_string(target.shape.size()));
  }
  if (!batch.rows.empty() && batch.rows.size() != batch.ids.size()) {
    throw UsageError(std::to_string(batch.rows.size()) + " rows were given for " +
                     std::to_string(batch.ids.size()) + " samples; give one for each, or none");
  }
  const auto largest = static_cast<std::int64_t>(*std::ranges::max_element(batch.places()));
  if (largest >= batch.inputs.samples || largest >= batch.targets.samples) {
    throw UsageError("sample id " + std::to_string(largest) + " is not below the " +
                     std::to_string(std::min(batch.inputs.samples, batch.targets.samples)) +
                     " samples there are");
  }
}

void Engine::Impl::rethrow_failure() {
  if (!abort.load()) {
    return;
  }
  abort.store(false);
  whole = false;
  const auto lost_peer = std::exchange(peer_failure, nullptr);
  for (std::size_t line = 0; line < failures.size(); ++line) {
    Failure& failure = failures[line];
    if (failure.cause == nullptr) {
      continue;
    }
    const std::size_t place = place_of_line(line);
    const auto cause = std::exchange(failure.cause, nullptr);
    const std::string task = schedule.name_of(failure.task);
    try {
      std::rethrow_exception(cause);
    } catch (const Error& error) {
      throw LaneError(error.code(), lanes[place].name(), task, error.what());
    } catch (const std::bad_alloc&) {
      throw LaneError(ExitCode::memory, lanes[place].name(), task, "out of memory");
    } catch (const std::exception& error) {
      throw LaneError(ExitCode::bug, lanes[place].name(), task, error.what());
    }
  }
  if (lost_peer != nullptr) {
    std::rethrow_exception(lost_peer);
  }
}

bool Engine::Impl::has_bad_gradient() const {
  for (std::size_t place = 0; place < lanes.size(); ++place) {
    if (totals[totals_of_place * place + 3] > 0.0) {
      return true;
    }
  }
  return false;
}

void Engine::Impl::fail_numerically(double loss) {
  const std::string found = std::isfinite(loss) ? first_bad_gradient() : first_bad_output();
  throw NumericError("step " + std::to_string(inputs.step) + ": the loss is " +
                     std::to_string(loss) + found +
                     ". Lower the learning rate, or look for bad values in the data; the last "
                     "checkpoint is untouched");
}

/// The update has left alone whatever had a bad gradient, so the step's forward can be gone through
/// once more, with a look at every output. Before that nobody looks: it would cost a pass over all
/// activations in every step.
std::string Engine::Impl::first_bad_output() {
  StepInputs again = inputs;
  again.examines = true;
  again.measures = false;
  run_round(again);
  const std::string found =
      first_of_all(true, [&](std::size_t place) { return states[place]->first_bad; });
  return found.empty() ? "; every layer's output is finite, so it arose in the loss"
                       : "; the first layer with a value that is not finite is " + found;
}

std::string Engine::Impl::first_bad_gradient() {
  const std::string found =
      first_of_all(false, [&](std::size_t place) { return last_bad_gradient(place); });
  return found.empty() ? ", but the gradient of an update was not finite"
                       : ", but a gradient is not finite; going back through the layers, the first "
                         "with such a one is " +
                             found;
}

std::int32_t Engine::Impl::last_bad_gradient(std::size_t place) {
  const PlaceState& state = *states[place];
  const std::vector<Elements> held = state.buffers.held(gradient_kind(state));
  const schedule::NodeRange nodes = schedule.nodes_of(static_cast<schedule::Place>(place));
  for (auto node = nodes.end; node-- > nodes.begin;) {
    for (const graph::Parameter& parameter : graph.parameters_of(node)) {
      const schedule::ElementRange elements{parameter.offset,
                                            parameter.offset + parameter.shape.size()};
      const auto found = std::ranges::find_if(held, [&](const Elements& one) {
        return one.range.begin <= elements.begin && elements.end <= one.range.end;
      });
      if (found != held.end() && !all_finite(to_doubles(place, found->part(elements)))) {
        return node;
      }
    }
  }
  return -1;
}

template <class Found>
std::string Engine::Impl::first_of_all(bool onward, Found&& found) {
  // Nodes in their order or against it, then places: the largest distance to the end is the first
  // of all ranks.
  const auto places = static_cast<std::int64_t>(lanes.size());
  const auto count = std::ssize(graph.nodes());
  const auto turned = [&](std::int64_t node) { return onward ? node : count - 1 - node; };
  std::array<std::int64_t, 1> before_end{0};
  for (const std::size_t place : active) {
    const std::int64_t node = found(place);
    if (node >= 0) {
      before_end[0] = std::max(before_end[0],
                               (count - turned(node)) * places - static_cast<std::int64_t>(place));
    }
  }
  if (rank_messages != nullptr) {
    options.communicator->max(before_end);
  }
  if (before_end[0] == 0) {
    return {};
  }
  const std::int64_t first = count * places - before_end[0];
  return "'" + graph.nodes()[static_cast<std::size_t>(turned(first / places))].name +
         "' on lane '" + lanes[static_cast<std::size_t>(first % places)].name() + "'";
}

}  // namespace zygos::train
