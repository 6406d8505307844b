// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Two places with costs one can work out by hand.
#pragma once

#include "zygos/plan/problem.hpp"
#include "zygos/plan/profile.hpp"
#include "zygos/schedule/schedule.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace zygos::test {

/// host (host-accessible) and device (not).
inline plan::Problem two_place_problem(std::int64_t batch) {
  return {{{"host", lane::Kind::host, true}, {"device", lane::Kind::emulated, false}}, batch, 3};
}

/// Two passes, an exchange and two updates; all of the batch on one place if the other has none.
inline schedule::Schedule split_schedule(std::int64_t batch, std::int64_t first) {
  const bool split = first > 0 && first < batch;
  schedule::ScheduleBuilder builder("coarse_split", {"host", "device"}, batch, 3);
  const auto pass = [&](schedule::Place place, schedule::SampleRange samples) {
    if (samples.count() == 0) {
      return;
    }
    builder.load(place, samples, place == 0);
    if (place == 1) {
      builder.copy(place, samples);
    }
    builder.forward(place, samples);
    builder.loss(place, samples);
    builder.backward(place, samples);
    if (!split) {
      builder.update(place, false);
    }
  };
  pass(0, {0, first});
  pass(1, {first, batch});
  if (split) {
    builder.send(0);
    builder.send(1);
    builder.all_reduce(std::array<schedule::Place, 2>{0, 1});
    builder.update(0, true);
    builder.update(1, true);
  }
  return std::move(builder).build();
}

inline plan::Curve line(double seconds_per_sample) {
  plan::Curve curve;
  curve.add(1, seconds_per_sample);
  curve.add(2, 2 * seconds_per_sample);
  return curve;
}

inline plan::Curve constant(double seconds) {
  plan::Curve curve;
  curve.add(1, seconds);
  return curve;
}

/// A sample takes `host_s` and `device_s` seconds, half of it in forward and half in backward;
/// `exchange_s` per send and per all-reduce; everything else is free.
inline plan::Profile linear_profile(double host_s, double device_s, double exchange_s = 0.0) {
  using schedule::TaskKind;
  plan::Profile profile;
  for (const double sample_s : {host_s, device_s}) {
    plan::PlaceProfile place;
    for (const TaskKind kind : {TaskKind::load, TaskKind::copy, TaskKind::loss, TaskKind::update}) {
      place.alone[kind] = constant(0.0);
    }
    for (const TaskKind kind : {TaskKind::forward, TaskKind::backward}) {
      place.alone[kind] = line(sample_s / 2);
    }
    for (const TaskKind kind : {TaskKind::send, TaskKind::all_reduce}) {
      place.together[kind] = constant(exchange_s);
    }
    profile.places.push_back(place);
  }
  return profile;
}

}  // namespace zygos::test
