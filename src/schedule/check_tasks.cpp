// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/checks.hpp"
#include "schedule/expected_buffers.hpp"

#include "zygos/schedule/batch_statistics.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace zygos::schedule {
namespace {

/// What is wrong with the fields of one task, by themselves and against the schedule's head.
class FieldCheck {
 public:
  FieldCheck(const Schedule& schedule, const std::vector<StageFacts>& facts)
      : schedule_(schedule), facts_(facts) {}

  void visit(std::size_t id) {
    id_ = id;
    const Task& task = schedule_.tasks[id];
    const StageFacts& stage = facts_[stage_of(task.place)];
    if (is_of_samples(task)) {
      samples(task);
    }
    switch (task.kind) {
      case TaskKind::forward:
      case TaskKind::recompute:
      case TaskKind::backward:
        pass(task, stage);
        break;
      case TaskKind::statistics:
        statistics(task, stage);
        break;
      case TaskKind::loss:
        loss(task);
        break;
      case TaskKind::stash:
        require(task.slot > 0, [&] { return std::string("stashes weights in slot 0, their own"); });
        break;
      default:
        break;
    }
    require(task.slot >= 0 && static_cast<std::size_t>(task.slot) <= schedule_.tasks.size(), [&] {
      return "uses weights in slot " + std::to_string(task.slot) + ", which nobody fills";
    });
    payload(task);
    elements(task, stage);
  }

  Findings take() { return std::move(findings_); }

 private:
  std::size_t stage_of(Place place) const {
    return static_cast<std::size_t>(schedule_.stage_of[static_cast<std::size_t>(place)]);
  }

  template <class Text>
  void require(bool right, Text&& text) {
    if (!right) {
      findings_.push_back(label_of(schedule_, id_) + " " + text());
    }
  }

  void samples(const Task& task) {
    const SampleRange& range = schedule_.micro_batches[static_cast<std::size_t>(task.micro_batch)];
    require(task.samples == range, [&] {
      return "works on samples " + text_of(task.samples) + "; micro-batch " +
             std::to_string(task.micro_batch) + " has " + text_of(range);
    });
  }

  void pass(const Task& task, const StageFacts& stage) {
    const bool part = stage.nodes.begin <= task.nodes.begin && task.nodes.begin < task.nodes.end &&
                      task.nodes.end <= stage.nodes.end;
    require(task.kind == TaskKind::recompute ? task.nodes == stage.nodes : part, [&] {
      return "works on nodes " + text_of(task.nodes) + "; its stage has " + text_of(stage.nodes);
    });
  }

  void statistics(const Task& task, const StageFacts& stage) {
    require(has_statistics(schedule_, task.nodes) && stage.nodes.contains(task.nodes.begin), [&] {
      return "is of nodes " + text_of(task.nodes) +
             "; it has to be of one in its stage that needs statistics";
    });
    in_update(task);
  }

  void loss(const Task& task) {
    require(stage_of(task.place) + 1 == schedule_.stages.size(),
            [] { return std::string("is not on the last stage, which makes the prediction"); });
    in_update(task);
  }

  void in_update(const Task& task) {
    const SampleRange& averaged = schedule_.updates[static_cast<std::size_t>(task.update)];
    require(averaged.begin <= task.samples.begin && task.samples.end <= averaged.end, [&] {
      return "belongs to update " + std::to_string(task.update) + ", which averages samples " +
             text_of(averaged);
    });
  }

  void payload(const Task& task) {
    const bool moves = reads_messages(task.kind) || writes_messages(task.kind);
    const bool sums = task.kind == TaskKind::reduce || task.kind == TaskKind::all_reduce;
    // What only a broadcast carries to a kind of task of its own.
    const bool of_squares = task.payload == Payload::squares;
    const bool of_statistics = task.payload == Payload::statistics;
    const bool right = sums                                ? task.payload == Payload::gradients
                       : task.kind == TaskKind::norm       ? of_squares
                       : task.kind == TaskKind::all_gather ? of_statistics
                       : of_squares || of_statistics       ? task.kind == TaskKind::broadcast
                                                     : moves == (task.payload != Payload::none);
    require(right, [&] { return "carries " + std::string(name_of(task.payload)); });
    const bool named = task.kind == TaskKind::send || task.kind == TaskKind::receive ||
                       task.kind == TaskKind::reduce;
    require(named == (task.peer >= 0) && task.peer != task.place, [&] {
      return named ? std::string("has to name another place as its peer")
                   : std::string("names a peer, but is for all");
    });
  }

