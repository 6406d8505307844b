// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/train/trace.hpp"

#include "zygos/core/error.hpp"
#include "zygos/core/version.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

namespace zygos::train {
namespace {

constexpr double microseconds = 1e6;
constexpr int measured_process = 1;
constexpr int predicted_process = 2;
// What a place does at once: computing, sending, receiving, writing and reading its file.
constexpr std::size_t tracks_per_place = schedule::queue_count;
constexpr std::array<const char*, tracks_per_place> track_names{"", " outgoing", " incoming",
                                                                " file"};

/// Names come from decks; one that is no UTF-8 must not cost the run its trace.
std::string text_of(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The file is written event by event: a long trace is never held as one document.
class EventWriter {
 public:
  /// `facts`: a key of the document beside its events, which viewers pass over.
  EventWriter(std::ostream& out, const nlohmann::json& facts) : out_(out) {
    out_ << "{\"displayTimeUnit\":\"ms\",\n\"zygos\":" << text_of(facts)
         << ",\n\"traceEvents\":[\n";
  }
  ~EventWriter() { out_ << "\n]}\n"; }
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  void describe(const char* what, int process, std::size_t track, const nlohmann::json& args) {
    write({{"name", what}, {"ph", "M"}, {"pid", process}, {"tid", track}, {"args", args}});
  }
  void write(const nlohmann::json& event) { write_text(text_of(event)); }
  void write_text(const std::string& event) {
    out_ << (first_ ? "" : ",\n") << event;
    first_ = false;
  }

 private:
  std::ostream& out_;
  bool first_ = true;
};

nlohmann::json facts_of(const schedule::Schedule& schedule) {
  return {{"version", version()},
          {"places", schedule.places},
          {"policy", schedule.policy},
          {"batch", schedule.batch}};
}

/// What a place does one after the other shares a track.
std::size_t queue_of(const schedule::Task& task) { return static_cast<std::size_t>(task.queue); }

std::size_t track_of(const schedule::Task& task) {
  return static_cast<std::size_t>(task.place) * tracks_per_place + queue_of(task);
}

std::vector<std::string> texts_of(const std::vector<schedule::Buffer>& buffers,
                                  const schedule::Schedule& schedule) {
  std::vector<std::string> texts;
  for (const schedule::Buffer& buffer : buffers) {
    texts.push_back(schedule::text_of(buffer, schedule.places));
  }
  return texts;
}

template <class T>
void append_number(std::string& text, const char* key, T value) {
  std::array<char, 32> digits{};
  text += key;
  text.append(digits.data(),
              std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

/// The events of a schedule's tasks. All but their times and steps is the same whenever a task
/// runs, and put together once.
class TaskEvents {
 public:
  explicit TaskEvents(const schedule::Schedule& schedule) {
    for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
      texts_.push_back(text_of_task(schedule, static_cast<schedule::TaskId>(id)));
    }
  }

  std::string measured(const TaskRecord& record) const {
    std::string text = texts_[static_cast<std::size_t>(record.task)];
    append_number(text, ",\"step\":", record.step);
    return timed(std::move(text), measured_process, record.start_s, record.end_s);
  }
  std::string predicted(std::size_t task, double start_s, double end_s) const {
    return timed(texts_[task], predicted_process, start_s, end_s);
  }

 private:
  /// Up to the end of "args", which is its last key and stays open.
  static std::string text_of_task(const schedule::Schedule& schedule, schedule::TaskId id) {
    const schedule::Task& task = schedule.tasks[static_cast<std::size_t>(id)];
    std::string event = text_of(
        {{"name", name_of(task.kind)}, {"cat", "task"}, {"ph", "X"}, {"tid", track_of(task)}});
    std::string args = text_of({{"task", schedule.name_of(id)},
                                {"samples", {task.samples.begin, task.samples.end}},
                                {"bytes", task.bytes},
                                {"micro_batch", task.micro_batch},
                                {"after", task.after},
                                {"reads", texts_of(task.reads, schedule)},
                                {"writes", texts_of(task.writes, schedule)}});
    event.pop_back();
    args.pop_back();
    return event + ",\"args\":" + args;
  }
  static std::string timed(std::string text, int process, double start_s, double end_s) {
    append_number(text, "},\"pid\":", process);
    append_number(text, ",\"ts\":", start_s * microseconds);
    append_number(text, ",\"dur\":", (end_s - start_s) * microseconds);
    return text += '}';
  }

  std::vector<std::string> texts_;
};

void name_tracks(EventWriter& writer, const schedule::Schedule& schedule, int process,
                 const std::string& name) {
  writer.describe("process_name", process, 0, {{"name", name}});
  std::map<std::size_t, std::string> tracks;
  for (const schedule::Task& task : schedule.tasks) {
    tracks[track_of(task)] =
        schedule.places[static_cast<std::size_t>(task.place)] + track_names[queue_of(task)];
  }
  for (const auto& [track, text] : tracks) {
    writer.describe("thread_name", process, track, {{"name", text}});
    writer.describe("thread_sort_index", process, track, {{"sort_index", track}});
  }
}

/// As a run's summary names the tiers of a lane.
std::string suffix_of(schedule::Tier tier) {
  switch (tier) {
    case schedule::Tier::lane:
      return "";
    case schedule::Tier::host:
      return "/staging";
    case schedule::Tier::file:
      return "/file";
  }
  throw InternalError("a tier without a name");
}

void write_memory(EventWriter& writer, const schedule::Schedule& schedule, int process,
                  double origin_s, std::span<const plan::MemorySample> samples) {
  for (const plan::MemorySample& sample : samples) {
    nlohmann::json bytes = nlohmann::json::object();
    for (const memory::Category category : memory::all_categories) {
      bytes[std::string(memory::name_of(category))] = sample.usage[category];
    }
    writer.write({{"name", "memory " + schedule.places[static_cast<std::size_t>(sample.place)] +
                               suffix_of(sample.tier)},
                  {"ph", "C"},
                  {"pid", process},
                  {"tid", static_cast<std::size_t>(sample.place) * tracks_per_place},
                  {"ts", (origin_s + sample.time_s) * microseconds},
                  {"args", bytes}});
  }
}

}  // namespace

Trace::Trace(std::size_t lines, std::size_t capacity) : rings_(lines) {
  for (Ring& ring : rings_) {
    ring.records.resize(capacity);
  }
}

void Trace::record(std::size_t line, const TaskRecord& record) noexcept {
  Ring& ring = rings_[line];
  if (ring.records.empty()) {
    return;
  }
  ring.records[ring.next] = record;
  if (++ring.next == ring.records.size()) {
    ring.next = 0;
    ring.full = true;
  }
}

std::vector<TaskRecord> Trace::of(std::size_t line) const {
  const Ring& ring = rings_[line];
  const auto middle = ring.records.begin() + static_cast<std::ptrdiff_t>(ring.next);
  std::vector<TaskRecord> out;
  if (ring.full) {
    out.assign(middle, ring.records.end());
  }
  out.insert(out.end(), ring.records.begin(), middle);
  return out;
}

void Trace::clear() noexcept {
  for (Ring& ring : rings_) {
    ring.next = 0;
    ring.full = false;
  }
}

std::vector<plan::TaskTime> newest_step(const Trace& trace, const schedule::Schedule& schedule) {
  struct Step {
    std::size_t tasks = 0;
    std::vector<plan::TaskTime> times;
  };
  std::map<std::uint64_t, Step> steps;
  for (std::size_t line = 0; line < schedule.places.size() * schedule::queue_count; ++line) {
    for (const TaskRecord& record : trace.of(line)) {
      Step& step = steps[record.step];
      step.times.resize(schedule.tasks.size());
      step.times[static_cast<std::size_t>(record.task)] = {record.start_s, record.end_s};
      ++step.tasks;
    }
  }
  steps.erase(0);  // evaluations
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (step->second.tasks == schedule.tasks.size()) {
      return std::move(step->second.times);
    }
  }
  return {};
}

void write_trace(std::ostream& out, const Trace& trace, const schedule::Schedule& schedule,
                 const plan::Simulation* predicted, const TraceMemory& memory) {
  const TaskEvents events(schedule);
  EventWriter writer(out, facts_of(schedule));
  name_tracks(writer, schedule, measured_process, "measured");
  double origin_s = 0.0;
  bool found = false;
  for (std::size_t line = 0; line < schedule.places.size() * schedule::queue_count; ++line) {
    for (const TaskRecord& record : trace.of(line)) {
      origin_s = found ? std::min(origin_s, record.start_s) : record.start_s;
      found = true;
      writer.write_text(events.measured(record));
    }
  }
  write_memory(writer, schedule, measured_process, 0.0, memory.measured);
  if (predicted == nullptr) {
    return;
  }
  name_tracks(writer, schedule, predicted_process, "predicted");
  write_memory(writer, schedule, predicted_process, origin_s, memory.predicted);
  for (std::size_t task = 0; task < predicted->tasks.size(); ++task) {
    const plan::TaskTime& time = predicted->tasks[task];
    writer.write_text(events.predicted(task, origin_s + time.start_s, origin_s + time.end_s));
  }
}

}  // namespace zygos::train
