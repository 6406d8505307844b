// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The schedule of a batch of ten on two places, host (3 samples) and device (7 samples, with a
// copy), made with the builder as a policy would. Task ids in the order of the list:
//
//   0 load@host    1 forward@host     2 loss@host       3 backward@host
//   4 load@device  5 copy@device      6 forward@device  7 loss@device    8 backward@device
//   9 send@host   10 send@device     11 all_reduce@host 12 all_reduce@device
//  13 update@host 14 update@device
#pragma once

#include "zygos/schedule/schedule.hpp"

#include <array>

namespace zygos::test {

inline schedule::Schedule two_place_split() {
  schedule::ScheduleBuilder builder("split", {"host", "device"}, 10, 3);
  const std::array<schedule::Place, 2> places{0, 1};
  builder.load(0, {0, 3}, true);
  builder.forward(0, {0, 3});
  builder.loss(0, {0, 3});
  builder.backward(0, {0, 3});
  builder.load(1, {3, 10}, false);
  builder.copy(1, {3, 10});
  builder.forward(1, {3, 10});
  builder.loss(1, {3, 10});
  builder.backward(1, {3, 10});
  builder.send(0);
  builder.send(1);
  builder.all_reduce(places);
  builder.update(0, true);
  builder.update(1, true);
  return std::move(builder).build();
}

}  // namespace zygos::test
