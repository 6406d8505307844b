// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Colour and letter of a task in a picture of its schedule.
#pragma once

#include "zygos/schedule/schedule.hpp"

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::app {

/// Kinds of tasks that share a colour.
struct TaskLook {
  std::string_view css_class;
  std::string_view legend;  ///< empty: boxes have the first letter of their kind, where it fits
  std::string_view light;   ///< fill, and ink on it
  std::string_view light_ink;
  std::string_view dark;
  std::string_view dark_ink;
  bool lettered() const { return legend.empty(); }
};
/// In the order of the legend.
std::span<const TaskLook> all_looks();
const TaskLook& look_of(const schedule::Task& task);
/// "U: update, S: speculate", or what else tells the kinds that a picture has of a look.
std::string legend_of(const TaskLook& look, const std::set<schedule::TaskKind>& kinds);

/// True if a place works on several micro-batches in turn: then boxes have their numbers.
bool numbers_micro_batches(const schedule::Schedule& schedule);
/// What may stand in a task's box, the longest first.
std::vector<std::string> labels_of(const schedule::Task& task, bool numbered);

}  // namespace zygos::app
