// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/console.hpp"

#include "zygos/train/trainer.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zygos::app {

/// What a progress line needs to know of the run besides the event.
struct ProgressFacts {
  std::vector<std::string> lanes;      ///< names by place
  std::vector<schedule::Place> shown;  ///< who works, in order of stages
  bool staged = false;                 ///< samples go from one to the next, instead of being shared
  std::size_t bytes = 0;               ///< of all lanes together; 0: not said
  std::optional<std::int64_t> epochs;
  std::string score;              ///< its name, "accuracy"; empty: the loss has none
  std::string held_out = "test";  ///< or "validation": what is evaluated on
  bool evaluated = false;         ///< the last evaluation is told as well
  bool scheduled = false;         ///< the learning rate changes
  bool reads = false;             ///< samples are read or augmented while training
};

/// "step   1200/3000  epoch 2/5  loss 0.06211  accuracy 98.12 %  54,321 samples/s (host 20,100 +
/// device 34,221)  41.2 MiB  12.0 s left"
std::string progress_line(const train::Event& event, const ProgressFacts& facts);
/// The same for a terminal, with the last evaluation: without what is least missed if `columns` are
/// too few for all of it.
std::string status_line(const train::Event& event, const ProgressFacts& facts, std::size_t columns);
/// "step   1200/3000  epoch 2/5  test loss 0.0812  test accuracy 97.44 %"
std::string evaluation_line(const train::Event& event, const ProgressFacts& facts);
/// The event as one line of metrics.jsonl.
nlohmann::json metrics_of(const train::Event& event, const ProgressFacts& facts);

/// Shows events as they come: a live line on a terminal, plain lines otherwise.
class Progress {
 public:
  Progress(Console& console, ProgressFacts facts) : console_(console), facts_(std::move(facts)) {}
  void show(const train::Event& event);

 private:
  Console& console_;
  ProgressFacts facts_;
};

}  // namespace zygos::app
