// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/run/run_setup.hpp"

#include "zygos/infer/model.hpp"

#include <map>
#include <span>
#include <string>

namespace zygos::app {

/// The figures among `train.metrics` of a run's test or validation set with these weights, by name.
/// One that cannot be told, such as the R2 of targets that do not vary, is left out.
std::map<std::string, double> evaluation_figures(const RunSetup& setup,
                                                 std::span<const infer::Weight> weights);

}  // namespace zygos::app
