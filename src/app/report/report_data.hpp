// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/report/report_timeline.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace zygos::app {

/// Everything a report's page shows.
struct ReportData {
  std::string title;
  nlohmann::json page;                ///< what its script draws from
  std::vector<std::string> problems;  ///< files that lack or cannot be read, one sentence each
};

/// Reads a run's folder as it is, finished, stopped or killed: what lacks is named among the
/// problems. `others`: folders of runs whose curves and results stand beside. Throws UsageError if
/// a folder is none or holds nothing of a run.
ReportData gather_report(const std::filesystem::path& folder,
                         const std::vector<std::string>& others = {},
                         const ReportLimits& limits = {});

}  // namespace zygos::app
