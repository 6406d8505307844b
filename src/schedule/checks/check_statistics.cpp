// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/builder/stage_facts.hpp"
#include "schedule/checks/checks.hpp"
#include "schedule/checks/sample_set.hpp"

#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace zygos::schedule {
namespace {

/// Follows statistics from the samples they are of to the tasks that gather them.
class StatisticsCheck {
 public:
  StatisticsCheck(const Schedule& schedule, const BufferUses& buffers)
      : schedule_(schedule), buffers_(buffers) {}

  void visit(std::size_t index) {
    const Task& task = schedule_.tasks[index];
    if (!is_of_statistics(task)) {
      return;
    }
    SampleSet samples;
    Made& made = made_[{task.place, task.update, task.nodes.begin, task.of_gradients}];
    if (task.kind == TaskKind::statistics) {
      samples.add(task.samples);
      if (const auto twice = made.samples.add(task.samples)) {
        report(index, "makes", *twice, " a second time");
      }
    }
    for (const std::uint32_t buffer : buffers_.reads(index)) {
      if (const auto twice = samples.add(held_[buffer])) {
        report(index, "takes", *twice, " twice");
      }
    }
    if (task.kind == TaskKind::broadcast) {
      require_all(index, made.samples.ranges(), samples);
    } else if (task.kind == TaskKind::all_gather) {
      const SampleRange& all = schedule_.updates[static_cast<std::size_t>(task.update)];
      require_all(index, {all}, samples);
      if (std::exchange(made.gathered, true)) {
        report(index, "gathers", all, " a second time");
      }
    }
    for (const std::uint32_t buffer : buffers_.writes(index)) {
      held_[buffer] = samples;
    }
  }

  Findings finish() && { return std::move(findings_); }

 private:
  /// By a place, for one node and direction.
  struct Made {
    SampleSet samples;
    bool gathered = false;
  };

  void require_all(std::size_t index, const std::vector<SampleRange>& expected,
                   const SampleSet& samples) {
    for (const SampleRange& range : expected) {
      if (const auto missing = samples.first_missing(range)) {
        report(index, "leaves out", *missing, "");
      }
    }
  }

  void report(std::size_t index, const std::string& does, const SampleRange& samples,
              const std::string& how) {
    findings_.push_back(label_of(schedule_, index) + " " + does + " the statistics of samples " +
                        text_of(samples) + how);
  }

  const Schedule& schedule_;
  const BufferUses& buffers_;
  std::unordered_map<std::uint32_t, SampleSet> held_;  ///< by buffer: whose statistics it has
  /// By place, update, node and whether of gradients.
  std::map<std::tuple<Place, std::int32_t, std::int32_t, bool>, Made> made_;
  Findings findings_;
};

}  // namespace

Findings check_statistics(const Schedule& schedule, const BufferUses& buffers,
                          const RunOrder& order) {
  return findings_of(StatisticsCheck(schedule, buffers), order);
}

}  // namespace zygos::schedule
