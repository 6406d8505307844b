// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/builder/stage_facts.hpp"
#include "schedule/checks/checks.hpp"
#include "schedule/checks/sample_set.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace zygos::schedule {
namespace {

/// Samples that have arrived, by the stage that made what they bring.
using Arrivals = std::map<Stage, SampleSet>;

/// What has become of a micro-batch on a place.
struct Pass {
  TaskId forward = nobody;      ///< the first part of it
  std::int32_t nodes_made = 0;  ///< forward has been through all before here
  /// By segment: the first part of forward over it, and what has brought it back for backward.
  std::map<std::int32_t, TaskId> made;
  std::map<std::int32_t, TaskId> offloaded;
  std::map<std::int32_t, TaskId> written;
  std::map<std::int32_t, TaskId> read;
  std::map<std::int32_t, TaskId> returned;
  TaskId backward = nobody;     ///< the first part of it
  std::int32_t nodes_left = 0;  ///< backward has been through all from here on
  Arrivals activations_from;
  Arrivals gradients_from;
};

class ContentCheck {
 public:
  explicit ContentCheck(const Schedule& schedule) : schedule_(schedule), facts_(schedule) {}

  void visit(std::size_t index) {
    id_ = static_cast<TaskId>(index);
    const Task& task = schedule_.tasks[index];
    for (const auto& [kind, follow] : followed) {
      if (task.kind == kind) {
        (this->*follow)(task);
      }
    }
  }

  Findings finish() && { return std::move(findings_); }

 private:
  using Follow = std::pair<TaskKind, void (ContentCheck::*)(const Task&)>;
  /// Kinds that compute, read or bring buffers of samples; others have nothing to do with them.
  static const std::array<Follow, 11> followed;

  const StageFacts& stage_of(const Task& task) const { return facts_[task.place]; }
  Pass& pass_of(const Task& task) {
    return passes_[(static_cast<std::uint64_t>(task.place) << 32U) |
                   static_cast<std::uint64_t>(task.micro_batch)];
  }
  std::string label(TaskId id) const { return label_of(schedule_, static_cast<std::size_t>(id)); }
  const Task& task_of(TaskId id) const { return schedule_.tasks[static_cast<std::size_t>(id)]; }
  void report(const std::string& what) { findings_.push_back(label(id_) + " " + what); }

  void require_arrived(const Task& task, const std::vector<Stage>& expected,
                       const Arrivals& arrived, const char* what) {
    const SampleRange& all = schedule_.micro_batches[static_cast<std::size_t>(task.micro_batch)];
    for (const Stage stage : expected) {
      const auto found = arrived.find(stage);
      const auto missing =
          found == arrived.end() ? std::optional(all) : found->second.first_missing(all);
      if (missing) {
        report("starts before " + std::string(what) + " of stage " + std::to_string(stage) +
               (*missing == all ? std::string() : ", samples " + text_of(*missing) + ",") +
               " have been received");
      }
    }
  }

  void forward(const Task& task) {
    Pass& pass = pass_of(task);
    if (stage_of(task).reads_boundary(task.nodes)) {
      require_arrived(task, stage_of(task).activations_from, pass.activations_from, "activations");
    }
    const NodeRange all = stage_of(task).nodes;
    if (pass.forward == nobody) {
      pass.forward = id_;
      pass.nodes_made = all.begin;
    } else if (pass.nodes_made == all.end) {
      report("works on what " + label(pass.forward) + " has been through");
    }
    if (pass.nodes_made < all.end && task.nodes.begin != pass.nodes_made) {
      report("goes on from node " + std::to_string(task.nodes.begin) +
             "; forward has come up to node " + std::to_string(pass.nodes_made));
    }
    require_same_pass(task, pass);
    pass.nodes_made = task.nodes.end;
    pass.nodes_left = all.end;
  }

  /// Parts of one forward use the same weights, and all or none of a segment keep their
  /// activations.
  void require_same_pass(const Task& task, Pass& pass) {
    const TaskId of_segment = pass.made.try_emplace(segment_of(task), id_).first->second;
    const bool other_weights = task.version != task_of(pass.forward).version;
    if (other_weights || task.keeps != task_of(of_segment).keeps) {
      report("goes on with other weights, or keeps other activations, than " +
             label(other_weights ? pass.forward : of_segment));
    }
  }

  std::int32_t segment_of(const Task& task) const {
    return schedule::segment_of(schedule_, task.nodes.begin);
  }

  std::string text_of_segment(std::int32_t segment) const {
    return schedule_.segments.empty()
               ? std::string()
               : " of nodes " +
                     text_of(schedule_.segments[static_cast<std::size_t>(segment)].nodes);
  }

