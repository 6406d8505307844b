// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/checks/checks.hpp"

#include "zygos/schedule/schedule.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace zygos::schedule {

std::vector<std::string> validate(const Schedule& schedule) {
  Findings findings = check_references(schedule);
  if (!findings.empty()) {
    return findings;
  }
  const auto add = [&](Findings&& more) {
    std::ranges::move(std::move(more), std::back_inserter(findings));
  };
  const Waits waits(schedule);
  const RunOrder order = order_of(waits);
  const BufferUses buffers(schedule.tasks);
  const bool deadlock = order.size() < waits.count();
  if (deadlock) {
    add({describe_cycle(schedule, waits, order)});
  }
  add(check_tasks(schedule));
  add(check_messages(schedule, buffers));
  if (!deadlock) {
    add(check_accesses(schedule, buffers, waits, order));
  }
  // What a buffer holds is known only if it is sure who wrote it last.
  if (findings.empty()) {
    add(check_versions(schedule, order));
    add(check_contents(schedule, order));
    add(check_gradients(schedule, buffers, order));
    add(check_norms(schedule, buffers, order));
    add(check_speculation(schedule, buffers, order));
    add(check_states(schedule, buffers, order));
    add(check_statistics(schedule, buffers, order));
  }
  add(check_coverage(schedule));
  return findings;
}

}  // namespace zygos::schedule
