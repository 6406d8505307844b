// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/checks.hpp"
#include "schedule/sample_set.hpp"

#include <unordered_map>

namespace zygos::schedule {
namespace {

/// Follows statistics from the samples they are of to the tasks that gather them.
class StatisticsCheck {
 public:
  StatisticsCheck(const Schedule& schedule, const BufferUses& buffers)
      : schedule_(schedule), buffers_(buffers) {}

  void visit(std::size_t index) {
    const Task& task = schedule_.tasks[index];
    if (task.kind != TaskKind::statistics && task.payload != Payload::statistics) {
      return;
    }
    SampleSet samples;
    if (task.kind == TaskKind::statistics) {
      samples.add(task.samples);
    }
    for (const std::uint32_t buffer : buffers_.reads(index)) {
      if (const auto twice = samples.add(held_[buffer])) {
        report(index, "takes the statistics of samples " + text_of(*twice) + " twice");
      }
    }
    if (task.kind == TaskKind::all_gather) {
      const SampleRange& all = schedule_.updates[static_cast<std::size_t>(task.update)];
      if (const auto missing = samples.first_missing(all)) {
        report(index, "leaves out the statistics of samples " + text_of(*missing));
      }
    }
    for (const std::uint32_t buffer : buffers_.writes(index)) {
      held_[buffer] = samples;
    }
  }

  Findings take() { return std::move(findings_); }

 private:
  void report(std::size_t index, const std::string& what) {
    findings_.push_back(label_of(schedule_, index) + " " + what);
  }

  const Schedule& schedule_;
  const BufferUses& buffers_;
  std::unordered_map<std::uint32_t, SampleSet> held_;  ///< by buffer: whose statistics it has
  Findings findings_;
};

}  // namespace

Findings check_statistics(const Schedule& schedule, const BufferUses& buffers,
                          const RunOrder& order) {
  StatisticsCheck check(schedule, buffers);
  for (const std::size_t id : order) {
    check.visit(id);
  }
  return check.take();
}

}  // namespace zygos::schedule
