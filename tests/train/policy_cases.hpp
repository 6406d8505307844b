// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Every policy that gives the gradient of the undivided batch, and the lanes that it takes.
#pragma once

#include "policy_models.hpp"
#include "small_run.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zygos::test {

inline lane::LaneSpec worker(const std::string& name) {
  lane::LaneSpec spec;
  spec.name = name;
  spec.kind = lane::Kind::emulated;
  spec.unified = name == "worker2";
  return spec;
}

/// A host, and as many others as make `count`: with memory of their own, but for the second.
inline std::vector<lane::LaneSpec> workers(int count) {
  std::vector<lane::LaneSpec> specs{host_lane()};
  for (int i = 1; i < count; ++i) {
    specs.push_back(worker("worker" + std::to_string(i)));
  }
  return specs;
}

/// ThreadSanitizer takes ten times as long, and three lanes show it what two and four do.
inline std::vector<int> lane_counts() {
#ifdef __SANITIZE_THREAD__
  return {3};
#else
  return {2, 3, 4};
#endif
}

/// All of them; the first one under ThreadSanitizer, where what lanes do side by side is the same
/// for the others.
template <class T>
std::vector<T> or_first(std::vector<T> all) {
#ifdef __SANITIZE_THREAD__
  all.resize(1);
#endif
  return all;
}

/// A policy with options, for models that are cut where `CutModel` says.
struct PolicyCase {
  std::string name;
  int lanes;
  train::PolicyPtr policy;
  bool has_strict_mode = true;
};

/// The policy with plan::Problem::accumulate, which a deck calls train.accumulate.
class Accumulating final : public train::Policy {
 public:
  Accumulating(train::PolicyPtr policy, std::int64_t micro_batches)
      : policy_(std::move(policy)), micro_batches_(micro_batches) {}
  std::string_view keyword() const override { return policy_->keyword(); }
  schedule::Schedule schedule(const plan::Problem& problem,
                              const plan::Profile* profile) const override {
    plan::Problem accumulated = problem;
    accumulated.accumulate = micro_batches_;
    return policy_->schedule(accumulated, profile);
  }

 private:
  train::PolicyPtr policy_;
  std::int64_t micro_batches_;
};

inline train::PolicyPtr accumulating(train::PolicyPtr policy, std::int64_t micro_batches) {
  return std::make_shared<Accumulating>(std::move(policy), micro_batches);
}

