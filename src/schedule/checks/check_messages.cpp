// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/builder/stage_facts.hpp"
#include "schedule/checks/checks.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace zygos::schedule {
namespace {

bool is_message(const Buffer& buffer) { return buffer.kind == BufferKind::message; }

class MessageCheck {
 public:
  MessageCheck(const Schedule& schedule, const BufferUses& buffers)
      : schedule_(schedule),
        facts_(schedule),
        buffers_(buffers),
        writers_(buffers.count(), nobody),
        readers_of_(buffers.count(), nobody),
        sources_of_(buffers.count(), nobody) {
    for (const StageLink& link : schedule.activation_links) {
      activations_.insert({link.from, link.to});
    }
    for (const StageLink& link : schedule.gradient_links) {
      gradients_.insert({link.from, link.to});
    }
  }

  Findings run() && {
    for (std::size_t id = 0; id < schedule_.tasks.size(); ++id) {
      write(id);
    }
    read_.resize(buffers_.count(), nobody);
    for (std::size_t id = 0; id < schedule_.tasks.size(); ++id) {
      read(id);
      wait(id);
    }
    for (std::uint32_t buffer = 0; buffer < buffers_.count(); ++buffer) {
      if (writers_[buffer] != nobody && read_[buffer] == nobody) {
        report(writers_[buffer], "writes " + text(buffer) + ", which nobody reads");
      }
    }
    return std::move(findings_);
  }

 private:
  const Task& task(TaskId id) const { return schedule_.tasks[static_cast<std::size_t>(id)]; }
  std::string label(TaskId id) const { return label_of(schedule_, static_cast<std::size_t>(id)); }
  std::string text(std::uint32_t buffer) const {
    return text_of(buffers_.buffer(buffer), schedule_.places);
  }
  void report(TaskId id, const std::string& what) { findings_.push_back(label(id) + " " + what); }
  Stage stage_of(Place place) const { return schedule_.stage_of[static_cast<std::size_t>(place)]; }

  void write(std::size_t index) {
    const auto id = static_cast<TaskId>(index);
    std::size_t written = 0;
    for (const std::uint32_t buffer : buffers_.writes(index)) {
      if (!is_message(buffers_.buffer(buffer))) {
        continue;
      }
      ++written;
      if (writers_[buffer] != nobody) {
        report(id, "writes " + text(buffer) + ", which " + label(writers_[buffer]) +
                       " has written: no message is sent twice");
      }
      writers_[buffer] = id;
      if (buffers_.buffer(buffer).place != task(id).place) {
        report(id, "writes " + text(buffer) + ", which is not its own");
      }
    }
    const std::size_t expected = traits_of(task(id).kind).sends ? 1 : 0;
    if (written != expected) {
      report(id, "writes " + std::to_string(written) + " messages; its " +
                     std::string(name_of(task(id).kind)) + " writes " + std::to_string(expected));
    }
  }

  void read(std::size_t index) {
    const auto id = static_cast<TaskId>(index);
    const TaskKind kind = task(id).kind;
    std::size_t count = 0;
    for (const std::uint32_t buffer : buffers_.reads(index)) {
      readers_of_[buffer] = id;
      if (is_message(buffers_.buffer(buffer))) {
        ++count;
        if (writers_[buffer] != nobody && reads_messages(kind)) {
          pair(writers_[buffer], id, buffer);
        }
        read_[buffer] = id;
      }
    }
    const bool right = reads_several(kind) || count == (reads_messages(kind) ? 1U : 0U);
    if (!right) {
      report(id, "reads " + std::to_string(count) + " messages; its " + std::string(name_of(kind)) +
                     " reads " + (reads_messages(kind) ? "1" : "0"));
    }
    if (reads_messages(kind)) {
      read_in_place(index);
    }
  }

