// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zygos::app {

/// A key of the deck and the values that it takes in turn.
struct SweepAxis {
  std::string key;
  std::vector<std::string> values;
};

/// One training of a sweep.
struct SweepRun {
  std::string name;                   ///< of its folder: "width=64_rate=0.001_seed=2"
  std::vector<std::string> values;    ///< by axis
  std::optional<std::uint64_t> seed;  ///< where the sweep has several
};

struct SweepPlan {
  std::vector<SweepAxis> axes;      ///< of more than one value
  std::vector<std::string> labels;  ///< short names of their keys: "width"
  std::vector<std::string> fixed;   ///< overrides of every run
  std::vector<SweepRun> runs;       ///< the last axis changes fastest, seeds faster still
  std::int64_t seeds = 1;

  /// Of run number `run`, but for its seed.
  std::vector<std::string> overrides_of(std::size_t run) const;
  std::vector<std::string> overrides_with_seed(std::size_t run) const;
  std::size_t settings() const { return runs.size() / static_cast<std::size_t>(seeds); }
};

inline constexpr std::size_t max_sweep_runs = 10'000;

/// `words` are "key=a,b,c" (commas in brackets, braces and quotes separate nothing); a key with one
/// value is an override of every run. `seeds` runs of each combination have the seeds `first_seed`
/// and those after it. Throws UsageError for what is no sweep.
SweepPlan sweep_plan(const std::vector<std::string>& words, std::int64_t seeds,
                     std::uint64_t first_seed);

}  // namespace zygos::app
