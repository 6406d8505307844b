// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/schedule/schedule.hpp"

#include "schedule/builder/buffer_uses.hpp"
#include "schedule/builder/stage_facts.hpp"
#include "schedule/order/order.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace zygos::schedule {
namespace {

bool names_nodes(const Task& task) {
  return traits_of(task.kind).nodes != Nodes::none || is_of_statistics(task);
}

template <class Range, class Text>
std::string joined(const Range& range, const char* separator, Text text) {
  std::string out;
  for (const auto& item : range) {
    out += (out.empty() ? "" : separator) + text(item);
  }
  return out.empty() ? "-" : out;
}

std::string place_name(Place place, const std::vector<std::string>& places) {
  const auto index = static_cast<std::size_t>(place);
  return place >= 0 && index < places.size() ? places[index] : std::to_string(place);
}

/// What tells buffers of one place from each other; "@place" is added to those of others.
std::string list_text(const std::vector<Buffer>& buffers, Place here,
                      const std::vector<std::string>& places) {
  return joined(buffers, ", ", [&](const Buffer& buffer) {
    std::string text = text_of(buffer, places);
    if (buffer.place == here && buffer.kind != BufferKind::batch) {
      const std::string at = "@" + place_name(here, places);
      text.erase(text.find(at), at.size());
    }
    return text;
  });
}

std::string peer_text(const Schedule& schedule, const Task& task) {
  if (task.peer < 0) {
    return {};
  }
  return (reads_messages(task.kind) ? " from " : " to ") + place_name(task.peer, schedule.places);
}

std::string weights_text(const Task& task) {
  const bool dropped = task.kind == TaskKind::forward && !task.keeps;
  return traits_of(task.kind).shows_version
             ? (dropped ? " (not kept) v" : " v") + std::to_string(task.version)
             : std::string();
}

std::string places_text(const Schedule& schedule) {
  std::string out;
  for (std::size_t place = 0; place < schedule.places.size(); ++place) {
    const Stage stage = place < schedule.stage_of.size() ? schedule.stage_of[place] : -1;
    out +=
        (place == 0 ? "" : ", ") + schedule.places[place] +
        (stage >= 0 ? " (stage " + std::to_string(stage) + ")"
         : owns_parts(schedule, static_cast<Place>(place)) ? " (owner)"
                                                           : " (idle)") +
        (place < schedule.lane_count()
             ? std::string()
             : " on the lane of " + schedule.places[schedule.lane_of(static_cast<Place>(place))]) +
        (streams(schedule, static_cast<Place>(place)) ? ", its weights streamed" : "") +
        (borrows(schedule, static_cast<Place>(place)) ? ", its weights borrowed" : "") +
        (spills_states(schedule, static_cast<Place>(place)) ? ", its states in a file" : "");
  }
  return out;
}

std::string links_text(const std::vector<StageLink>& links) {
  return joined(links, ", ", [](const StageLink& link) {
    return std::to_string(link.from) + " to " + std::to_string(link.to) + " (nodes " +
           joined(link.tensors, " ", [](std::int32_t node) { return std::to_string(node); }) + ")";
  });
}

std::string owners_text(const Schedule& schedule) {
  const auto name = [&](Place place) { return place_name(place, schedule.places); };
  return schedule.part_owners.empty() ? std::string()
                                      : ", updated by " + joined(schedule.part_owners, ", ", name);
}

std::string slices_text(const Schedule& schedule) {
  return schedule.slices.empty()
             ? std::string()
             : "\nslices " + joined(schedule.slices, ", ",
                                    [](const ModelSlice& slice) { return zygos::text_of(slice); });
}

std::string segments_text(const Schedule& schedule) {
  return schedule.segments.empty()
             ? std::string()
             : "\nsegments of nodes " + joined(schedule.segments, ", ", [](const Segment& segment) {
                 return text_of(segment.nodes) +
                        (segment.keeping == Keeping::kept
                             ? std::string()
                             : " (" + std::string(name_of(segment.keeping)) + ")");
               });
}

std::string compression_text(const OneBitSteps& steps) {
  if (steps.after == 0) {
    return {};
  }
  return ", compresses after " + std::to_string(steps.after) + " steps" +
         (steps.refresh > 0 ? " but for " + std::to_string(steps.refresh) +
                                  " at each distance of 1, 2, 4, ... steps"
                            : std::string());
}

std::string head_text(const Schedule& schedule) {
  const auto ranges = [](const auto& all) {
    return joined(all, ", ", [](const auto& range) { return text_of(range); });
  };
  const std::string chunk =
      schedule.chunk > 0 ? ", chunks of " + std::to_string(schedule.chunk) : std::string();
  const std::string ahead = schedule.batch_slots > 1 ? ", loaded a step ahead" : "";
  return "policy " + schedule.policy + ", batch " + std::to_string(schedule.batch) + ahead + chunk +
         compression_text(schedule.one_bit) + "\nplaces " + places_text(schedule) +
         slices_text(schedule) + "\nstages of nodes " + ranges(schedule.stages) +
         segments_text(schedule) + "\nactivations from stage " +
         links_text(schedule.activation_links) + "\ngradients from stage " +
         links_text(schedule.gradient_links) + "\nmicro-batches of samples " +
         ranges(schedule.micro_batches) + "\nparts of elements " + ranges(schedule.parts) +
         owners_text(schedule) + "\nupdates of samples " + ranges(schedule.updates) + "\n";
}

/// What a task's name leaves out.
std::string details_text(const Task& task) {
  std::string out;
  if (task.queue != Queue::compute) {
    out += "; " + std::string(name_of(task.queue));
  }
  if (!task.after.empty()) {
    out +=
        "; after " + joined(task.after, " ", [](TaskId before) { return std::to_string(before); });
  }
  if (task.bytes > 0) {
    out += "; " + std::to_string(task.bytes) + " bytes";
  }
  if (task.local) {
    out += " on the lane";
  }
  if (task.exact_bytes > 0) {
    out += " (" + std::to_string(task.exact_bytes) + " exact)";
  }
  if (task.kind == TaskKind::average && task.every > 1) {
    out += "; every " + std::to_string(task.every) + " steps";
  }
  return out;
}

/// Bytes of every message, by its buffer.
std::map<Buffer, std::int64_t> message_bytes(const Schedule& schedule, bool compressed) {
  std::map<Buffer, std::int64_t> bytes;
  for (const Task& task : schedule.tasks) {
    for (const Buffer& buffer : task.writes) {
      if (buffer.kind == BufferKind::message && !task.local) {
        bytes[buffer] = !compressed && task.codec == Codec::one_bit ? task.exact_bytes : task.bytes;
      }
    }
  }
  return bytes;
}

/// Calls f(bytes) for every message from another lane that a place reads.
template <class F>
void for_each_delivery(const Schedule& schedule, bool compressed, F&& f) {
  const auto bytes = message_bytes(schedule, compressed);
  for (const Task& task : schedule.tasks) {
    for (const Buffer& buffer : task.reads) {
      const auto found = bytes.find(buffer);
      if (found != bytes.end()) {
        f(found->second);
      }
    }
  }
}

}  // namespace

