// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/builder/stage_facts.hpp"
#include "schedule/checks/checks.hpp"
#include "schedule/checks/sample_set.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace zygos::schedule {
namespace {

/// What a part of a gradient holds.
struct Sum {
  SampleSet samples;
  SampleSet elements;       ///< in which there is something, not samples
  std::int32_t epoch = -1;  ///< of the place's weights when it was begun
  bool compressed = false;  ///< what one bit an element can say
};

/// What a message holds, and where it lies if it is no copy.
struct Message {
  std::map<std::int32_t, SampleSet> parts;
  bool compressed = false;
  std::vector<std::pair<std::uint32_t, TaskId>> sources;  ///< buffers and who had written them
};

bool is_gradient(const Buffer& buffer) {
  return buffer.kind == BufferKind::gradients || buffer.kind == BufferKind::reduced_gradients;
}

class GradientCheck {
 public:
  GradientCheck(const Schedule& schedule, const BufferUses& buffers)
      : schedule_(schedule),
        buffers_(buffers),
        facts_(schedule),
        writers_(buffers.count(), nobody),
        parts_(std::max<std::size_t>(1, schedule.part_owners.size())),
        epochs_(schedule.places.size() * parts_, 0) {}

  void visit(std::size_t index) {
    index_ = index;
    const Task& task = schedule_.tasks[index];
    for (const auto& [kind, follow] : followed) {
      if (task.kind == kind) {
        (this->*follow)(task);
      }
    }
    for (const std::uint32_t buffer : buffers_.writes(index)) {
      writers_[buffer] = static_cast<TaskId>(index);
    }
  }

  Findings finish() && {
    check_totals();
    check_stages();
    return std::move(findings_);
  }

 private:
  using Follow = std::pair<TaskKind, void (GradientCheck::*)(const Task&)>;
  /// Kinds that read, write or carry gradients; others have nothing to do with them.
  static const std::array<Follow, 9> followed;

  const StageFacts& stage_of(const Task& task) const { return facts_[task.place]; }
  std::string label(TaskId id) const { return label_of(schedule_, static_cast<std::size_t>(id)); }
  std::string text(std::uint32_t buffer) const {
    return text_of(buffers_.buffer(buffer), schedule_.places);
  }

  /// Once for a task: what is wrong with one part is so with most of them.
  void report(const std::string& what) {
    if (reported_ != index_ + 1) {
      findings_.push_back(label_of(schedule_, index_) + " " + what);
      reported_ = index_ + 1;
    }
  }

  /// Of the weights that belong to a part of a gradient, or of the weights themselves.
  std::int32_t& epoch(const Buffer& buffer) {
    const auto part = parts_ == 1 ? 0 : static_cast<std::size_t>(buffer.part);
    return epochs_[static_cast<std::size_t>(buffer.place) * parts_ + part];
  }
  std::int32_t epoch_of(std::uint32_t buffer) { return epoch(buffers_.buffer(buffer)); }

  /// The weights that the task writes are others from now on.
  void change_weights() {
    for (const std::uint32_t written : buffers_.writes(index_)) {
      if (buffers_.buffer(written).kind == BufferKind::weights) {
        ++epoch(buffers_.buffer(written));
      }
    }
  }

  /// For what replaces the sum, all of it.
  Sum& begun_anew(std::uint32_t buffer) {
    Sum& sum = emptied(buffer);
    sum.elements.add(range_of(buffer));
    return sum;
  }

  Sum& emptied(std::uint32_t buffer) {
    Sum& sum = sums_[buffer];
    sum.samples.clear();
    sum.elements.clear();
    sum.compressed = false;
    sum.epoch = epoch_of(buffer);
    return sum;
  }

  SampleRange range_of(std::uint32_t buffer) const {
    const auto [begin, end] =
        schedule_.parts[static_cast<std::size_t>(buffers_.buffer(buffer).part)];
    return {begin, end};
  }

  void add(std::uint32_t buffer, Sum& sum, const SampleSet& more) {
    if (const auto twice = sum.samples.add(more)) {
      report("adds samples " + text_of(*twice) + " to " + text(buffer) + " a second time");
    }
  }

