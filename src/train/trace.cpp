// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/train/trace.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace zygos::train {
namespace {

constexpr double microseconds = 1e6;
constexpr int measured_process = 1;
constexpr int predicted_process = 2;

/// The file is written event by event: a long trace is never held as one document.
class EventWriter {
 public:
  explicit EventWriter(std::ostream& out) : out_(out) {
    out_ << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  }
  ~EventWriter() { out_ << "\n]}\n"; }
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  void name(const char* what, int process, std::size_t thread, const std::string& name) {
    write({{"name", what},
           {"ph", "M"},
           {"pid", process},
           {"tid", thread},
           {"args", {{"name", name}}}});
  }
  void write(const nlohmann::json& event) {
    out_ << (first_ ? "" : ",\n") << event.dump();
    first_ = false;
  }

 private:
  std::ostream& out_;
  bool first_ = true;
};

nlohmann::json event_of(const schedule::Schedule& schedule, schedule::TaskId id, int process,
                        double start_s, double end_s) {
  const schedule::Task& task = schedule.tasks[static_cast<std::size_t>(id)];
  return {{"name", name_of(task.kind)},
          {"cat", "task"},
          {"ph", "X"},
          {"pid", process},
          {"tid", task.place},
          {"ts", start_s * microseconds},
          {"dur", (end_s - start_s) * microseconds},
          {"args",
           {{"task", schedule.name_of(id)},
            {"samples", {task.samples.begin, task.samples.end}},
            {"after", task.after}}}};
}

void name_tracks(EventWriter& writer, const schedule::Schedule& schedule, int process,
                 const std::string& name) {
  writer.name("process_name", process, 0, name);
  for (const schedule::Place place : schedule.active_places()) {
    const auto track = static_cast<std::size_t>(place);
    writer.name("thread_name", process, track, schedule.places[track]);
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

void write_trace(std::ostream& out, const Trace& trace, const schedule::Schedule& schedule,
                 const plan::Simulation* predicted) {
  EventWriter writer(out);
  name_tracks(writer, schedule, measured_process, "measured");
  double origin_s = 0.0;
  bool found = false;
  for (std::size_t line = 0; line < schedule.places.size() * schedule::queue_count; ++line) {
    for (const TaskRecord& record : trace.of(line)) {
      origin_s = found ? std::min(origin_s, record.start_s) : record.start_s;
      found = true;
      auto event = event_of(schedule, record.task, measured_process, record.start_s, record.end_s);
      event["args"]["step"] = record.step;
      writer.write(event);
    }
  }
  if (predicted == nullptr) {
    return;
  }
  name_tracks(writer, schedule, predicted_process, "predicted");
  for (std::size_t task = 0; task < predicted->tasks.size(); ++task) {
    const plan::TaskTime& time = predicted->tasks[task];
    writer.write(event_of(schedule, static_cast<schedule::TaskId>(task), predicted_process,
                          origin_s + time.start_s, origin_s + time.end_s));
  }
}

}  // namespace zygos::train
