// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Several ways to run one deck, trained side by side on the same samples.
#pragma once

#include "app/console.hpp"
#include "app/plan/plan_ways.hpp"
#include "app/run/run_setup.hpp"

#include "zygos/io/checkpoint_store.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace zygos::app {

/// Of a contest that is long enough for them.
inline constexpr std::int64_t max_rounds = 5;

/// One way and what was seen of it.
struct Contender {
  Way way;
  plan::Candidate predicted;
  bool is_predicted = true;  ///< false: a lane's costs are not known
  std::vector<double> step_s;
  std::vector<double> round_s;  ///< the median step of each round
  std::vector<double> idle;     ///< by step: share of the active places' time without computing
  std::vector<double> exposed_exchange_s;   ///< by step, of the stage that has most
  std::vector<double> exposed_broadcast_s;  ///< by step, of the place that has most
  std::int64_t steps = 0;                   ///< done
  std::int64_t moved_bytes = 0;             ///< between places, in all of them
  double loss = 0.0;                        ///< of the first batch, after the last step
  std::string weights_xxh64;
  std::vector<train::LaneUsage> memory;
  io::Checkpoint state;  ///< between rounds

  /// Between places in a step, the mean of all steps.
  std::int64_t step_bytes() const;
  double median_step_s() const;
  double median_idle() const;
};

/// Who runs after whom: a permutation of 0 to `contenders` - 1, the same whenever it is asked for.
std::vector<std::size_t> order_of_round(std::size_t contenders, std::int64_t round);

/// Trains every contender for so many steps, in rounds (b, a, c, a, c, b, ...) whose order is drawn
/// anew: a machine that gets slower hits all alike, and none always runs behind the same one, which
/// may leave cores idle and clocks low. One engine lives at a time: all have the lanes' whole
/// budgets. All see the same samples in the same order. Throws StoppedEarly.
void run_contest(const RunSetup& setup, std::vector<Contender>& contenders, std::int64_t steps,
                 Console& console);

/// Contenders that were at least as fast as `best` in a round or more, the fastest ones first: a
/// sign test, for of two that are equally fast one wins five rounds of five by chance once in 16
/// contests. Nothing after fewer than max_rounds, which can't tell.
std::vector<std::size_t> not_told_apart(const std::vector<Contender>& contenders, std::size_t best);

}  // namespace zygos::app