  void backward(const Task& task) {
    const ElementRange stage = stage_of(task).elements;
    const ElementRange here = elements_of(schedule_, task.nodes);
    for (const std::uint32_t buffer : buffers_.writes(index_)) {
      if (!is_gradient(buffers_.buffer(buffer))) {
        continue;
      }
      const SampleRange part = range_of(buffer);
      begin_elements(task, buffer,
                     {std::max(part.begin, here.begin), std::min(part.end, here.end)});
      // A part may reach over nodes that are still to come; it has the samples with the last.
      if (std::max(part.begin, stage.begin) >= here.begin) {
        SampleSet samples;
        samples.add(task.samples);
        add(buffer, sums_[buffer], samples);
      }
    }
  }

  /// Backward of the first micro-batch writes elements of a gradient, those of later ones add.
  void begin_elements(const Task& task, std::uint32_t buffer, const SampleRange& elements) {
    const auto found = sums_.find(buffer);
    const bool begun = found != sums_.end() && found->second.epoch == epoch_of(buffer);
    Sum& sum = begun ? found->second : emptied(buffer);
    if (!task.accumulates && sum.elements.touches(elements)) {
      report("overwrites " + text(buffer) + ", which " + label(writers_[buffer]) +
             " has added to since the last update");
    } else if (task.accumulates && sum.elements.first_missing(elements)) {
      report("adds to " + text(buffer) + ", in which nothing is since the last update");
    }
    sum.elements.add(elements);
    sum.compressed = false;
  }

  void send(const Task& task) {
    if (task.payload != Payload::gradients && task.payload != Payload::weights) {
      return;
    }
    Message& message = messages_[message_of(buffers_.writes(index_))];
    message.compressed = task.codec == Codec::one_bit;
    for (const std::uint32_t buffer : buffers_.reads(index_)) {
      message.sources.emplace_back(buffer, writers_[buffer]);
      if (is_gradient(buffers_.buffer(buffer))) {
        message.parts[buffers_.buffer(buffer).part] = sums_[buffer].samples;
        if (message.compressed && !sums_[buffer].compressed) {
          report("sends " + text(buffer) + " in one bit an element before it has been compressed");
        }
      }
    }
  }

  std::uint32_t message_of(std::span<const std::uint32_t> buffers) const {
    return *std::ranges::find_if(buffers, [&](std::uint32_t buffer) {
      return buffers_.buffer(buffer).kind == BufferKind::message;
    });
  }

  void receive(const Task& task) {
    if (task.payload == Payload::weights) {
      require_unchanged(message_of(buffers_.reads(index_)));
      change_weights();
    } else if (task.payload == Payload::gradients) {
      const std::uint32_t number = message_of(buffers_.reads(index_));
      require_unchanged(number);
      for (const std::uint32_t buffer : buffers_.writes(index_)) {
        Sum& sum = task.kind == TaskKind::receive ? begun_anew(buffer) : sums_[buffer];
        sum.compressed = task.kind == TaskKind::receive && messages_[number].compressed;
        add(buffer, sum, part_in(number, buffers_.buffer(buffer).part));
      }
    }
  }

  const SampleSet& part_in(std::uint32_t message, std::int32_t part) {
    return messages_[message].parts[part];
  }

  /// Where a message is no copy, what it stands for must still be what was sent.
  void require_unchanged(std::uint32_t number) {
    const auto read = buffers_.reads(index_);
    for (const auto& [source, writer] : messages_[number].sources) {
      if (writers_[source] != writer && std::ranges::find(read, source) != read.end()) {
        report("reads " + text(number) + " where it lies, but " + label(writers_[source]) +
               " has changed " + text(source) + " since it was sent");
      }
    }
  }

  void all_reduce(const Task& task) {
    for (const std::uint32_t buffer : buffers_.writes(index_)) {
      begun_anew(buffer);
    }
    for (const std::uint32_t read : buffers_.reads(index_)) {
      const Buffer& source = buffers_.buffer(read);
      if (source.kind == BufferKind::message) {
        require_unchanged(read);
        add_to_all([&](std::int32_t part) { return part_in(read, part); });
      } else if (source.place == task.place) {
        const SampleSet own = sums_[read].samples;
        add_to_all([&](std::int32_t part) { return part == source.part ? own : SampleSet(); });
      }
    }
  }

  template <class Samples>
  void add_to_all(Samples&& samples_of) {
    for (const std::uint32_t buffer : buffers_.writes(index_)) {
      add(buffer, sums_[buffer], samples_of(buffers_.buffer(buffer).part));
    }
  }