std::string Schedule::name_of(TaskId id) const {
  const Task& task = tasks[static_cast<std::size_t>(id)];
  std::string out =
      std::string(schedule::name_of(task.kind)) + "@" + place_name(task.place, places);
  out += peer_text(*this, task);
  if (task.payload != Payload::none) {
    out += " " + std::string(schedule::name_of(task.payload));
  }
  if (task.codec != Codec::exact) {
    out += " as " + std::string(schedule::name_of(task.codec));
  }
  if (names_nodes(task)) {
    out += " nodes " + text_of(task.nodes) + (task.of_gradients ? " of gradients" : "");
  }
  if (task.samples.count() > 0) {
    out += micro_batches.size() > 1 ? " mb " + std::to_string(task.micro_batch) : std::string();
    out += " samples " + text_of(task.samples);
    out += is_for_next_step(*this, task) ? " of the next step" : "";
  }
  const bool of_owner =
      task.payload == Payload::weights || traits_of(task.kind).elements == Elements::updated;
  if (parts.size() > 1 && (task.payload == Payload::gradients || task.kind == TaskKind::compress ||
                           (of_owner && !part_owners.empty()))) {
    out += " elements " + text_of(task.elements);
  }
  return out + weights_text(task);
}

SampleRange Schedule::samples_of(Place place) const {
  SampleRange all;
  for (const Task& task : tasks) {
    if (task.place != place || task.kind != TaskKind::load) {
      continue;
    }
    all = all.count() == 0 ? task.samples
                           : SampleRange{std::min(all.begin, task.samples.begin),
                                         std::max(all.end, task.samples.end)};
  }
  return all;
}

std::vector<std::int64_t> Schedule::sample_counts() const {
  std::vector<std::int64_t> counts(places.size(), 0);
  for (const Task& task : tasks) {
    if (task.kind == TaskKind::load) {
      counts[static_cast<std::size_t>(task.place)] += task.samples.count();
    }
  }
  return counts;
}

std::vector<std::int64_t> Schedule::lane_sample_counts() const {
  const std::vector<std::int64_t> counts = sample_counts();
  std::vector<std::int64_t> of_lanes(lane_count(), 0);
  for (std::size_t place = 0; place < counts.size(); ++place) {
    std::int64_t& lane = of_lanes[lane_of(static_cast<Place>(place))];
    lane = std::max(lane, counts[place]);
  }
  return of_lanes;
}

NodeRange Schedule::nodes_of(Place place) const {
  const Stage stage = stage_of[static_cast<std::size_t>(place)];
  return stage < 0 ? NodeRange{} : stages[static_cast<std::size_t>(stage)];
}

ElementRange Schedule::elements_of(Place place) const {
  ElementRange all = schedule::elements_of(*this, nodes_of(place));
  for (std::size_t part = 0; part < part_owners.size(); ++part) {
    all = part_owners[part] == place ? joined(all, parts[part]) : all;
  }
  return all;
}