  /// Only what has been computed whole can leave the lane.
  void offload(const Task& task) {
    Pass& pass = pass_of(task);
    if (pass.forward == nobody || pass.nodes_made < task.nodes.end) {
      report("copies activations that forward has not made");
    }
    require_leaving(task);
    const auto [earlier, first] = pass.offloaded.try_emplace(segment_of(task), id_);
    if (!first) {
      report("offloads once more what " + label(earlier->second) + " has offloaded");
    }
  }

  void fetch(const Task& task) {
    Pass& pass = pass_of(task);
    if (!pass.offloaded.contains(segment_of(task))) {
      report("fetches activations that no task has offloaded");
    }
    const bool from_file = keeping_on(schedule_, task.place, segment_of(task)) == Keeping::spilled;
    if (from_file && !pass.read.contains(segment_of(task))) {
      report("fetches activations that no task has read from the file");
    }
    require_leaving(task);
    return_segment(task, pass);
  }

  /// Once, what is whole in host memory.
  void write(const Task& task) {
    Pass& pass = pass_of(task);
    const bool here = reads_host_memory(task)
                          ? pass.forward != nobody && pass.nodes_made >= task.nodes.end
                          : pass.offloaded.contains(segment_of(task));
    if (!here) {
      report("writes activations that are not in host memory");
    }
    require_keeping(task, Keeping::spilled);
    const auto [earlier, first] = pass.written.try_emplace(segment_of(task), id_);
    if (!first) {
      report("writes once more what " + label(earlier->second) + " has written");
    }
  }

  void read(const Task& task) {
    Pass& pass = pass_of(task);
    if (!pass.written.contains(segment_of(task))) {
      report("reads activations that no task has written");
    }
    require_keeping(task, Keeping::spilled);
    const auto [earlier, first] = pass.read.try_emplace(segment_of(task), id_);
    if (!first) {
      report("reads once more what " + label(earlier->second) + " has read");
    }
    if (reads_host_memory(task)) {
      return_segment(task, pass);
    }
  }

  bool reads_host_memory(const Task& task) const {
    return schedule_.host_accessible[static_cast<std::size_t>(task.place)];
  }

  void require_leaving(const Task& task) {
    const Keeping said = keeping_on(schedule_, task.place, segment_of(task));
    if (!leaves(said)) {
      report("moves activations that are " + std::string(name_of(said)));
    }
  }

  void require_keeping(const Task& task, Keeping keeping) {
    const Keeping said = keeping_on(schedule_, task.place, segment_of(task));
    if (said != keeping) {
      report("moves activations that are " + std::string(name_of(said)));
    }
  }

  /// Once, and before backward has worked on them.
  void return_segment(const Task& task, Pass& pass) {
    const auto [earlier, first] = pass.returned.try_emplace(segment_of(task), id_);
    if (!first || pass.nodes_left < task.nodes.end) {
      report("computes or fetches once more what " +
             label(first ? pass.backward : earlier->second) + " has worked on");
    }
  }

  void loss(const Task& task) { require_whole_forward(task, pass_of(task)); }

  void require_whole_forward(const Task& task, const Pass& pass) {
    const std::int32_t end = stage_of(task).nodes.end;
    if (pass.forward != nobody && pass.nodes_made < end) {
      report("comes before forward of nodes " + text_of(NodeRange{pass.nodes_made, end}));
    }
  }

  /// recompute and backward use the weights that forward used.
  bool follows_forward(const Task& task, const Pass& pass) {
    if (pass.forward == nobody) {
      report("comes before any forward of its micro-batch");
      return false;
    }
    require_whole_forward(task, pass);
    if (const Version used = task_of(pass.forward).version; task.version != used) {
      report("uses weights v" + std::to_string(task.version) + "; " + label(pass.forward) +
             " used v" + std::to_string(used));
    }
    return true;
  }

  void recompute(const Task& task) {
    Pass& pass = pass_of(task);
    if (!follows_forward(task, pass)) {
      return;
    }
    if (!schedule_.segments.empty()) {
      require_keeping(task, Keeping::recomputed);
      require_sources(task, pass);
    }
    return_segment(task, pass);
  }

  /// Of the node that the pass has reached: no other statistics are those of the batch.
  void statistics(const Task& task) {
    const Pass& pass = pass_of(task);
    const NodeRange all = stage_of(task).nodes;
    if (task.of_gradients) {
      require_whole_forward(task, pass);
      require_kept(task, pass);
      require_gradients(task, pass);
    } else {
      require_arrived(task, stage_of(task).activations_from, pass.activations_from, "activations");
    }
    const std::int32_t made = pass.forward == nobody ? all.begin : pass.nodes_made;
    const std::int32_t left = pass.backward == nobody ? all.end : pass.nodes_left;
    const std::int32_t reached = task.of_gradients ? left : made;
    const std::int32_t due = task.of_gradients ? task.nodes.end : task.nodes.begin;
    if (reached != due) {
      report(std::string("is due where ") + (task.of_gradients ? "backward" : "forward") +
             " has reached node " + std::to_string(due) + "; it has reached node " +
             std::to_string(reached));
    }
  }

