// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/plan/partition.hpp"

#include <span>
#include <vector>

namespace zygos::plan {

struct StageCost {
  double compute_s = 0.0;
  double outgoing_s = 0.0;
  double incoming_s = 0.0;
  std::size_t bytes = 0;
  bool fits = true;
};

/// Costs of every possible stage, from tables made once.
class PartitionCosts {
 public:
  PartitionCosts(const Problem& problem, const Profile* profile, const PartitionRequest& request);

  /// `places` hold the stage together; the choice's own place and replicas follow from them.
  StageCost of(StageChoice choice, std::span<const schedule::Place> places) const;

 private:
  /// Bytes of a sample that cross the borders of a stage: activations, and those with gradients.
  struct Crossing {
    std::int64_t activations = 0;
    std::int64_t gradients = 0;
    void add(const schedule::NodeOutline& node);
  };

  std::vector<double> sums_of_work(schedule::Place place, std::int64_t samples) const;
  std::vector<double> sums_of_guesses() const;
  void fill_crossings();
  std::size_t cell(schedule::NodeRange nodes) const;
  double fixed_s(schedule::Place place, schedule::NodeRange nodes, std::int64_t samples) const;
  double transfer_s(schedule::TaskKind kind, schedule::Place place, std::int64_t bytes) const;
  double exchange_s(std::span<const schedule::Place> places, std::int64_t bytes) const;
  std::size_t bytes_of(const StageChoice& choice, std::int64_t samples) const;
  double seconds(const schedule::Task& task) const;

  const Problem& problem_;
  const Profile* profile_;
  const PartitionRequest& request_;
  std::int64_t samples_ = 0;
  std::vector<std::vector<std::vector<double>>> work_;  ///< [replicas - 1][place][nodes before]
  std::vector<std::int64_t> activation_bytes_;          ///< of a sample, by nodes before
  std::vector<Crossing> entering_, leaving_;            ///< by cell()
};

}  // namespace zygos::plan
