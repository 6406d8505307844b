// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/report/metrics_log.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/atomic_file.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace zygos::app {

namespace {

std::string lines_up_to(const std::filesystem::path& file, std::int64_t last_step) {
  std::ifstream in(file);
  std::string kept;
  for (std::string line; std::getline(in, line);) {
    const auto object = nlohmann::json::parse(line, nullptr, false);
    if (object.is_object() && object.value("step", last_step + 1) <= last_step) {
      kept += line + "\n";
    }
  }
  return kept;
}

}  // namespace

MetricsLog::MetricsLog(std::filesystem::path file, std::int64_t last_step, LogSink log)
    : file_(std::move(file)), log_(std::move(log)) {
  try {
    io::write_file_atomically(file_, lines_up_to(file_, last_step));
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
