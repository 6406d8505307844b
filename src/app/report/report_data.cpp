// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/report/report_data.hpp"

#include "app/build_facts.hpp"
#include "app/foreign_json.hpp"

#include "zygos/core/error.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

namespace zygos::app {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::array run_files{"deck.yaml", "metrics.jsonl", "summary.json", "trace.json"};

/// A file's text; nothing, and a problem, if there is none.
std::optional<std::string> text_of_file(const fs::path& file, const std::string& otherwise,
                                        std::vector<std::string>& problems) {
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in.is_open() || in.bad() || fs::is_directory(file)) {
    problems.push_back(fmt::format("{} {}; {}", file.filename().string(),
                                   fs::exists(file) ? "cannot be read" : "does not exist",
                                   otherwise));
    return std::nullopt;
  }
  return text;
}

/// The object in a file; null, and a problem, if there is none.
json object_of_file(const fs::path& file, const std::string& otherwise,
                    std::vector<std::string>& problems) {
  const auto text = text_of_file(file, otherwise, problems);
  if (!text) {
    return nullptr;
  }
  json object = foreign_json(*text);
  if (!object.is_object()) {
    problems.push_back(fmt::format("{} is damaged: it holds no whole JSON object; {}",
                                   file.filename().string(), otherwise));
    return nullptr;
  }
  return object;
}

bool is_training(const json& line) { return line.value("kind", json()) == "train"; }

/// Lines with training figures, evenly thinned to about `most` with the last one kept; all others.
json thinned(const std::vector<json>& lines, std::size_t most) {
  const auto training =
      static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), is_training));
  const std::size_t every = std::max<std::size_t>(1, (training + most - 1) / most);
  json kept = json::array();
  std::size_t seen = 0;
  for (const json& line : lines) {
    if (!is_training(line) || (training - ++seen) % every == 0) {
      kept.push_back(line);
    }
  }
  return kept;
}

/// Figures of classes are many numbers.
void leave_out_classes(json& object) {
  if (object.is_object()) {
    object.erase("test_per_class");
    object.erase("test_confusion");
  }
}

/// The evaluations whose figures of classes the page shows: the last one and the best one so far,
/// as places in a list of lines.
class ShownEvaluations {
 public:
  /// The line that was added last.
  void note(std::vector<json>& lines) {
    if (lines.back().value("kind", json()) != "test") {
      return;
    }
    const std::array before{last_, best_};
    last_ = lines.size() - 1;
    if (lines.back().value("best", json()) == true) {
      best_ = last_;
    }
    for (const auto& place : before) {
      if (place && place != last_ && place != best_) {
        leave_out_classes(lines[*place]);
      }
    }
  }

 private:
  std::optional<std::size_t> last_;
  std::optional<std::size_t> best_;
};

json metrics_of_file(const fs::path& file, const ReportLimits& limits,
                     std::vector<std::string>& problems) {
  const auto text = text_of_file(file, "there are no curves", problems);
  std::vector<json> lines;
  ShownEvaluations shown;
  std::size_t damaged = 0;
  std::istringstream in(text.value_or(""));
  for (std::string line; std::getline(in, line);) {
    json object = foreign_json(line);
    if (object.is_object()) {
      // Where a checkpoint lies says more of the machine than of the run.
      object.erase("path");
      lines.push_back(std::move(object));
      shown.note(lines);
    } else {
      ++damaged;
    }
  }
  if (damaged > 0) {
    problems.push_back(fmt::format("metrics.jsonl: {} of {} lines are damaged and left out",
                                   damaged, damaged + lines.size()));
  }
  return thinned(lines, limits.metrics);
}

json timeline_of_file(const fs::path& file, const ReportLimits& limits,
                      std::vector<std::string>& problems) {
  const json trace = object_of_file(file, "there is no timeline", problems);
  if (trace.is_null()) {
    return nullptr;
  }
  try {
    return timeline_of(trace, limits);
  } catch (const std::exception& error) {
    problems.push_back(fmt::format("{} is damaged: {}; there is no timeline",
                                   file.filename().string(), error.what()));
    return nullptr;
  }
}

/// When the folder's newest file was written, "2026-01-31 12:00 UTC".
std::string last_written(const fs::path& folder) {
  std::time_t newest = 0;
  for (const char* name : run_files) {
    struct stat facts {};
    if (::stat((folder / name).c_str(), &facts) == 0) {
      newest = std::max(newest, facts.st_mtime);
    }
  }
  return newest == 0 ? std::string() : fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(newest));
}

void require_run(const fs::path& folder) {
  const auto is_there = [&](const char* name) { return fs::exists(folder / name); };
  if (!fs::is_directory(folder) || std::none_of(run_files.begin(), run_files.end(), is_there)) {
    throw UsageError(fmt::format(
        "{} is not the directory of a run: {}; name one that `zygos train` made, such as runs/NAME",
        folder.string(),
        fs::is_directory(folder) ? "it holds neither deck.yaml nor metrics.jsonl, summary.json or "
                                   "trace.json"
                                 : "there is no such folder"));
  }
}

/// Curves and results of another run, named as the user does.
json other_run(const std::string& folder, const ReportLimits& limits,
               std::vector<std::string>& problems) {
  require_run(folder);
  std::vector<std::string> own;
  json other{{"name", folder},
             {"metrics", metrics_of_file(fs::path(folder) / "metrics.jsonl", limits, own)},
             {"summary", object_of_file(fs::path(folder) / "summary.json",
                                        "its results are not in the table", own)}};
  leave_out_classes(other["summary"]);
  for (json& line : other["metrics"]) {
    leave_out_classes(line);
  }
  for (const std::string& problem : own) {
    problems.push_back(folder + ": " + problem);
  }
  return other;
}

}  // namespace

ReportData gather_report(const fs::path& folder, const std::vector<std::string>& others,
                         const ReportLimits& limits) {
  require_run(folder);
  ReportData data;
  const auto deck = text_of_file(folder / "deck.yaml", "the deck is not shown", data.problems);
  const json metrics = metrics_of_file(folder / "metrics.jsonl", limits, data.problems);
  const json summary = object_of_file(
      folder / "summary.json", "a run that ends or stops by itself writes it", data.problems);
  const json timeline = timeline_of_file(folder / "trace.json", limits, data.problems);
  json beside = json::array();
  for (const std::string& other : others) {
    beside.push_back(other_run(other, limits, data.problems));
  }
  const fs::path plain = folder.has_filename() ? folder : folder.parent_path();
  const std::string name = fs::absolute(plain).lexically_normal().filename().string();
  const auto said = summary.is_object() ? summary.find("deck") : summary.end();
  data.title = said != summary.end() && said->is_string() ? said->get<std::string>() : name;
  data.page = {{"title", data.title},       {"folder", name},
               {"zygos", zygos_version()},  {"written", last_written(folder)},
               {"problems", data.problems}, {"deck", deck ? json(*deck) : json(nullptr)},
               {"metrics", metrics},        {"summary", summary},
               {"timeline", timeline},      {"others", beside}};
  return data;
}

}  // namespace zygos::app
