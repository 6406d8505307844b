// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Two places with costs one can work out by hand.
#pragma once

#include "zygos/plan/problem.hpp"
#include "zygos/plan/profile.hpp"
#include "zygos/schedule/builder.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace zygos::test {

/// A chain of nodes that each have 16 parameters and an output of 8 bytes.
inline schedule::ModelOutline chain(std::int32_t nodes) {
  schedule::ModelOutline model;
  model.input_bytes = 40;
  model.target_bytes = 4;
  for (std::int32_t node = 0; node < nodes; ++node) {
    schedule::NodeOutline outline;
    outline.name = "fc" + std::to_string(node + 1);
    outline.inputs = {node - 1};
    outline.parameters = {16 * node, 16 * (node + 1)};
    outline.output_bytes = 8;
    outline.flops = 64.0;
    model.nodes.push_back(outline);
  }
  return model;
}

/// host (host-accessible) and device (not), a chain of three nodes.
inline plan::Problem two_place_problem(std::int64_t batch) {
  plan::Problem problem;
  problem.places = {{"host", lane::Kind::host, true, 0},
                    {"device", lane::Kind::emulated, false, 0}};
  problem.batch = batch;
  problem.model = chain(3);
  return problem;
}

inline schedule::Outline two_place_outline(std::int64_t batch, std::string policy) {
  schedule::Outline outline;
  outline.policy = std::move(policy);
  outline.places = {{"host", true, 0}, {"device", false, 0}};
  outline.batch = batch;
  outline.model = chain(3);
  return outline;
}

/// Two passes, an exchange and two updates; all of the batch on one place if the other has none.
inline schedule::Schedule split_schedule(std::int64_t batch, std::int64_t first) {
  const bool split = first > 0 && first < batch;
  schedule::Outline outline = two_place_outline(batch, "coarse_split");
  if (split) {
    outline.micro_batches = {{0, first}, {first, batch}};
  } else {
    outline.places[first == 0 ? 0 : 1].stage = -1;
  }
  schedule::ScheduleBuilder builder(std::move(outline));
  const auto pass = [&](schedule::Place place, schedule::MicroBatch micro_batch) {
    builder.load(place, micro_batch);
    builder.forward(place, micro_batch);
    builder.loss(place, micro_batch);
    builder.backward(place, micro_batch);
  };
  if (!split) {
    const schedule::Place place = first == 0 ? 1 : 0;
    pass(place, 0);
    builder.update(place);
    return std::move(builder).build();
  }
  const std::array<schedule::Place, 2> places{0, 1};
  for (const schedule::Place place : places) {
    pass(place, place);
  }
  for (const schedule::Place place : places) {
    builder.send_gradients(place);
  }
  builder.all_reduce(places);
  for (const schedule::Place place : places) {
    builder.update(place);
  }
  return std::move(builder).build();
}

/// Node 0 on host, nodes 1 and 2 on device; `micro_batches` equal ones, all forward passes first.
inline schedule::Schedule pipeline_schedule(std::int64_t batch, std::int32_t micro_batches) {
  schedule::Outline outline = two_place_outline(batch, "pipeline");
  outline.stages = {{0, 1}, {1, 3}};
  outline.places[1].stage = 1;
  for (std::int32_t i = 0; i < micro_batches; ++i) {
    outline.micro_batches.push_back({batch * i / micro_batches, batch * (i + 1) / micro_batches});
  }
  schedule::ScheduleBuilder builder(std::move(outline));
  for (std::int32_t i = 0; i < micro_batches; ++i) {
    builder.load(0, i);
    builder.forward(0, i);
    builder.send_activations(0, i);
  }
  for (std::int32_t i = 0; i < micro_batches; ++i) {
    builder.load(1, i);
    builder.forward(1, i);
  }
  for (std::int32_t i = 0; i < micro_batches; ++i) {
    builder.loss(1, i);
    builder.backward(1, i);
    builder.send_activation_gradients(1, i);
    builder.backward(0, i);
  }
  builder.update(0);
  builder.update(1);
  return std::move(builder).build();
}

inline plan::Curve line(double seconds_per_unit) {
  plan::Curve curve;
  curve.add(1, seconds_per_unit);
  curve.add(2, 2 * seconds_per_unit);
  return curve;
}

inline plan::Curve constant(double seconds) {
  plan::Curve curve;
  curve.add(1, seconds);
  return curve;
}

/// Per node a third of half of `sample_s` in either direction, everything else free.
inline plan::PlaceCosts linear_costs(double sample_s, double exchange_s = 0.0) {
  using schedule::TaskKind;
  plan::PlaceCosts costs;
  for (const TaskKind kind : {TaskKind::load, TaskKind::copy, TaskKind::loss, TaskKind::update}) {
    costs.others[kind] = constant(0.0);
  }
  for (const TaskKind kind :
       {TaskKind::send, TaskKind::broadcast, TaskKind::receive, TaskKind::all_reduce}) {
    costs.others[kind] = constant(exchange_s);
  }
  costs.forward.assign(3, line(sample_s / 6));
  costs.backward.assign(3, line(sample_s / 6));
  return costs;
}

/// A sample takes `host_s` and `device_s` seconds, half of it in forward and half in backward;
/// `exchange_s` per message and per all-reduce; everything else is free.
inline plan::Profile linear_profile(double host_s, double device_s, double exchange_s = 0.0) {
  plan::Profile profile;
  profile.places = {{linear_costs(host_s, exchange_s), {}, true},
                    {linear_costs(device_s, exchange_s), {}, false}};
  return profile;
}

}  // namespace zygos::test