inline std::vector<PolicyCase> synchronous_policies(const CutModel& model, bool strict = false) {
  using policies::Exchange;
  using policies::Recompute;
  const policies::StageOptions two{.cuts = model.two, .lanes = {}};
  const policies::StageOptions three{.cuts = model.three, .lanes = {}};
  const policies::StageOptions four{.cuts = model.four, .lanes = {}};
  std::vector<PolicyCase> cases{
      {"single, micro-batches", 1, policies::single({.place = {}, .micro_batches = 4})},
      {"coarse_split at 15", 2, policies::coarse_split({.share = {}, .samples = 15})},
      {"coarse_split at 35", 2, policies::coarse_split({.share = {}, .samples = 35})},
      {"coarse_split, 3 lanes", 3,
       policies::coarse_split({.share = {}, .samples = {}, .shares = {2.0, 1.0, 5.0}})},
      {"coarse_split, micro-batches", 2,
       policies::coarse_split({.share = {}, .samples = 15, .micro_batches = 2})},
      {"coarse_split, 3 lanes, micro-batches", 3,
       policies::coarse_split(
           {.share = {}, .samples = {}, .shares = {2.0, 1.0, 5.0}, .micro_batches = 3})},
      {"multi_worker_mirrored, accumulating", 3,
       accumulating(policies::multi_worker_mirrored(), 2)},
      {"zero_offload, accumulating", 2,
       accumulating(policies::zero_offload({.owner = {}, .bucket_bytes = 500}), 3)},
      {"zero_offload, 3 lanes, accumulating", 3,
       accumulating(policies::zero_offload({.owner = {}, .bucket_bytes = 500}), 2),
       /*has_strict_mode=*/false},
      {"cotrain, accumulating", 2,
       accumulating(policies::cotrain({.owner = {}, .bucket_bytes = 500, .device_layers = 1.4}), 2),
       /*has_strict_mode=*/false},
      {"layer_placement, 2 lanes", 2, policies::layer_placement({.stages = two})},
      {"layer_placement, 3 lanes", 3, policies::layer_placement({.stages = three})},
      {"gpipe, 4 lanes", 4, policies::gpipe({.micro_batches = 8, .stages = four})},
      {"one_f_one_b, 2 lanes", 2, policies::one_f_one_b({.micro_batches = 4, .stages = two})},
      {"one_f_one_b, 4 lanes", 4, policies::one_f_one_b({.micro_batches = 8, .stages = four})},
      {"one_f_one_b, recompute", 3,
       policies::one_f_one_b({.micro_batches = 8, .recompute = true, .stages = three})},
      {"data_parallel, micro-batches", 2,
       policies::data_parallel({.shares = {}, .micro_batches = 2})},
  };
  for (const bool forwards_first : {false, true}) {
    const auto beside = [&](const Names& cuts, Names lanes, bool recompute) {
      return policies::SplitPipelineOptions{.stages = {.cuts = cuts, .lanes = std::move(lanes)},
                                            .micro_batches = 4,
                                            .forwards_first = forwards_first,
                                            .recompute = recompute};
    };
    const auto split = [](std::vector<double> shares, policies::SplitPipelineOptions pipeline) {
      return policies::coarse_split({.share = {},
                                     .samples = {},
                                     .shares = std::move(shares),
                                     .pipeline = std::move(pipeline)});
    };
    cases.push_back({"coarse_split, pipeline of two", 3,
                     split({3.0, 5.0}, beside(model.two, {"worker1", "worker2"}, false))});
    cases.push_back({"coarse_split, pipeline with the host", 3,
                     split({5.0, 3.0}, beside(model.two, {"worker2", "host"}, true))});
    cases.push_back(
        {"coarse_split, pipeline of three", 4,
         split({1.0, 7.0}, beside(model.three, {"worker1", "worker2", "worker3"}, true))});
    cases.push_back({"coarse_split, two replicas and a pipeline", 4,
                     split({2.0, 5.0, 1.0}, beside(model.two, {"worker1", "worker3"}, false))});
    cases.push_back(
        {"coarse_split, accumulating beside a pipeline", 3,
         accumulating(split({5.0, 3.0}, beside(model.two, {"worker1", "worker2"}, true)), 4)});
  }
  cases.push_back({"hippie, one replica", 3,
                   policies::hippie({.replicas = 1, .micro_batches = 8, .stages = three})});
  cases.push_back({"hippie, four lanes", 4,
                   policies::hippie({.replicas = 2, .micro_batches = 4, .stages = two})});
  cases.push_back(
      {"hippie, unequal shares", 4,
       policies::hippie({.replicas = 2, .micro_batches = 2, .stages = two, .shares = {1.0, 2.5}})});
  cases.push_back({"hippie, three stages of a replica on two lanes", 4,
                   policies::hippie({.replicas = 2, .micro_batches = 3, .stages = three})});
  for (const int lanes : lane_counts()) {
    cases.push_back({"hippie, a lane for a replica", lanes,
                     policies::hippie({.replicas = lanes, .micro_batches = 2, .stages = two})});
    cases.push_back({"mirrored", lanes, policies::mirrored()});
    cases.push_back({"multi_worker_mirrored", lanes, policies::multi_worker_mirrored()});
    cases.push_back({"central_storage", lanes,
                     policies::central_storage({.server = "worker1", .bucket_bytes = 500}),
                     lanes == 2});
    cases.push_back({"central_storage, a server that trains", lanes,
                     policies::central_storage(
                         {.server = "worker1", .server_trains = true, .bucket_bytes = 500})});
    cases.push_back({"zero_offload", lanes,
                     policies::zero_offload({.owner = {}, .bucket_bytes = 500}),
                     /*has_strict_mode=*/lanes == 2});
    cases.push_back({"zero_offload, weights on the host", lanes,
                     policies::zero_offload(
                         {.owner = {}, .bucket_bytes = 500, .weights = schedule::Tier::host}),
                     /*has_strict_mode=*/false});
    cases.push_back({"cotrain, a layer shared", lanes,
                     policies::cotrain({.owner = {}, .bucket_bytes = 500, .device_layers = 1.4}),
                     /*has_strict_mode=*/false});
    cases.push_back({"cotrain", lanes,
                     policies::cotrain({.owner = {}, .bucket_bytes = 500, .device_layers = 1}),
                     /*has_strict_mode=*/lanes == 2});
  }
  for (const auto recompute : {Recompute::never, Recompute::except_last, Recompute::always}) {
    cases.push_back({"gpipe, 2 lanes", 2,
                     policies::gpipe({.micro_batches = 4, .recompute = recompute, .stages = two})});
  }
  for (const int lanes : lane_counts()) {
    cases.push_back({"data_parallel, chunked broadcast", lanes,
                     policies::data_parallel({.exchange = Exchange::chunked_broadcast,
                                              .shares = {},
                                              .micro_batches = 2,
                                              .chunks = 3})});
  }
  for (const auto exchange :
       {Exchange::ring, Exchange::sharded, Exchange::all_reduce, Exchange::central}) {
    for (const int lanes : lane_counts()) {
      cases.push_back(
          {"data_parallel " + std::to_string(static_cast<int>(exchange)), lanes,
           policies::data_parallel({.exchange = exchange, .shares = {}, .bucket_bytes = 500})});
    }
  }
  std::erase_if(cases, [&](const PolicyCase& one) { return strict && !one.has_strict_mode; });
  return cases;
}

}  // namespace zygos::test
