// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/schedule/happens_before.hpp"

#include "schedule/order/clocks.hpp"

#include <optional>

namespace zygos::schedule {

struct HappensBefore::Impl {
  Clocks clocks;
};

HappensBefore::HappensBefore(const Schedule& schedule)
    : impl_(std::make_unique<Impl>(Clocks(schedule.tasks, schedule.places.size()))) {
  std::vector<std::optional<std::size_t>> last(schedule.places.size() * queue_count);
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const Task& task = schedule.tasks[id];
    auto& previous = last[line_of(task)];
    if (previous) {
      impl_->clocks.join(id, *previous);
    }
    for (const TaskId earlier : task.after) {
      impl_->clocks.join(id, static_cast<std::size_t>(earlier));
    }
    previous = id;
  }
}

HappensBefore::~HappensBefore() = default;
HappensBefore::HappensBefore(HappensBefore&&) noexcept = default;
HappensBefore& HappensBefore::operator=(HappensBefore&&) noexcept = default;

bool HappensBefore::operator()(TaskId first, TaskId second) const {
  return impl_->clocks.ended_before(static_cast<std::size_t>(first),
                                    static_cast<std::size_t>(second));
}

}  // namespace zygos::schedule