  void elements(const Task& task, const StageFacts& stage) {
    if (task.payload == Payload::squares || task.payload == Payload::statistics) {
      return;  // of whatever its place has summed up
    }
    switch (task.kind) {
      case TaskKind::all_reduce:
      case TaskKind::stash:
      case TaskKind::average:
        whole_stage(task, stage);
        break;
      case TaskKind::squares:
      case TaskKind::update:
        schedule_.part_owners.empty() ? whole_stage(task, stage) : own_part(task);
        break;
      case TaskKind::broadcast:
        is_part_of_weights(task) ? whole_part(task) : whole_stage(task, stage);
        break;
      case TaskKind::send:
      case TaskKind::receive:
      case TaskKind::reduce:
        if (task.payload == Payload::gradients || is_part_of_weights(task)) {
          whole_part(task);
        } else if (task.payload == Payload::weights) {
          whole_stage(task, stage);
        }
        break;
      default:
        break;
    }
  }

  bool is_part_of_weights(const Task& task) const {
    return task.payload == Payload::weights && !schedule_.part_owners.empty();
  }

  void whole_part(const Task& task) {
    require(std::ranges::find(schedule_.parts, task.elements) != schedule_.parts.end(),
            [&] { return "moves elements " + text_of(task.elements) + ", which are no part"; });
  }

  void own_part(const Task& task) {
    const auto part = std::ranges::find(schedule_.parts, task.elements);
    const auto index = static_cast<std::size_t>(part - schedule_.parts.begin());
    require(part != schedule_.parts.end() && schedule_.part_owners[index] == task.place, [&] {
      return "takes elements " + text_of(task.elements) + ", which are no part of its own";
    });
  }

  void whole_stage(const Task& task, const StageFacts& stage) {
    require(task.elements == stage.elements, [&] {
      return "takes elements " + text_of(task.elements) + "; its stage has " +
             text_of(stage.elements);
    });
  }

  const Schedule& schedule_;
  const std::vector<StageFacts>& facts_;
  std::size_t id_ = 0;
  Findings findings_;
};

/// Compares what tasks read and write with what they should.
class BufferCheck {
 public:
  BufferCheck(const Schedule& schedule, const std::vector<StageFacts>& facts)
      : schedule_(schedule), facts_(facts) {}

  void visit(std::size_t id) {
    const Task& task = schedule_.tasks[id];
    const Stage stage = schedule_.stage_of[static_cast<std::size_t>(task.place)];
    find_expected(schedule_, facts_[static_cast<std::size_t>(stage)], task, expected_);
    if (!expected_.known) {
      return;
    }
    // check_messages() looks at messages, and at what lies where no copy of it is made.
    given_.clear();
    std::ranges::copy_if(task.reads, std::back_inserter(given_), [&](const Buffer& buffer) {
      return buffer.kind != BufferKind::message &&
             (buffer.place == task.place || buffer.kind == BufferKind::batch ||
              !reads_messages(task.kind));
    });
    compare(id, "read", expected_.reads);
    given_.clear();
    std::ranges::copy_if(task.writes, std::back_inserter(given_),
                         [](const Buffer& buffer) { return buffer.kind != BufferKind::message; });
    compare(id, "write", expected_.writes);
  }

  Findings take() { return std::move(findings_); }

 private:
  void compare(std::size_t id, std::string_view verb, std::vector<Buffer>& expected) {
    std::ranges::sort(given_);
    std::ranges::sort(expected);
    if (given_ == expected) {
      return;
    }
    const std::string kind(name_of(schedule_.tasks[id].kind));
    const auto report = [&](const Buffer& buffer, const std::string& does, const std::string& why) {
      findings_.push_back(label_of(schedule_, id) + " " + does + " " +
                          text_of(buffer, schedule_.places) + ", " + why);
    };
    std::vector<Buffer> rest;
    std::ranges::set_difference(expected, given_, std::back_inserter(rest));
    for (const Buffer& buffer : rest) {
      report(buffer, "does not " + std::string(verb), "as its " + kind + " has to");
    }
    rest.clear();
    std::ranges::set_difference(given_, expected, std::back_inserter(rest));
    for (const Buffer& buffer : rest) {
      report(buffer, std::string(verb) + "s", "which its " + kind + " has no business with");
    }
  }

  const Schedule& schedule_;
  const std::vector<StageFacts>& facts_;
  ExpectedBuffers expected_;
  std::vector<Buffer> given_;
  Findings findings_;
};

}  // namespace

Findings check_tasks(const Schedule& schedule) {
  const auto facts = facts_of(schedule);
  FieldCheck fields(schedule, facts);
  BufferCheck buffers(schedule, facts);
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    fields.visit(id);
    buffers.visit(id);
  }
  Findings findings = fields.take();
  std::ranges::move(buffers.take(), std::back_inserter(findings));
  return findings;
}

}  // namespace zygos::schedule