  void backward(const Task& task) {
    Pass& pass = pass_of(task);
    if (!follows_forward(task, pass)) {
      return;
    }
    require_kept(task, pass);
    require_gradients(task, pass);
    if (task.nodes.end != pass.nodes_left) {
      report("goes on from node " + std::to_string(task.nodes.end) +
             "; backward has come down to node " + std::to_string(pass.nodes_left));
    }
    pass.nodes_left = task.nodes.begin;
    pass.backward = pass.backward == nobody ? id_ : pass.backward;
  }

  /// Activations of forward if it kept them, else of a recompute.
  void require_kept(const Task& task, const Pass& pass) {
    if (pass.forward == nobody) {
      return report("comes before any forward of its micro-batch");
    }
    const auto made = pass.made.find(segment_of(task));
    const TaskId forward = made == pass.made.end() ? pass.forward : made->second;
    if (!task.recomputed && !task_of(forward).keeps) {
      report("reads activations that " + label(forward) + " did not keep; a recompute is missing");
    }
    if (task.recomputed && !pass.returned.contains(segment_of(task))) {
      report("reads activations that no recompute or fetch has made");
    }
    require_sources(task, pass);
  }

  void require_sources(const Task& task, const Pass& pass) {
    for (const std::int32_t source : sources_of(schedule_, segment_of(task))) {
      if (keeping_on(schedule_, task.place, source) != Keeping::kept &&
          !pass.returned.contains(source)) {
        report("reads activations" + text_of_segment(source) +
               " that no recompute or fetch has made");
      }
    }
  }

  void require_gradients(const Task& task, const Pass& pass) {
    std::vector<Stage> expected;
    for (const GradientSource& source : stage_of(task).gradients_from) {
      expected.push_back(source.stage);
    }
    require_arrived(task, expected, pass.gradients_from, "gradients");
  }

  void send(const Task& task) {
    if (task.payload == Payload::activations) {
      require_whole_forward(task, pass_of(task));
    } else if (task.payload == Payload::activation_gradients) {
      const Pass& pass = pass_of(task);
      const std::int32_t begin = stage_of(task).first_reader;
      if (pass.backward != nobody && pass.nodes_left > begin) {
        report("sends gradients before backward of nodes " +
               text_of(NodeRange{begin, pass.nodes_left}) + " has added to them");
      }
    }
  }

  void receive(const Task& task) {
    if (task.payload == Payload::activations) {
      Pass& pass = pass_of(task);
      const bool used = pass.nodes_made > stage_of(task).first_reader;
      arrive(task, pass.activations_from, used ? pass.forward : nobody);
    } else if (task.payload == Payload::activation_gradients) {
      Pass& pass = pass_of(task);
      arrive(task, pass.gradients_from, pass.backward);
    }
  }

  void arrive(const Task& task, Arrivals& arrived, TaskId user) {
    const Stage from = schedule_.stage_of[static_cast<std::size_t>(task.peer)];
    if (user != nobody) {
      report("comes too late for " + label(user));
    }
    const auto [entry, first] = arrived.try_emplace(from);
    if (entry->second.add(task.samples) || (!first && task.samples.count() == 0)) {
      report("receives for the second time what stage " + std::to_string(from) + " made");
    }
  }

  const Schedule& schedule_;
  PlaceFacts facts_;
  std::unordered_map<std::uint64_t, Pass> passes_;
  TaskId id_ = 0;
  Findings findings_;
};

const std::array<ContentCheck::Follow, 11> ContentCheck::followed{
    {{TaskKind::forward, &ContentCheck::forward},
     {TaskKind::recompute, &ContentCheck::recompute},
     {TaskKind::loss, &ContentCheck::loss},
     {TaskKind::backward, &ContentCheck::backward},
     {TaskKind::statistics, &ContentCheck::statistics},
     {TaskKind::offload_activations, &ContentCheck::offload},
     {TaskKind::fetch_activations, &ContentCheck::fetch},
     {TaskKind::write_activations, &ContentCheck::write},
     {TaskKind::read_activations, &ContentCheck::read},
     {TaskKind::send, &ContentCheck::send},
     {TaskKind::receive, &ContentCheck::receive}}};

}  // namespace

Findings check_contents(const Schedule& schedule, const RunOrder& order) {
  return findings_of(ContentCheck(schedule), order);
}

}  // namespace zygos::schedule
