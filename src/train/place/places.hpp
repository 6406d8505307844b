// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/place/place_state.hpp"

#include "zygos/comm/communicator.hpp"
#include "zygos/lane/lane_set.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace zygos::train {

/// The places of a schedule, and which of them are on this process.
struct Places {
  lane::LaneSet &lanes;
  const schedule::Schedule &schedule;
  comm::Communicator *ranks = nullptr;              ///< null if this process has all lanes
  std::vector<int> owners{};                        ///< rank of every place, where there are ranks
  std::vector<std::size_t> active{};                ///< of this process, that take part
  std::vector<std::unique_ptr<PlaceState>> here{};  ///< by place; null if idle or not here

  std::size_t count() const { return schedule.places.size(); }
  lane::Lane &lane(std::size_t place) const {
    return lanes[schedule.lane_of(static_cast<schedule::Place>(place))];
  }
  bool is_here(std::size_t place) const { return !lane(place).is_remote(); }
  /// Throws UsageError for a place that takes no part.
  const PlaceState &at(std::size_t place) const;
};

/// Elements of a floating-point type, copied from a lane.
std::vector<double> doubles_of(const std::vector<std::byte> &host, DType dtype);
/// Copies of a place's tensor.
std::vector<std::byte> to_host(const Places &places, std::size_t place, const Tensor &tensor);
std::vector<double> to_doubles(const Places &places, std::size_t place, const Tensor &tensor);

}  // namespace zygos::train
