// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of validate(). Each returns its findings, empty if there is nothing wrong. Every part
// may rely on those before it.
#pragma once

#include "schedule/builder/buffer_uses.hpp"
#include "schedule/order/waits.hpp"

#include "zygos/schedule/schedule.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace zygos::schedule {

using Findings = std::vector<std::string>;
/// An order the tasks of a schedule can run in.
using RunOrder = std::vector<std::size_t>;

/// What a check finds that visits all tasks in that order, with finish() at their end.
template <class Check>
Findings findings_of(Check check, const RunOrder& order) {
  for (const std::size_t id : order) {
    check.visit(id);
  }
  return std::move(check).finish();
}

/// "task 3 (forward@device nodes 0-3 samples 0-50)", as findings name a task.
std::string label_of(const Schedule& schedule, std::size_t task);

/// Indices (places, tasks, micro-batches, ...) that name nothing.
Findings check_references(const Schedule& schedule);

/// Fields that do not fit each other, and reads and writes that do not follow from what a task is.
Findings check_tasks(const Schedule& schedule);

/// Messages that are not written once by the one and read by the other they are for, and waits
/// between places that no message carries.
Findings check_messages(const Schedule& schedule, const BufferUses& buffers);

/// Buffers read before they are written, and accesses to one buffer, one of them a write, that
/// nothing orders.
Findings check_accesses(const Schedule& schedule, const BufferUses& buffers, const Waits& waits,
                        const RunOrder& order);

/// Follows which version of the weights each slot holds, to the tasks that use it.
Findings check_versions(const Schedule& schedule, const RunOrder& order);

/// Follows what buffers of samples hold: of which forward pass, complete or not.
Findings check_contents(const Schedule& schedule, const RunOrder& order);

/// Follows whose gradients a part of the gradient sums, up to the updates.
Findings check_gradients(const Schedule& schedule, const BufferUses& buffers,
                         const RunOrder& order);

/// Follows the squares of a gradient to the updates that are clipped by their norm: of the whole
/// model, of the same update, of what is still there.
Findings check_norms(const Schedule& schedule, const BufferUses& buffers, const RunOrder& order);

/// Follows updates that are speculated to what confirms them: nobody uses such weights or states
/// before, and there is still what it takes to undo them and make them again.
Findings check_speculation(const Schedule& schedule, const BufferUses& buffers,
                           const RunOrder& order);

/// Follows optimizer states from a place's file to their update and back: none is overwritten, or
/// left behind at the end of the step, before it is written.
Findings check_states(const Schedule& schedule, const BufferUses& buffers, const RunOrder& order);

/// Follows the statistics of samples to those who gather them: each once, and all of an update.
Findings check_statistics(const Schedule& schedule, const BufferUses& buffers,
                          const RunOrder& order);

/// Samples that some kind of task leaves out, works on twice, or invents.
Findings check_coverage(const Schedule& schedule);

}  // namespace zygos::schedule