  void pair(TaskId writer, TaskId reader, std::uint32_t buffer) {
    const Task& from = task(writer);
    const Task& to = task(reader);
    const auto mismatch = [&](const std::string& what) {
      report(reader, what + ", but reads " + text(buffer) + " of " + label(writer));
    };
    if (!readers_.insert({buffer, to.place}).second) {
      report(reader, "reads " + text(buffer) + " of " + label(writer) +
                         ", which its place has received already");
    } else if (from.kind == TaskKind::send && from.peer != to.place) {
      report(reader,
             "reads " + text(buffer) + ", which " + label(writer) + " sends to another place");
    } else if (to.place == from.place) {
      mismatch("is on the place that sends");
    } else if (to.peer >= 0 && to.peer != from.place) {
      mismatch("waits for another place");
    } else if (from.payload != to.payload) {
      mismatch("expects " + std::string(name_of(to.payload)));
    } else if (from.codec != to.codec) {
      mismatch("expects it " + std::string(name_of(to.codec)));
    } else if (is_of_samples(from) && !(from.samples == to.samples)) {
      mismatch("expects samples " + text_of(to.samples));
    } else if (is_of_statistics(from) &&
               (!(from.nodes == to.nodes) || from.of_gradients != to.of_gradients ||
                from.update != to.update)) {
      mismatch("expects statistics for other nodes, or of another update");
    } else if (!(from.elements == to.elements)) {
      mismatch("expects elements " + text_of(to.elements));
    } else if (from.payload == Payload::weights && from.version != to.version) {
      mismatch("expects weights v" + std::to_string(to.version));
    } else if (!reads_several(to.kind) && from.bytes != to.bytes) {
      mismatch("expects " + std::to_string(to.bytes) + " bytes instead of " +
               std::to_string(from.bytes));
    } else if (!goes_between(from, to)) {
      mismatch("belongs to a stage where nothing of that goes");
    }
  }

  bool goes_between(const Task& sender, const Task& receiver) const {
    const PayloadTraits& payload = traits_of(sender.payload);
    const std::pair stages(stage_of(sender.place), stage_of(receiver.place));
    if (payload.along_links) {
      return (sender.payload == Payload::activations ? activations_ : gradients_).contains(stages);
    }
    return payload.across_stages || stages.first == stages.second ||
           (payload.of_elements && holds(sender) && holds(receiver));
  }

  /// An owner and who computes with its parameters both hold them.
  bool holds(const Task& task) const {
    const ElementRange& held = facts_[task.place].elements;
    return !schedule_.part_owners.empty() && joined(held, task.elements) == held;
  }

  /// Gradients and weights of a host-accessible place are not copied into a message: who reads it
  /// reads them where they lie. Nothing else of another place is read.
  void read_in_place(std::size_t index) {
    const auto id = static_cast<TaskId>(index);
    const auto given = buffers_.reads(index);
    for (const std::uint32_t message : given) {
      const TaskId writer = is_message(buffers_.buffer(message)) ? writers_[message] : nobody;
      if (writer == nobody || !lies_open(task(writer))) {
        continue;
      }
      for (const std::uint32_t source : buffers_.reads(static_cast<std::size_t>(writer))) {
        sources_of_[source] = id;
        if (readers_of_[source] != id) {
          report(id, "does not read " + text(source) + ", of which " + label(writer) +
                         " makes no copy");
        }
      }
    }
    for (const std::uint32_t buffer : given) {
      const Buffer& read = buffers_.buffer(buffer);
      if (!is_message(read) && read.place != task(id).place && sources_of_[buffer] != id) {
        report(id, "reads " + text(buffer) + ", which nobody lets it read");
      }
    }
  }

  bool lies_open(const Task& sender) const {
    return is_read_in_place(sender,
                            schedule_.host_accessible[static_cast<std::size_t>(sender.place)]);
  }

  void wait(std::size_t index) {
    const auto id = static_cast<TaskId>(index);
    for (const TaskId earlier : task(id).after) {
      if (task(earlier).place == task(id).place) {
        continue;
      }
      const auto sent = buffers_.writes(static_cast<std::size_t>(earlier));
      const bool carried = std::ranges::any_of(sent, [&](std::uint32_t buffer) {
        return is_message(buffers_.buffer(buffer)) && readers_of_[buffer] == id;
      });
      if (!carried) {
        report(id, "waits for " + label(earlier) +
                       " of another place, and no message between them carries that order");
      }
    }
  }

  const Schedule& schedule_;
  PlaceFacts facts_;
  const BufferUses& buffers_;
  std::vector<TaskId> writers_;     ///< by buffer, of messages
  std::vector<TaskId> read_;        ///< the last one that read a message
  std::vector<TaskId> readers_of_;  ///< by buffer, the task looked at last that reads it
  std::vector<TaskId> sources_of_;  ///< and that may read it where it lies
  std::set<std::pair<std::uint32_t, Place>> readers_;  ///< of messages
  std::set<std::pair<Stage, Stage>> activations_;
  std::set<std::pair<Stage, Stage>> gradients_;
  Findings findings_;
};

}  // namespace

Findings check_messages(const Schedule& schedule, const BufferUses& buffers) {
  return MessageCheck(schedule, buffers).run();
}

}  // namespace zygos::schedule
