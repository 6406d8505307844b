// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/plan/tf32.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace zygos::app {

bool has_tf32(lane::Kind kind, std::string_view device_space) {
  return kind == lane::Kind::device && device_space == "Cuda";
}

Tf32Lanes tf32_lanes(const RunSetup& setup) {
  Tf32Lanes lanes;
  for (std::size_t place = 0; setup.tf32 && place < setup.lanes->size(); ++place) {
    const lane::LaneSpec& spec = (*setup.lanes)[place].spec();
    (has_tf32(spec.kind, lane::device_space_name()) ? lanes.with : lanes.without)
        .push_back(spec.name);
  }
  return lanes;
}

std::string exact_text(const Tf32Lanes& lanes) {
  return lanes.without.empty()
             ? ""
             : fmt::format("f32 on lanes without it: {}", fmt::join(lanes.without, ", "));
}

std::string inexact_text(const Tf32Lanes& lanes) {
  return lanes.with.empty() ? ""
                            : fmt::format("products of floats as tf32 on {} (precision)",
                                          fmt::join(lanes.with, ", "));
}

}  // namespace zygos::app
