// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/contest/contest.hpp"

#include "app/run/fed_samples.hpp"
#include "core/median.hpp"

#include "zygos/plan/exposed_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <random>

namespace zygos::app {

namespace {

constexpr std::int64_t steps_of_a_round = 4;
/// Steps at the begin of a round that are not timed: memory is fresh, caches are cold.
constexpr std::int64_t cold_steps = 2;
/// Looking at where a step was idle takes longer than lanes wait for the next one before they
/// sleep, so it is done after every so many steps, and the step behind it is not timed.
constexpr std::int64_t steps_of_a_look = 4;

/// Those of the steps, and the batch that losses are compared on.
class Samples : public FedSamples {
 public:
  explicit Samples(const RunSetup& setup)
      : FedSamples(setup), setup_(setup), first_(io::rows_of(setup.first_samples)) {}

  train::Batch first_batch() const { return {first_.inputs, first_.targets, setup_.first_batch}; }

 private:
  const RunSetup& setup_;
  io::DatasetRows first_;
};

/// Share of the active lanes' time, between the first start and the last end of a step's tasks, in
/// which they computed nothing.
double idle_of(const std::vector<plan::TaskTime>& times, const schedule::Schedule& schedule) {
  double busy_s = 0.0;
  for (std::size_t task = 0; task < times.size(); ++task) {
    const bool computes = schedule.tasks[task].queue == schedule::Queue::compute;
    busy_s += computes ? times[task].end_s - times[task].start_s : 0.0;
  }
  const double span_s = std::ranges::max(times, {}, &plan::TaskTime::end_s).end_s -
                        std::ranges::min(times, {}, &plan::TaskTime::start_s).start_s;
  const double whole_s = span_s * static_cast<double>(schedule.active_lanes().size());
  return whole_s > 0.0 ? std::clamp(1.0 - busy_s / whole_s, 0.0, 1.0) : 0.0;
}

io::Checkpoint state_of(train::Engine& engine) {
  io::Checkpoint state;
  for (const io::TensorRef& ref : engine.snapshot()) {
    const auto* begin = static_cast<const std::byte*>(ref.data);
    const auto bytes = static_cast<std::size_t>(ref.shape.size()) * size_of(ref.dtype);
    state.tensors.push_back({ref.name, ref.dtype, ref.shape, {begin, begin + bytes}});
  }
  return state;
}

void look_at(const std::vector<plan::TaskTime>& times, Contender& contender) {
  const schedule::Schedule& done = contender.predicted.schedule;
  contender.idle.push_back(times.empty() ? 0.0 : idle_of(times, done));
  contender.exposed_exchange_s.push_back(
      times.empty() ? 0.0 : std::ranges::max(plan::exposed_exchange_s(done, times)));
  contender.exposed_broadcast_s.push_back(
      times.empty() ? 0.0 : std::ranges::max(plan::exposed_broadcast_s(done, times)));
}

/// Steps `first` to `last`.
void run_round(const RunSetup& setup, Contender& contender, Samples& samples, std::int64_t first,
               std::int64_t last) {
  train::Engine engine(*setup.graph, *setup.optimizer, *setup.lanes, contender.predicted.schedule,
                       setup.target, setup.engine_options());
  if (first == 1) {
    engine.initialise(setup.first_weights());
  } else {
    engine.restore(contender.state);
  }
  samples.seek(first, last);
  const auto timed_before = std::ssize(contender.step_s);
  std::int64_t first_timed = last - first + 1 > cold_steps ? first + cold_steps : first;
  for (std::int64_t step = first; step <= last; ++step) {
    if (setup.signals != nullptr && setup.signals->stop_requested()) {
      throw StoppedEarly();
    }
    engine.trace().clear();
    const train::Batch& batch = samples.next();
    const auto report = engine.step(batch, static_cast<std::uint64_t>(step), samples.behind());
    const schedule::Schedule& done = contender.predicted.schedule;
    ++contender.steps;
    contender.moved_bytes += done.traffic_bytes(compresses(done, static_cast<std::uint64_t>(step)));
    if (step < first_timed) {
      continue;
    }
    contender.step_s.push_back(report.seconds);
    if ((step - first) % steps_of_a_look == 0 || step == last) {
      look_at(train::newest_step(engine.trace(), done), contender);
      first_timed = step + 2;
    }
  }
  contender.round_s.push_back(
      median({contender.step_s.begin() + timed_before, contender.step_s.end()}));
  contender.memory = engine.memory();
  contender.state = state_of(engine);
  contender.weights_xxh64 = engine.weights_hash();
  contender.loss = engine.evaluate(samples.first_batch()).loss;
}

}  // namespace

std::int64_t Contender::step_bytes() const {
  return steps == 0 ? predicted.schedule.traffic_bytes() : moved_bytes / steps;
}

double Contender::median_step_s() const { return median(step_s); }

double Contender::median_idle() const { return median(idle); }

std::vector<std::size_t> order_of_round(std::size_t contenders, std::int64_t round) {
  std::vector<std::size_t> order(contenders);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(static_cast<std::mt19937::result_type>(round));
  std::ranges::shuffle(order, random);
  return order;
}

void run_contest(const RunSetup& setup, std::vector<Contender>& contenders, std::int64_t steps,
                 Console& console) {
  Samples samples(setup);
  const std::int64_t rounds = std::clamp<std::int64_t>(steps / steps_of_a_round, 1, max_rounds);
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (const std::size_t next : order_of_round(contenders.size(), round)) {
      Contender& contender = contenders[next];
      console.status(
          fmt::format("round {} of {}: {}", round + 1, rounds, contender.predicted.policy));
      run_round(setup, contender, samples, steps * round / rounds + 1,
                steps * (round + 1) / rounds);
    }
  }
}

std::vector<std::size_t> not_told_apart(const std::vector<Contender>& contenders,
                                        std::size_t best) {
  const std::vector<double>& winner = contenders[best].round_s;
  std::vector<std::size_t> others;
  if (std::ssize(winner) < max_rounds) {
    return others;
  }
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    const bool loses_all = std::ranges::equal(winner, contenders[i].round_s, std::less());
    if (i != best && !loses_all) {
      others.push_back(i);
    }
  }
  std::ranges::stable_sort(others, {},
                           [&](std::size_t i) { return contenders[i].median_step_s(); });
  return others;
}

}  // namespace zygos::app
