// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// `precision: tf32` of a deck: which lanes have it, and how a run says so.
#pragma once

#include "app/run/run_setup.hpp"

#include "zygos/lane/lane.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace zygos::app {

/// Whether products of a lane are rounded: by cuBLAS. `device_space`: lane::device_space_name().
bool has_tf32(lane::Kind kind, std::string_view device_space);

struct Tf32Lanes {
  std::vector<std::string> with;  ///< names
  std::vector<std::string> without;
};
/// Both empty unless the run's precision is tf32.
Tf32Lanes tf32_lanes(const RunSetup& setup);

/// "f32 on lanes without it: host"; empty if all have it.
std::string exact_text(const Tf32Lanes& lanes);
/// "products of floats as tf32 on gpu (precision)"; empty if none has it.
std::string inexact_text(const Tf32Lanes& lanes);

}  // namespace zygos::app
