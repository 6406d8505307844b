// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/report/metrics_log.hpp"
#include "app/report/report_data.hpp"
#include "fuzz/fuzz_target.hpp"

#include <nlohmann/json.hpp>

namespace zygos::fuzz {

/// As the figures of a run that is shown, and of one that goes on.
void fuzz_metrics(Bytes input) {
  const auto file = file_of(input, "metrics.jsonl");
  may_refuse([&] { app::gather_report(file.parent_path()); });
  app::MetricsLog(file, 5, {}).write({{"step", 6}});
}

}  // namespace zygos::fuzz