std::vector<Place> Schedule::active_places() const {
  std::set<Place> active;
  for (const Task& task : tasks) {
    active.insert(task.place);
  }
  return {active.begin(), active.end()};
}

std::vector<std::size_t> Schedule::active_lanes() const {
  std::set<std::size_t> active;
  for (const Task& task : tasks) {
    active.insert(lane_of(task.place));
  }
  return {active.begin(), active.end()};
}

bool is_read_in_place(const Task& sender, bool sender_host_accessible) {
  return sender_host_accessible && sender.codec == Codec::exact &&
         traits_of(sender.payload).read_in_place;
}

Codec codec_in(const Schedule& schedule, const Task& task, std::uint64_t step) {
  return task.codec == Codec::one_bit && !compresses(schedule, step) ? Codec::exact : task.codec;
}

std::int64_t max_bytes(const Task& task) { return std::max(task.bytes, task.exact_bytes); }

bool rounds_source(const Task& task) {
  return writes_messages(task.kind) && task.payload == Payload::gradients &&
         task.codec == Codec::bf16;
}

namespace {

/// Of flags by place, of which there may be none.
bool holds(const std::vector<bool>& flags, Place place) {
  const auto index = static_cast<std::size_t>(place);
  return index < flags.size() && flags[index];
}

}  // namespace

bool loads_ahead(const Schedule& schedule, Place place) {
  return schedule.batch_slots > 1 && !holds(schedule.host_accessible, place);
}

bool is_for_next_step(const Schedule& schedule, const Task& task) {
  return (task.kind == TaskKind::load || task.kind == TaskKind::copy) &&
         loads_ahead(schedule, task.place);
}

bool streams(const Schedule& schedule, Place place) { return holds(schedule.streams, place); }

bool borrows(const Schedule& schedule, Place place) { return holds(schedule.borrows, place); }

bool spills_states(const Schedule& schedule, Place place) {
  return holds(schedule.spills_states, place);
}

Lifetime lifetime_of(const Schedule& schedule, const Buffer& buffer) {
  // The validator asks this of wrong buffers, too: of parts that the schedule does not have.
  const auto part = static_cast<std::size_t>(buffer.part);
  const bool owned =
      part < schedule.part_owners.size() && schedule.part_owners[part] == buffer.place;
  const bool streamed =
      streams(schedule, buffer.place) && !owned &&
      (buffer.kind == BufferKind::weights || buffer.kind == BufferKind::gradients);
  const bool borrowed =
      borrows(schedule, buffer.place) && !owned && buffer.kind == BufferKind::weights;
  const bool spilled =
      buffer.kind == BufferKind::optimizer_state && spills_states(schedule, buffer.place);
  return streamed || borrowed || spilled ? Lifetime::step : traits_of(buffer.kind).lifetime;
}

bool evaluates(const Schedule& schedule, const Task& task) {
  // Weights that a place has only while it uses them, for the forward pass.
  if (task.payload == Payload::weights && task.peer >= 0 && task.slot == 0 &&
      (streams(schedule, task.place) || streams(schedule, task.peer))) {
    return true;
  }
  if (task.payload == Payload::weights && !schedule.borrows.empty() && task.version == 0) {
    return true;
  }
  const Evaluation evaluation = traits_of(task.kind).evaluation;
  return evaluation == Evaluation::kept ||
         (evaluation == Evaluation::kept_for_activations && task.payload == Payload::activations);
}

Schedule Schedule::for_evaluation() const {
  Schedule out = *this;
  std::erase_if(out.tasks, [this](const Task& task) { return !evaluates(*this, task); });
  for (Task& task : out.tasks) {
    // Nothing is updated in between, so all passes see the current weights.
    task.version = 0;
    task.slot = 0;
    task.not_before = nobody;
    for (Buffer& buffer : task.reads) {
      buffer.slot = buffer.kind == BufferKind::weights ? 0 : buffer.slot;
    }
    // Nor is there a batch that has to be known first: layers have running statistics.
    std::erase_if(task.reads,
                  [](const Buffer& buffer) { return buffer.kind == BufferKind::batch_statistics; });
  }
  std::ranges::fill(out.statistics, 0);
  // A wait for a task that is left out would be lost, and what that task stood for is gone.
  derive_order(out);
  return out;
}

std::int64_t Schedule::traffic_bytes(bool compressed) const {
  std::int64_t sum = 0;
  for_each_delivery(*this, compressed, [&](std::int64_t bytes) { sum += bytes; });
  return sum;
}

std::int64_t Schedule::traffic_messages() const {
  std::int64_t count = 0;
  for_each_delivery(*this, true, [&](std::int64_t) { ++count; });
  return count;
}

std::string Schedule::text() const {
  std::string out = head_text(*this);
  for (std::size_t id = 0; id < tasks.size(); ++id) {
    const Task& task = tasks[id];
    out += std::to_string(id) + ": " + name_of(static_cast<TaskId>(id)) + details_text(task);
    out += "; reads " + list_text(task.reads, task.place, places);
    out += "; writes " + list_text(task.writes, task.place, places) + "\n";
  }
  return out;
}

}  // namespace zygos::schedule
