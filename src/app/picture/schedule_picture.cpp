// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/picture/schedule_picture.hpp"

#include "app/picture/task_look.hpp"
#include "app/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace zygos::app {

namespace {

using schedule::Queue;
using schedule::Schedule;
using schedule::Task;
using schedule::TaskId;

// In pixels.
constexpr double margin = 12.0;
constexpr double head_height = 34.0;
constexpr double compute_height = 26.0;
constexpr double queue_height = 17.0;
constexpr double row_gap = 3.0;
constexpr double lane_gap = 14.0;
constexpr double axis_height = 42.0;
constexpr double legend_line = 20.0;
constexpr double plot_width = 800.0;
constexpr double min_width = 560.0;
/// A character, at most, of a font of 12 and of one of 11 pixels.
constexpr double letter_width = 7.0;
constexpr double small_letter_width = 6.4;

// Rules instead of variables, which some viewers don't know; all of them are about this picture
// alone, wherever it is put.
constexpr std::string_view light_style =
    R"(.step text{font:12px system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;fill:#16191d}
.step .head{font-weight:600}.step .in{font-size:11px;text-anchor:middle}
.step .quiet{fill:#555d68;font-size:11px}
.step .page{fill:#ffffff}.step .row{fill:#eef1f4}.step .grid{stroke:#d5dae1}
.step .arrow{stroke:#16191d;fill:none;opacity:.75}.step .tip{fill:#16191d}
)";
constexpr std::string_view dark_style =
    R"(.step text{fill:#e9ecf0}.step .quiet{fill:#a3acb8}
.step .page{fill:#1a1e23}.step .row{fill:#272d35}.step .grid{stroke:#414a55}
.step .arrow{stroke:#e9ecf0}.step .tip{fill:#e9ecf0}
)";
constexpr std::string_view arrow_tip =
    R"(<defs><marker id="step-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>)";

/// At most two decimals, none of them in vain.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) {
    text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

struct QueueRow {
  std::size_t lane = 0;
  Queue queue = Queue::compute;
  double top = 0.0;
  double height = 0.0;
};

struct TaskBox {
  double left = 0.0;
  double width = 0.0;
  const QueueRow* row = nullptr;
  double middle() const { return left + width / 2.0; }
};

class Picture {
 public:
  Picture(const Schedule& schedule, const plan::Simulation& times, TimeUnit unit)
      : schedule_(schedule),
        times_(times),
        unit_(unit),
        numbered_(numbers_micro_batches(schedule)) {
    lay_out_rows();
    lay_out_columns();
  }

  std::string text() {
    draw_rows();
    draw_axis();
    draw_boxes();
    draw_arrows();
    const double height = draw_legend();
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
        "height=\"{1}\" class=\"step\" role=\"img\" aria-labelledby=\"step-title step-desc\">\n"
        "<title id=\"step-title\">{2}</title>\n<desc id=\"step-desc\">{3}</desc>\n{4}"
        "<rect class=\"page\" width=\"{0}\" height=\"{1}\"/>\n"
        "<text class=\"head\" x=\"{5}\" y=\"22\">{2}</text>\n{6}</svg>\n",
        number(width_), number(height), escaped_markup(title()), escaped_markup(description()),
        head(), number(margin), body_);
  }

 private:
  // ---------------------------------------------------------------- layout

  void lay_out_rows() {
    std::set<std::pair<std::size_t, Queue>> used;
    for (const Task& task : schedule_.tasks) {
      used.emplace(schedule_.lane_of(task.place), task.queue);
    }
    double top = head_height;
    for (const auto& [lane, queue] : used) {
      if (!rows_.empty()) {
        top += rows_.back().lane == lane ? row_gap : lane_gap;
      }
      rows_.push_back({lane, queue, top, queue == Queue::compute ? compute_height : queue_height});
      top += rows_.back().height;
    }
    rows_end_ = top;
  }

  void lay_out_columns() {
    std::size_t longest = 9;  // "outgoing" and a space
    for (const QueueRow& row : rows_) {
      longest = std::max(longest, lane_name(row).size());
    }
    left_ = margin + letter_width * static_cast<double>(longest) + 6.0;
    const double span = std::max(times_.makespan_s, 1e-12);
    // Whole pixels for a unit, so that every position is exact.
    scale_ = unit_ == TimeUnit::forward_pass
                 ? std::clamp(std::floor(plot_width / span), 16.0, 128.0)
                 : plot_width / span;
    right_ = left_ + scale_ * span;
    width_ = std::max(min_width, std::ceil(right_ + 2.0 * margin));
  }

  std::string lane_name(const QueueRow& row) const {
    return fitted(schedule_.places[row.lane], 20);
  }

  TaskBox box_of(TaskId id) const {
    const auto index = static_cast<std::size_t>(id);
    const Task& task = schedule_.tasks[index];
    const plan::TaskTime& time = times_.tasks[index];
    const auto row = std::ranges::find_if(rows_, [&](const QueueRow& one) {
      return one.lane == schedule_.lane_of(task.place) && one.queue == task.queue;
    });
    return {left_ + scale_ * time.start_s, scale_ * (time.end_s - time.start_s), &*row};
  }

  // ---------------------------------------------------------------- words

  std::string title() const {
    return fmt::format(
        "{}: one step of {} samples{}", schedule_.policy, text_of_count(schedule_.batch),
        numbered_ ? fmt::format(" in {} micro-batches", schedule_.micro_batches.size()) : "");
  }

  std::string description() const {
    std::string text = "Time goes from left to right.";
    for (const QueueRow& row : rows_) {
      std::array<std::size_t, schedule::task_kind_count> counts{};
      for (const Task& task : schedule_.tasks) {
        if (schedule_.lane_of(task.place) == row.lane && task.queue == row.queue) {
          ++counts.at(static_cast<std::size_t>(task.kind));
        }
      }
      text += fmt::format(" {}, {}:", schedule_.places[row.lane], name_of(row.queue));
      std::string separator = " ";
      for (const schedule::TaskTraits& kind : schedule::all_task_kinds()) {
        if (const std::size_t count = counts.at(static_cast<std::size_t>(kind.kind)); count > 0) {
          text += fmt::format("{}{} {}", separator, count, kind.name);
          separator = ", ";
        }
      }
      text += ".";
    }
    return text;
  }

  std::string time_text(double time) const {
    return unit_ == TimeUnit::forward_pass || time == 0.0 ? number(time) : text_of_seconds(time);
  }

  // ---------------------------------------------------------------- drawing

  static std::string head() {
    std::string light;
    std::string dark;
    for (const TaskLook& look : all_looks()) {
      light += colours(look.css_class, look.light, look.light_ink);
      dark += colours(look.css_class, look.dark, look.dark_ink);
    }
    return fmt::format("<style>\n{}{}@media (prefers-color-scheme:dark){{\n{}{}}}\n</style>\n{}\n",
                       light_style, light, dark_style, dark, arrow_tip);
  }

  static std::string colours(std::string_view name, std::string_view fill, std::string_view ink) {
    return fmt::format(".step .{0}{{fill:{1}}}.step .on-{0}{{fill:{2}}}\n", name, fill, ink);
  }

  void draw_rows() {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const QueueRow& row = rows_[i];
      const double base = row.top + row.height / 2.0 + 4.0;
      const bool first = i == 0 || rows_[i - 1].lane != row.lane;
      if (first) {
        write("<text x=\"{}\" y=\"{}\">{}</text>\n", number(margin), number(base),
              escaped_markup(lane_name(row)));
      }
      if (row.queue != Queue::compute) {
        // A lane that computes nothing has its name where its first queue would have its own.
        write("<text class=\"quiet\" x=\"{}\" y=\"{}\">{}</text>\n", number(margin + 10.0),
              number(base), first ? std::string_view() : name_of(row.queue));
      }
      write("<rect class=\"row\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", number(left_),
            number(row.top), number(right_ - left_), number(row.height));
    }
  }

  void draw_axis() {
    const double step = axis_step();
    for (int i = 0; i * step <= times_.makespan_s * (1.0 + 1e-9); ++i) {
      const double x = left_ + scale_ * i * step;
      write(
          "<path class=\"grid\" d=\"M{0} {1}V{2}\"/>\n"
          "<text class=\"quiet\" text-anchor=\"middle\" x=\"{0}\" y=\"{3}\">{4}</text>\n",
          number(x), number(head_height), number(rows_end_ + 3.0), number(rows_end_ + 16.0),
          time_text(i * step));
    }
    write("<text class=\"quiet\" x=\"{}\" y=\"{}\">{}</text>\n", number(left_),
          number(rows_end_ + 31.0),
          unit_ == TimeUnit::second ? "time, predicted from a profile of the lanes"
          : numbered_               ? "time; 1: a stage's forward pass of a micro-batch"
                                    : "time; 1: a stage's forward pass");
  }

  /// 1, 2 or 5 times a power of ten, at least 60 pixels.
  double axis_step() const {
    const double wanted = 60.0 / scale_;
    const double power = std::pow(10.0, std::floor(std::log10(wanted)));
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor * power >= wanted) {
        return std::max(factor * power, unit_ == TimeUnit::forward_pass ? 1.0 : 0.0);
      }
    }
    return std::max(10.0 * power, unit_ == TimeUnit::forward_pass ? 1.0 : 0.0);
  }

  void draw_boxes() {
    for (std::size_t index = 0; index < schedule_.tasks.size(); ++index) {
      const auto id = static_cast<TaskId>(index);
      const Task& task = schedule_.tasks[index];
      const plan::TaskTime& time = times_.tasks[index];
      const TaskBox box = box_of(id);
      const TaskLook& look = look_of(task);
      used_[&look - all_looks().data()].insert(task.kind);
      write(
          "<g><title>{}, {} to {}</title><rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" "
          "height=\"{}\"/>",
          escaped_markup(schedule_.name_of(id)), time_text(time.start_s), time_text(time.end_s),
          look.css_class, number(box.left + 0.5), number(box.row->top),
          number(std::max(1.0, box.width - 1.0)), number(box.row->height));
      draw_label(task, box, look);
      write("</g>\n");
    }
  }

  void draw_label(const Task& task, const TaskBox& box, const TaskLook& look) {
    for (const std::string& label : labels_of(task, numbered_)) {
      if (small_letter_width * static_cast<double>(label.size()) <= box.width) {
        write("<text class=\"in on-{}\" x=\"{}\" y=\"{}\">{}</text>", look.css_class,
              number(box.middle()), number(box.row->top + box.row->height / 2.0 + 4.0), label);
        return;
      }
    }
  }

  void draw_arrows() {
    for (const Arrow& arrow : arrows_of(schedule_)) {
      const TaskBox from = box_of(arrow.from);
      const TaskBox to = box_of(arrow.to);
      const bool down = from.row->top < to.row->top;
      write("<path class=\"arrow\" marker-end=\"url(#step-tip)\" d=\"M{} {}L{} {}\"/>\n",
            number(from.left + from.width - std::min(3.0, from.width / 2.0)),
            number(from.row->top + (down ? from.row->height : 0.0)),
            number(to.left + std::min(4.0, to.width / 2.0)),
            number(to.row->top + (down ? 0.0 : to.row->height)));
    }
  }

  /// Returns where the picture ends.
  double draw_legend() {
    double x = margin;
    double y = rows_end_ + axis_height + 10.0;
    for (const auto& [index, kinds] : used_) {
      const TaskLook& look = all_looks()[static_cast<std::size_t>(index)];
      const std::string words = legend_of(look, kinds);
      const double width = 18.0 + letter_width * static_cast<double>(words.size()) + 10.0;
      if (x > margin && x + width > width_ - margin) {
        x = margin;
        y += legend_line;
      }
      write(
          "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"12\" height=\"12\"/>"
          "<text x=\"{}\" y=\"{}\">{}</text>\n",
          look.css_class, number(x), number(y - 10.0), number(x + 18.0), number(y), words);
      x += width;
    }
    return y + margin;
  }

  template <class... Values>
  void write(fmt::format_string<Values...> format, Values&&... values) {
    body_ += fmt::format(format, std::forward<Values>(values)...);
  }

  const Schedule& schedule_;
  const plan::Simulation& times_;
  TimeUnit unit_;
  bool numbered_;
  std::vector<QueueRow> rows_;
  double left_ = 0.0;
  double right_ = 0.0;
  double width_ = 0.0;
  double scale_ = 1.0;
  double rows_end_ = 0.0;
  std::map<std::ptrdiff_t, std::set<schedule::TaskKind>> used_;  ///< by index of a look
  std::string body_;
};

}  // namespace

std::vector<Arrow> arrows_of(const Schedule& schedule) {
  std::map<schedule::Buffer, TaskId> writers;
  std::vector<Arrow> arrows;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const Task& task = schedule.tasks[id];
    for (const schedule::Buffer& buffer : task.writes) {
      if (buffer.kind == schedule::BufferKind::message) {
        writers[buffer] = static_cast<TaskId>(id);
      }
    }
    for (const schedule::Buffer& buffer : task.reads) {
      const auto writer = writers.find(buffer);
      if (buffer.kind == schedule::BufferKind::message && writer != writers.end() &&
          schedule.lane_of(buffer.place) != schedule.lane_of(task.place)) {
        arrows.push_back({writer->second, static_cast<TaskId>(id)});
      }
    }
  }
  return arrows;
}

std::string schedule_picture(const Schedule& schedule, const plan::Simulation& times,
                             TimeUnit unit) {
  return Picture(schedule, times, unit).text();
}

}  // namespace zygos::app
