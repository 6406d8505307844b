// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/builder/operands.hpp"
#include "schedule/checks/checks.hpp"

#include "zygos/schedule/batch_statistics.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace zygos::schedule {
namespace {

/// What is wrong with the fields of one task, by themselves and against the schedule's head.
class FieldCheck {
 public:
  FieldCheck(const Schedule& schedule, const PlaceFacts& facts)
      : schedule_(schedule), facts_(facts) {
    for (std::size_t part = 0; part < schedule.parts.size(); ++part) {
      const ElementRange& elements = schedule.parts[part];
      parts_.insert({elements.begin, elements.end,
                     schedule.part_owners.empty() ? Place{-1} : schedule.part_owners[part]});
    }
  }

  void visit(std::size_t id) {
    id_ = id;
    const Task& task = schedule_.tasks[id];
    const StageFacts& stage = facts_[task.place];
    if (is_of_samples(task)) {
      samples(task);
    }
    nodes(task, stage);
    const TaskTraits& traits = traits_of(task.kind);
    if (traits.of_update && is_of_samples(task)) {
      in_update(task);
    }
    if (task.kind == TaskKind::loss) {
      require(stage.nodes == schedule_.stages.back(), [] {
        return std::string("is not on the last stage, which computes the prediction");
      });
    }
    const bool fills_slot = std::ranges::any_of(
        traits.writes, [](const Operand& operand) { return operand.slot == slot_of_task; });
    require(!fills_slot || task.slot > 0,
            [] { return std::string("writes weights into slot 0, the current ones'"); });
    require(task.slot >= 0 && static_cast<std::size_t>(task.slot) <= schedule_.tasks.size(), [&] {
      return "uses weights in slot " + std::to_string(task.slot) + ", which nobody fills";
    });
    payload(task);
    elements(task, stage);
  }

  Findings take() { return std::move(findings_); }

 private:
  template <class Text>
  void require(bool right, Text&& text) {
    if (!right) {
      findings_.push_back(label_of(schedule_, id_) + " " + text());
    }
  }

  void samples(const Task& task) {
    const SampleRange& range = schedule_.micro_batches[static_cast<std::size_t>(task.micro_batch)];
    const bool part = traits_of(task.payload).of_samples && range.begin <= task.samples.begin &&
                      task.samples.end <= range.end;
    require(task.samples == range || part, [&] {
      return "works on samples " + text_of(task.samples) + "; micro-batch " +
             std::to_string(task.micro_batch) + " has " + text_of(range);
    });
  }

  void nodes(const Task& task, const StageFacts& stage) {
    const Nodes rule = traits_of(task.kind).nodes;
    const bool part = stage.nodes.begin <= task.nodes.begin && task.nodes.begin < task.nodes.end &&
                      task.nodes.end <= stage.nodes.end;
    if (rule == Nodes::one_with_statistics) {
      require(has_statistics(schedule_, task.nodes) && stage.nodes.contains(task.nodes.begin), [&] {
        return "is of nodes " + text_of(task.nodes) +
               "; it has to be of one in its stage that needs statistics";
      });
    } else if (rule != Nodes::none) {
      require(part, [&] {
        return "works on nodes " + text_of(task.nodes) + "; its stage has " + text_of(stage.nodes);
      });
      const NodeRange segment = segment_nodes(schedule_, task.nodes.begin, stage.nodes);
      require(!part || (rule == Nodes::whole_segment ? task.nodes == segment
                                                     : task.nodes.end <= segment.end),
              [&] {
                return "works on nodes " + text_of(task.nodes) + "; its " +
                       (schedule_.segments.empty() ? "stage" : "segment") + " has " +
                       text_of(segment);
              });
    }
  }

  void in_update(const Task& task) {
    const SampleRange& averaged = schedule_.updates[static_cast<std::size_t>(task.update)];
    require(averaged.begin <= task.samples.begin && task.samples.end <= averaged.end, [&] {
      return "belongs to update " + std::to_string(task.update) + ", which averages samples " +
             text_of(averaged);
    });
  }

  void payload(const Task& task) {
    const TaskTraits& traits = traits_of(task.kind);
    const bool right = traits.payloads.empty() ? task.payload == Payload::none
                                               : std::ranges::find(traits.payloads, task.payload) !=
                                                     traits.payloads.end();
    require(right, [&] { return "carries " + std::string(name_of(task.payload)); });
    const bool has_codec =
        LinkCodecs{Codec::bf16, Codec::bf16, Codec::bf16}.of(task.payload) != Codec::exact;
    require(task.codec == Codec::exact || has_codec, [&] {
      return "carries " + std::string(name_of(task.payload)) + " as " +
             std::string(name_of(task.codec)) + "; they travel exact";
    });
    const bool known =
        task.peer >= 0 && static_cast<std::size_t>(task.peer) < schedule_.places.size();
    const bool local = traits_of(task.payload).of_samples && known &&
                       schedule_.lane_of(task.peer) == schedule_.lane_of(task.place);
    require(task.local == local, [&] {
      return local ? "uses a link, and its peer is on the same lane"
                   : "is local, and no place that it sends samples to is on its lane";
    });
    require(traits.names_peer == (task.peer >= 0) && task.peer != task.place, [&] {
      return traits.names_peer ? std::string("has to name another place as its peer")
                               : std::string("names a peer, but is for all");
    });
  }

  void elements(const Task& task, const StageFacts& stage) {
    const Elements rule = traits_of(task.kind).elements;
    const bool by_owner = !schedule_.part_owners.empty();
    if (rule == Elements::updated && by_owner) {
      own_part(task);
    } else if (rule == Elements::whole_stage || rule == Elements::updated) {
      whole_stage(task, stage);
    } else if (rule == Elements::one_part) {
      whole_part(task);
    } else if (rule == Elements::carried && traits_of(task.payload).of_elements) {
      // What goes to one place is a part; weights are by part where parts have owners.
      const bool part =
          task.payload == Payload::weights ? by_owner : traits_of(task.kind).names_peer;
      part ? whole_part(task) : whole_stage(task, stage);
    }
  }

  bool is_part(const ElementRange& elements) const {
    const auto found = parts_.lower_bound({elements.begin, elements.end, Place{-1}});
    return found != parts_.end() && std::get<0>(*found) == elements.begin &&
           std::get<1>(*found) == elements.end;
  }

  void whole_part(const Task& task) {
    require(is_part(task.elements),
            [&] { return "works on elements " + text_of(task.elements) + ", which are no part"; });
  }

  void own_part(const Task& task) {
    require(parts_.contains({task.elements.begin, task.elements.end, task.place}), [&] {
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
  const PlaceFacts& facts_;
  std::set<std::tuple<std::int64_t, std::int64_t, Place>> parts_;  ///< begin, end, owner or -1
  std::size_t id_ = 0;
  Findings findings_;
};

/// Compares what tasks read and write with what they should.
class BufferCheck {
 public:
  BufferCheck(const Schedule& schedule, const PlaceFacts& facts)
      : schedule_(schedule), facts_(facts) {}

  void visit(std::size_t id) {
    const Task& task = schedule_.tasks[id];
    find_operands(schedule_, facts_[task.place], task, expected_);
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
  const PlaceFacts& facts_;
  Operands expected_;
  std::vector<Buffer> given_;
  Findings findings_;
};

}  // namespace

Findings check_tasks(const Schedule& schedule) {
  const PlaceFacts facts(schedule);
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
