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
  for (const std::size_t line : lines) {
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

void Engine::Impl::fail_numerically(std::uint64_t step, double loss) {
  throw NumericError("step " + std::to_string(step) + ": the loss is " + std::to_string(loss) +
                     "; " + first_nonfinite() +
                     ". Lower the learning rate, or look for bad values in the data; the last "
                     "checkpoint is untouched");
}

bool Engine::Impl::is_finite(std::size_t place, std::int32_t node) {
  return std::ranges::all_of(runners[place]->outputs_of(node), [&](const Tensor& output) {
    return all_finite(to_doubles(place, output));
  });
}

std::string Engine::Impl::first_nonfinite() {
  // Nodes in their order, then places: the largest distance to the end is the first of all ranks.
  const auto places = static_cast<std::int64_t>(lanes.size());
  const auto end = std::ssize(graph.nodes()) * places;
  std::array<std::int64_t, 1> before_end{0};
  for (const std::size_t place : active) {
    const schedule::NodeRange nodes =
        schedule.stages[static_cast<std::size_t>(schedule.stage_of[place])];
    for (auto node = nodes.begin; node < nodes.end; ++node) {
      if (!is_finite(place, node)) {
        before_end[0] = std::max(before_end[0], end - node * places - std::int64_t(place));
        break;
      }
    }
  }
  if (rank_messages != nullptr) {
    options.communicator->max(before_end);
  }
  if (before_end[0] == 0) {
    return "every layer's output is finite, so it arose in the loss";
  }
  const std::int64_t found = end - before_end[0];
  return "the first layer with a value that is not finite is '" +
         graph.nodes()[static_cast<std::size_t>(found / places)].name + "' on lane '" +
         lanes[static_cast<std::size_t>(found % places)].name() + "'";
}

}  // namespace zygos::train