  void compress(const Task& /*task*/) {
    for (const std::uint32_t buffer : buffers_.writes(index_)) {
      if (is_gradient(buffers_.buffer(buffer))) {
        if (sums_[buffer].compressed) {
          report("compresses " + text(buffer) + " a second time");
        }
        sums_[buffer].compressed = true;
      }
    }
  }

  void update(const Task& task) {
    for (const std::uint32_t buffer : buffers_.reads(index_)) {
      if (!is_gradient(buffers_.buffer(buffer))) {
        continue;
      }
      if (schedule_.one_bit.after > 0 && !sums_[buffer].compressed) {
        report("takes " + text(buffer) + ", whose sum has not been compressed");
      }
      const SampleSet& samples = sums_[buffer].samples;
      require_whole(task, buffer, samples);
      const auto key = std::pair(task.place, buffers_.buffer(buffer).part);
      if (const auto twice = totals_[key].add(samples)) {
        report("takes samples " + text_of(*twice) + " from " + text(buffer) +
               ", which an earlier update has taken");
      }
    }
    change_weights();
    updated_.add(SampleRange{task.elements.begin, task.elements.end});
  }

  /// An update takes all samples of one of the schedule's updates or of several.
  void require_whole(const Task& task, std::uint32_t buffer, const SampleSet& samples) {
    const bool none = samples.ranges().empty();
    for (std::size_t i = 0; i < schedule_.updates.size(); ++i) {
      const SampleRange& averaged = schedule_.updates[i];
      if (!samples.touches(averaged) && !(none && i == static_cast<std::size_t>(task.update))) {
        continue;
      }
      if (const auto missing = samples.first_missing(averaged)) {
        report("takes " + text(buffer) + " before samples " + text_of(*missing) +
               " have been added to it");
      }
    }
  }

  void check_totals() {
    std::set<Place> reported;
    for (const auto& [key, samples] : totals_) {
      const auto& [place, part] = key;
      const auto missing = samples.first_missing({0, schedule_.batch});
      if (missing && reported.insert(place).second) {
        findings_.push_back("samples " + text_of(*missing) + " of " +
                            text_of({BufferKind::gradients, place, 0, 0, part}, schedule_.places) +
                            " reach no update");
      }
    }
  }

  /// No update at all is no finding: the schedule computes a gradient.
  void check_stages() {
    std::set<Stage> reported;
    const bool any = !updated_.ranges().empty();
    for (std::size_t id = 0; id < schedule_.tasks.size() && any; ++id) {
      const Task& task = schedule_.tasks[id];
      const Stage stage = schedule_.stage_of[static_cast<std::size_t>(task.place)];
      const auto [begin, end] = stage_of(task).elements;
      if (task.kind == TaskKind::backward && !stage_of(task).parts.empty() &&
          !updated_.touches({begin, end}) && reported.insert(stage).second) {
        findings_.push_back(label_of(schedule_, id) +
                            " makes a gradient, but no task updates stage " +
                            std::to_string(stage));
      }
    }
  }

  const Schedule& schedule_;
  const BufferUses& buffers_;
  PlaceFacts facts_;
  std::vector<TaskId> writers_;       ///< by buffer, the last one
  std::size_t parts_;                 ///< that weights change by
  std::vector<std::int32_t> epochs_;  ///< by place and part: how often the weights have changed
  std::unordered_map<std::uint32_t, Sum> sums_;                 ///< by buffer
  std::unordered_map<std::uint32_t, Message> messages_;         ///< by buffer
  std::map<std::pair<Place, std::int32_t>, SampleSet> totals_;  ///< by place and part: updated with
  SampleSet updated_;                                           ///< elements, not samples
  std::size_t index_ = 0;
  std::size_t reported_ = 0;
  Findings findings_;
};

const std::array<GradientCheck::Follow, 9> GradientCheck::followed{
    {{TaskKind::backward, &GradientCheck::backward},
     {TaskKind::send, &GradientCheck::send},
     {TaskKind::broadcast, &GradientCheck::send},
     {TaskKind::receive, &GradientCheck::receive},
     {TaskKind::reduce, &GradientCheck::receive},
     {TaskKind::all_reduce, &GradientCheck::all_reduce},
     {TaskKind::compress, &GradientCheck::compress},
     {TaskKind::update, &GradientCheck::update},
     {TaskKind::speculate, &GradientCheck::update}}};

}  // namespace

Findings check_gradients(const Schedule& schedule, const BufferUses& buffers,
                         const RunOrder& order) {
  return findings_of(GradientCheck(schedule, buffers), order);
}

}  // namespace zygos::schedule
