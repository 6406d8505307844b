// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/checks/checks.hpp"
#include "schedule/order/clocks.hpp"

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

namespace zygos::schedule {
namespace {

/// What exists before the first task of a step.
bool exists_before(const Schedule& schedule, const Buffer& buffer) {
  if (buffer.slot != 0) {
    return false;
  }
  if (buffer.kind == BufferKind::inputs) {
    return loads_ahead(schedule, buffer.place);
  }
  return traits_of(buffer.kind).exists_before &&
         (buffer.kind == BufferKind::batch || lifetime_of(schedule, buffer) == Lifetime::run);
}

/// Follows every buffer through the tasks in an order they could run in. Each access is compared
/// with the last write and each write with the reads since: if these are ordered, so are all.
class AccessCheck {
 public:
  AccessCheck(const Schedule& schedule, const BufferUses& buffers, const Waits& waits)
      : schedule_(schedule),
        buffers_(buffers),
        waits_(waits),
        clocks_(schedule.tasks, schedule.places.size()),
        uses_(buffers.count()) {}

  void visit(std::size_t id) {
    // The one before it on its queue, which is the last of them, has to be the first.
    for (const TaskId earlier : std::views::reverse(waits_.before(id))) {
      clocks_.join(id, static_cast<std::size_t>(earlier));
    }
    const TaskId first = schedule_.tasks[id].not_before;
    if (first != nobody && !clocks_.ended_before(static_cast<std::size_t>(first), id)) {
      findings_.push_back(label_of(schedule_, id) + " may begin before " +
                          label_of(schedule_, static_cast<std::size_t>(first)) +
                          " has ended, whose memory it may need");
    }
    for (const std::uint32_t buffer : buffers_.reads(id)) {
      read(id, buffer);
    }
    for (const std::uint32_t buffer : buffers_.writes(id)) {
      write(id, buffer);
    }
  }

  Findings finish() && { return std::move(findings_); }

 private:
  struct Uses {
    TaskId writer = -1;
    std::vector<TaskId> readers;  ///< since then
  };

  void read(std::size_t id, std::uint32_t buffer) {
    Uses& uses = uses_[buffer];
    if (uses.writer >= 0) {
      require_order(uses.writer, id, buffer);
    } else if (!exists_before(schedule_, buffers_.buffer(buffer))) {
      findings_.push_back(label_of(schedule_, id) + " reads " + text(buffer) +
                          " before any task has written it");
    }
    uses.readers.push_back(static_cast<TaskId>(id));
  }

  void write(std::size_t id, std::uint32_t buffer) {
    Uses& uses = uses_[buffer];
    if (uses.writer >= 0) {
      require_order(uses.writer, id, buffer);
    }
    for (const TaskId reader : uses.readers) {
      require_order(reader, id, buffer);
    }
    uses.writer = static_cast<TaskId>(id);
    uses.readers.clear();
  }

  void require_order(TaskId before, std::size_t later, std::uint32_t buffer) {
    const auto earlier = static_cast<std::size_t>(before);
    if (earlier == later || clocks_.ended_before(earlier, later) ||
        !reported_.insert(std::minmax(earlier, later)).second) {
      return;
    }
    const auto [first, second] = std::minmax(earlier, later);
    findings_.push_back(label_of(schedule_, first) + " and " + label_of(schedule_, second) +
                        " both use " + text(buffer) +
                        ", one of them writes it, and nothing orders them");
  }

  std::string text(std::uint32_t buffer) const {
    return text_of(buffers_.buffer(buffer), schedule_.places);
  }

  const Schedule& schedule_;
  const BufferUses& buffers_;
  const Waits& waits_;
  Clocks clocks_;
  std::vector<Uses> uses_;
  std::set<std::pair<std::size_t, std::size_t>> reported_;
  Findings findings_;
};

}  // namespace

Findings check_accesses(const Schedule& schedule, const BufferUses& buffers, const Waits& waits,
                        const RunOrder& order) {
  return findings_of(AccessCheck(schedule, buffers, waits), order);
}

}  // namespace zygos::schedule
