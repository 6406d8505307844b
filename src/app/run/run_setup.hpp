// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/kokkos_session.hpp"
#include "app/signals.hpp"

#include "zygos/core/machine.hpp"
#include "zygos/graph/graph.hpp"
#include "zygos/io/batch_feed.hpp"
#include "zygos/io/dataset.hpp"
#include "zygos/io/stored_tensor.hpp"
#include "zygos/lane/lane_set.hpp"
#include "zygos/nn/optimizer.hpp"
#include "zygos/plan/cards.hpp"
#include "zygos/plan/memory_plan.hpp"
#include "zygos/train/policy.hpp"
#include "zygos/train/problem.hpp"
#include "zygos/train/trainer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zygos::app {

/// What becomes of activations between forward and backward.
struct ActivationChoice {
  std::vector<schedule::KeptNodes> nodes;
  int prefetch = 1;
  std::string text;  ///< "4 layers recomputed"; empty: everything is kept
};

/// Everything a run consists of, built from a checked deck. Members are in the order of their
/// making: Kokkos outlives the lanes, the lanes outlive whatever runs on them.
struct RunSetup {
  std::string name;           ///< of the deck: the run's folder is called so
  std::string resolved_deck;  ///< YAML with every default written out
  std::unique_ptr<KokkosSession> kokkos;
  std::unique_ptr<lane::LaneSet> lanes;
  std::unique_ptr<graph::Graph> graph;
  std::vector<io::StoredTensor> pretrained{};   ///< weights to begin with, by parameters' names
  std::vector<std::string> frozen_as_loaded{};  ///< layers, by `pretrained.freeze: loaded`
  nn::OptimizerPtr optimizer;
  nn::RateSchedulePtr rates;  ///< null: the learning rate stays
  train::PolicyPtr policy;
  DType dtype = DType::f32;
  bool tf32 = false;           ///< `precision: tf32`
  bool device_graphs = false;  ///< of the deck
  plan::TargetSpec target;
  io::Dataset training;
  std::optional<io::Dataset> test;     ///< what is evaluated on
  std::vector<std::string> metrics{};  ///< `train.metrics`
  bool validates = false;              ///< that was split off the training samples
  io::Dataset first_samples;  ///< a batch of them, in memory: what measurements are made with
  std::vector<std::uint32_t> first_batch;  ///< their ids
  train::TrainerOptions trainer;
  std::int64_t chunk = 0;                      ///< strict mode: see plan::Problem::chunk
  std::int64_t accumulate = 0;                 ///< see plan::Problem::accumulate
  std::optional<bool> double_buffer{};         ///< `train.double_buffer`; none: auto
  std::optional<bool> streams_checkpoints{};   ///< `checkpoint.copy`; none: auto
  ActivationChoice activations;                ///< `memory_plan` of the deck, resolved
  schedule::LinkCodecs codecs;                 ///< `link_precision`, likewise
  io::Keep keep;                               ///< which checkpoints stay
  std::size_t host_budget_bytes = 0;           ///< `memory_plan.host_memory`; 0: none
  double disk_bytes_per_second = 0.0;          ///< `memory_plan.disk_bandwidth`; 0: not known
  std::filesystem::path spill_folder{};        ///< empty: that of the run, if it has one
  comm::Communicator* communicator = nullptr;  ///< null: this process has all lanes
  std::vector<int> owners;                     ///< rank of every lane, where there are several
  std::vector<std::string> homes;              ///< by lane: "rank 1 on node7"; likewise
  std::vector<int> on_this_host;               ///< ranks; likewise
  bool unmeasured = false;                     ///< no profile is taken, nothing is compared
  const plan::Card* assumed_card =
      nullptr;                           ///< what lanes that are no host are treated as, in a plan
  const SignalGuard* signals = nullptr;  ///< measurements end with StoppedEarly if it says so

