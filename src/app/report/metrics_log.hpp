// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/log.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>

namespace zygos::app {

/// metrics.jsonl: one object a line. A file that can't be written costs a warning, never the run.
class MetricsLog {
 public:
  /// Keeps the lines up to step `last_step`: what came later was lost with the process and is
  /// trained again.
  MetricsLog(std::filesystem::path file, std::int64_t last_step, LogSink log);
  void write(const nlohmann::json& line);

 private:
  void complain();

  std::filesystem::path file_;
  LogSink log_;
  std::ofstream out_;
  bool complained_ = false;
};

}  // namespace zygos::app
