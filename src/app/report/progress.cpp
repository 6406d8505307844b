// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/report/progress.hpp"

#include "app/text.hpp"
#include "app/trained/metrics.hpp"

#include "zygos/memory/bytes.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <functional>

namespace zygos::app {

namespace {

/// Fixed width, so that lines below each other can be compared at a glance.
std::string position(const train::Event& event, const ProgressFacts& facts) {
  const std::string total = fmt::format("{}", event.total_steps);
  std::string text =
      fmt::format("step {:>{}}/{}  epoch {}", event.step, total.size(), total, event.epoch);
  if (facts.epochs) {
    text += fmt::format("/{}", *facts.epochs);
  }
  return text;
}

std::string rates(const train::Event& event, const ProgressFacts& facts) {
  std::string text = fmt::format("{} samples/s", text_of_rate(event.samples_per_s));
  std::string parts;
  for (const schedule::Place place : facts.shown) {
    const auto index = static_cast<std::size_t>(place);
    if (index < event.lane_samples_per_s.size()) {
      parts += fmt::format("{}{} {}",
                           parts.empty()  ? ""
                           : facts.staged ? " -> "
                                          : " + ",
                           facts.lanes[index], text_of_rate(event.lane_samples_per_s[index]));
    }
  }
  return parts.empty() ? text : text + " (" + parts + ")";
}

nlohmann::json rates_json(const train::Event& event, const ProgressFacts& facts) {
  nlohmann::json lanes = nlohmann::json::object();
  for (std::size_t place = 0; place < event.lane_samples_per_s.size(); ++place) {
    lanes[facts.lanes[place]] = event.lane_samples_per_s[place];
  }
  return {{"total", event.samples_per_s}, {"lanes", lanes}};
}

/// "  test loss 0.0812  test accuracy 97.44 %  r2 0.98": what every figure of it is, by name.
std::string evaluation_text(const train::Event& event, const ProgressFacts& facts) {
  std::string text = fmt::format("  {} loss {:.5g}", facts.held_out, event.evaluation.loss);
  if (!facts.score.empty()) {
    text += fmt::format("  {} {} {}", facts.held_out, facts.score,
                        text_of_percent(event.evaluation.score));
  }
  for (const auto& [name, value] : event.evaluation.figures) {
    text += fmt::format("  {} {:.5g}", name, value);
  }
  return text;
}

}  // namespace

std::string progress_line(const train::Event& event, const ProgressFacts& facts) {
  std::string text = position(event, facts) + fmt::format("  loss {:<8.5g}", event.loss);
  if (!facts.score.empty()) {
    text += fmt::format("  {} {:>8}", facts.score, text_of_percent(event.score));
  }
  if (facts.evaluated && event.evaluation.samples > 0) {
    text += evaluation_text(event, facts);
  }
  if (facts.scheduled) {
    text += fmt::format("  rate {:<8.3g}", event.learning_rate);
  }
  if (facts.reads) {
    text += fmt::format("  waited {} for data", text_of_seconds(event.waited_s));
  }
  text += "  " + rates(event, facts);
  if (facts.bytes > 0) {
    text += "  " + memory::text_of_bytes(facts.bytes);
  }
  return text + fmt::format("  {} left", text_of_seconds(event.seconds_left));
}

std::string status_line(const train::Event& event, const ProgressFacts& facts,
                        std::size_t columns) {
  ProgressFacts fewer = facts;
  fewer.evaluated = true;
  std::string line = progress_line(event, fewer);
  // What is least missed goes first.
  const std::vector<std::function<void()>> cuts{
      [&] { fewer.bytes = 0; },         [&] { fewer.shown.clear(); },
      [&] { fewer.evaluated = false; }, [&] { fewer.reads = false; },
      [&] { fewer.scheduled = false; }, [&] { fewer.score.clear(); }};
  for (const auto& cut : cuts) {
    if (line.size() <= columns) {
      return line;
    }
    cut();
    line = progress_line(event, fewer);
  }
  return line;
}

std::string evaluation_line(const train::Event& event, const ProgressFacts& facts) {
  std::string text = position(event, facts) + evaluation_text(event, facts);
  if (event.restored_step >= 0) {
    text += fmt::format("  weights of step {}", text_of_count(event.restored_step));
  }
  return text;
}

nlohmann::json metrics_of(const train::Event& event, const ProgressFacts& facts) {
  nlohmann::json line{{"step", event.step}, {"epoch", event.epoch}, {"seconds", event.seconds}};
  if (event.kind == train::EventKind::progress) {
    line["kind"] = "train";
    line["loss"] = event.loss;
    if (!facts.score.empty()) {
      line[facts.score] = event.score;
    }
    line["learning_rate"] = event.learning_rate;
    line["samples_per_s"] = rates_json(event, facts);
    line["median_step_s"] = event.median_step_s;
    line["bytes"] = facts.bytes;
    if (facts.reads) {
      line["waited_s"] = event.waited_s;
    }
  } else if (event.kind == train::EventKind::evaluated) {
    line["kind"] = "test";
    line["set"] = facts.held_out;
    line["test_loss"] = event.evaluation.loss;
    if (!facts.score.empty()) {
      line["test_" + facts.score] = event.evaluation.score;
    }
    for (const auto& [name, value] : event.evaluation.figures) {
      line["test_" + name] = value;
    }
    add_class_figures(event.evaluation, line);
    line["best"] = event.best;
    if (event.restored_step >= 0) {
      line["restored_step"] = event.restored_step;
    }
  } else if (event.kind == train::EventKind::checkpointed) {
    line["kind"] = "checkpoint";
    line["path"] = event.checkpoint;
    line["written_s"] = event.written_s;
    line["verified_s"] = event.verified_s;
  } else if (event.kind == train::EventKind::checkpoint_failed) {
    line["kind"] = "checkpoint_failed";
    line["problem"] = event.problem;
  } else {
    line["kind"] = event.kind == train::EventKind::finished ? "finished" : "stopped";
  }
  return line;
}

void Progress::show(const train::Event& event) {
  switch (event.kind) {
    case train::EventKind::progress:
      if (console_.live()) {
        console_.status(status_line(event, facts_, console_.columns()));
      } else {
        console_.note(progress_line(event, facts_));
      }
      break;
    case train::EventKind::evaluated:
      console_.note(evaluation_line(event, facts_));
      break;
    case train::EventKind::checkpointed:
      console_.detail(fmt::format("checkpoint {}, written in {}", event.checkpoint,
                                  text_of_seconds(event.written_s)));
      break;
    case train::EventKind::checkpoint_failed:
      console_.warn(fmt::format("step {}: no checkpoint was written, and training goes on: {}",
                                event.step, event.problem));
      break;
    case train::EventKind::finished:
    case train::EventKind::stopped:
      break;
  }
}

}  // namespace zygos::app