  /// What policies may know of the run.
  plan::Problem problem() const {
    plan::Problem problem = train::problem_of(*graph, *lanes, dtype, target, trainer.batch, chunk);
    problem.accumulate = accumulate;
    problem.batch_slots = batch_slots();
    problem.clips = optimizer->clip_norm().has_value();
    problem.optimizer_states = std::ssize(optimizer->state_names());
    problem.activations = activations.nodes;
    problem.prefetch = activations.prefetch;
    problem.codecs = codecs;
    problem.one_bit = optimizer->one_bit_steps();
    for (std::size_t place = 0; place < owners.size(); ++place) {
      problem.places[place].rank = owners[place];
    }
    for (plan::PlaceInfo& place : problem.places) {
      if (is_assumed(place)) {
        place.kind = lane::Kind::device;
        place.host_accessible = false;
        place.budget_bytes = static_cast<std::size_t>(assumed_card->memory_bytes);
      }
    }
    return problem;
  }
  /// See plan::Problem::batch_slots.
  std::int32_t batch_slots() const {
    return double_buffer.value_or(assumed_card != nullptr || has_device_lane()) ? 2 : 1;
  }
  bool has_device_lane() const {
    bool found = false;
    for (std::size_t lane = 0; lane < lanes->size(); ++lane) {
      found = found || (*lanes)[lane].spec().kind == lane::Kind::device;
    }
    return found;
  }
  bool is_assumed(const plan::PlaceInfo& place) const {
    return assumed_card != nullptr && place.kind != lane::Kind::host;
  }
  bool on_several_ranks() const { return communicator != nullptr; }
  bool reads_samples() const { return training.source != nullptr; }  ///< while training
  /// Host memory of batches that are read ahead of their steps, and of augmented ones.
  std::uint64_t feed_bytes() const {
    const io::FeedOptions trained{.batch = trainer.batch, .augmentation = trainer.augmentation};
    return io::feed_bytes(training, trained) +
           (test ? io::feed_bytes(*test, {.batch = trainer.batch}) : 0);
  }
  /// Host memory of all samples: those that are in memory, not in their file, and feed_bytes().
  std::uint64_t data_bytes() const {
    const auto bytes_of = [](const io::Dataset& data) {
      return data.source == nullptr ? data.inputs.bytes() + data.targets.bytes() : 0;
    };
    return bytes_of(training) + (test ? bytes_of(*test) : 0) +
           (reads_samples() ? bytes_of(first_samples) : 0) + feed_bytes();
  }
  /// Several ranks don't: measuring takes all lanes in one process.
  bool measures_lanes() const { return !unmeasured && !on_several_ranks(); }
  train::EngineOptions engine_options() const {
    train::EngineOptions options;
    options.dtype = dtype;
    options.tf32 = tf32;
    options.record_steps = device_graphs;
    options.seed = trainer.seed;
    options.communicator = communicator;
    options.owners = owners;
    options.rates = rates;
    options.spill_folder = spill_folder;
    options.host_budget_bytes = host_budget_bytes;
    const std::uint64_t usable = usable_memory();
    options.host_memory_bytes = usable - std::min(usable - 1, data_bytes());
    options.steps_per_epoch =
        train::steps_per_epoch(training.size(), trainer.batch, trainer.drop_last);
    return options;
  }
  /// Of `pretrained`, for engines and trainers.
  std::vector<io::TensorRef> first_weights() const {
    std::vector<io::TensorRef> refs;
    for (const io::StoredTensor& tensor : pretrained) {
      refs.push_back(tensor.ref());
    }
    return refs;
  }
  /// What the loss's score is called, "accuracy"; empty without one.
  std::string score_name() const {
    const auto score = graph->loss().score();
    return score ? std::string(score->name) : std::string();
  }
  /// What the set is called that is evaluated on.
  std::string held_out() const { return validates ? "validation" : "test"; }
  const io::Dataset* test_or_null() const { return test ? &*test : nullptr; }
};

}  // namespace zygos::app
