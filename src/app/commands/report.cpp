// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.hpp"
#include "app/report/report_page.hpp"

#include "zygos/io/atomic_file.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace zygos::app {

namespace fs = std::filesystem;

ExitCode run_report(const Invocation& invocation, Console& console) {
  const fs::path folder = invocation.target;
  const ReportData data = gather_report(folder, invocation.beside);
  const fs::path file =
      invocation.output.empty() ? folder / "report.html" : fs::path(invocation.output);
  io::write_file_atomically(file, report_page(data));
  for (const std::string& problem : data.problems) {
    console.warn(problem);
  }
  console.say(file.string());
  if (console.wants_json()) {
    console.json({{"report", file.string()}});
  }
  return ExitCode::done;
}

}  // namespace zygos::app
