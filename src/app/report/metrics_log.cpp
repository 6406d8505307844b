// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/report/metrics_log.hpp"

#include "app/foreign_json.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/atomic_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace zygos::app {

namespace {

/// None: the line is not one of a run.
std::optional<std::int64_t> step_of(const std::string& line) {
  const auto object = foreign_json(line);
  if (!object.is_object()) {
    return std::nullopt;
  }
  const auto step = object.find("step");
  const bool known = step != object.end() && step->is_number_integer();
  return known ? std::optional(step->get<std::int64_t>()) : std::nullopt;
}

std::string lines_up_to(const std::filesystem::path& file, std::int64_t last_step,
                        const LogSink& log) {
  std::ifstream in(file);
  std::string kept;
  std::size_t foreign = 0;
  for (std::string line; std::getline(in, line);) {
    const auto step = step_of(line);
    if (!step) {
      ++foreign;
    } else if (*step <= last_step) {
      kept += line + "\n";
    }
  }
  if (foreign > 0) {
    zygos::log(log, LogLevel::warning,
               fmt::format("{}: {} that {} not of a run {} left out", file.string(),
                           foreign == 1 ? "1 line" : fmt::format("{} lines", foreign),
                           foreign == 1 ? "is" : "are", foreign == 1 ? "is" : "are"));
  }
  return kept;
}

}  // namespace

MetricsLog::MetricsLog(std::filesystem::path file, std::int64_t last_step, LogSink log)
    : file_(std::move(file)), log_(std::move(log)) {
  try {
    io::write_file_atomically(file_, lines_up_to(file_, last_step, log_));
    out_.open(file_, std::ios::app);
  } catch (const IoError&) {
    out_.setstate(std::ios::failbit);
  }
}

void MetricsLog::write(const nlohmann::json& line) {
  out_ << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n" << std::flush;
  if (!out_) {
    complain();
  }
}

void MetricsLog::complain() {
  if (!complained_) {
    complained_ = true;
    zygos::log(log_, LogLevel::warning,
               "cannot write " + file_.string() + "; training goes on without it");
  }
}

}  // namespace zygos::app
