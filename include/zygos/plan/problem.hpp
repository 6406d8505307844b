// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/lane/lane.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace zygos::plan {

/// What a policy may know of a lane.
struct PlaceInfo {
  std::string name;
  lane::Kind kind = lane::Kind::host;
  bool host_accessible = true;
};

/// What a policy may know of a run, and nothing else: neither Kokkos nor threads nor memory.
struct Problem {
  std::vector<PlaceInfo> places;
  std::int64_t batch = 0;
  std::int32_t nodes = 0;
};

}  // namespace zygos::plan
