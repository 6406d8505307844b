// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/contest/contest.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace zygos::app {

struct ContestResult {
  std::vector<Contender> contenders;
  double single_step_s = 0.0;            ///< measured, of the fastest single lane; 0: there is none
  double predicted_single_step_s = 0.0;  ///< of the same
  std::size_t best = 0;                  ///< fastest as measured of those that may be recommended
  std::vector<std::size_t> not_told_apart;  ///< from it, of those that may be recommended
  std::string reason;
};

/// Policies that change what is learnt may be recommended only if the deck itself names them.
ContestResult result_of(const RunSetup& setup, std::vector<Contender> contenders);

/// A line per policy, predicted beside measured.
std::string contest_table(const ContestResult& result);
/// {"rows": [...], "recommended": ..., "reason": ...}
nlohmann::json contest_json(const RunSetup& setup, const ContestResult& result);

}  // namespace zygos::app
