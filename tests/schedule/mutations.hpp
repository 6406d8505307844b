// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Every small way to spoil a schedule.
#pragma once

#include "zygos/schedule/schedule.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace zygos::test {

/// The schedule without a task; waits for it are gone, ids move up.
schedule::Schedule without_task(schedule::Schedule schedule, std::size_t task);

/// The schedule with a second copy of a task right behind it.
schedule::Schedule with_twin(const schedule::Schedule& schedule, std::size_t task);

/// Two tasks change places in the list. Waits still mean the same tasks: what waited for the one
/// still waits for it.
schedule::Schedule swapped(schedule::Schedule schedule, std::size_t one, std::size_t other);

/// Ids of the tasks of every queue, in order.
std::vector<std::vector<std::size_t>> queues_of(const schedule::Schedule& schedule);

/// All ways to get one number of a buffer wrong.
std::vector<schedule::Buffer> wrong_buffers(const schedule::Buffer& buffer);

/// Id of the n-th task of a kind on a place.
std::size_t find_task(const schedule::Schedule& schedule, schedule::TaskKind kind,
                      schedule::Place place, std::size_t nth = 0);

/// "task 7 (", as findings begin.
std::string name_start(std::size_t task);

/// All findings in one text.
std::string findings_of(const schedule::Schedule& schedule);

}  // namespace zygos::test
