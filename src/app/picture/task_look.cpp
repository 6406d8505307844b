// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/picture/task_look.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <map>
#include <utility>

namespace zygos::app {

namespace {

using schedule::Schedule;
using schedule::Task;
using schedule::TaskKind;

enum class Look : std::uint8_t {
  load,
  forward,
  recompute,
  loss,
  backward,
  update,
  reduction,
  stash,
  transfer,
  file
};

// The colours are those of Okabe and Ito, as in the report of a run (report/page/page.css).
constexpr std::array<TaskLook, 10> looks{{
    {"load", "load", "#8a9099", "#111111", "#858d98", "#111111"},
    {"forward", "", "#0072b2", "#ffffff", "#2f8fd0", "#08121a"},
    {"recompute", "", "#56b4e9", "#111111", "#56b4e9", "#111111"},
    {"loss", "", "#f0e442", "#111111", "#f0e442", "#111111"},
    {"backward", "", "#009e73", "#08150f", "#1cb088", "#08150f"},
    {"update", "", "#c678a4", "#111111", "#c678a4", "#111111"},
    {"reduction", "reduction", "#d55e00", "#111111", "#e8742a", "#111111"},
    {"stash", "copy of weights", "#4a525c", "#ffffff", "#b9c0c9", "#111111"},
    {"transfer", "transfer", "#e69f00", "#111111", "#e69f00", "#111111"},
    {"file", "file", "#f5cf7a", "#111111", "#f5cf7a", "#111111"},
}};

constexpr std::array<std::pair<TaskKind, Look>, schedule::task_kind_count> look_by_kind{{
    {TaskKind::load, Look::load},
    {TaskKind::copy, Look::load},
    {TaskKind::forward, Look::forward},
    {TaskKind::recompute, Look::recompute},
    {TaskKind::loss, Look::loss},
    {TaskKind::backward, Look::backward},
    {TaskKind::send, Look::transfer},
    {TaskKind::broadcast, Look::transfer},
    {TaskKind::receive, Look::transfer},
    {TaskKind::reduce, Look::reduction},
    {TaskKind::all_reduce, Look::reduction},
    {TaskKind::statistics, Look::reduction},
    {TaskKind::all_gather, Look::reduction},
    {TaskKind::squares, Look::reduction},
    {TaskKind::norm, Look::reduction},
    {TaskKind::compress, Look::reduction},
    {TaskKind::update, Look::update},
    {TaskKind::speculate, Look::update},
    {TaskKind::confirm, Look::update},
    {TaskKind::stash, Look::stash},
    {TaskKind::offload, Look::transfer},
    {TaskKind::fetch, Look::transfer},
    {TaskKind::offload_activations, Look::transfer},
    {TaskKind::fetch_activations, Look::transfer},
    {TaskKind::write_activations, Look::file},
    {TaskKind::read_activations, Look::file},
    {TaskKind::write_states, Look::file},
    {TaskKind::read_states, Look::file},
    {TaskKind::write_weights, Look::file},
    {TaskKind::read_weights, Look::file},
    {TaskKind::average, Look::update},
}};
static_assert(
    [] {
      for (std::size_t i = 0; i < look_by_kind.size(); ++i) {
        if (static_cast<std::size_t>(look_by_kind[i].first) != i) {
          return false;
        }
      }
      return true;
    }(),
    "a look for each kind of task, in their order");

bool of_micro_batch(const Task& task) {
  return schedule::traits_of(task.kind).of_samples || schedule::traits_of(task.payload).of_samples;
}

char capital_of(const std::string& name) {
  return static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
}

}  // namespace

std::span<const TaskLook> all_looks() { return looks; }

const TaskLook& look_of(const Task& task) {
  return looks.at(
      static_cast<std::size_t>(look_by_kind.at(static_cast<std::size_t>(task.kind)).second));
}

std::string legend_of(const TaskLook& look, const std::set<TaskKind>& kinds) {
  std::string text;
  if (!look.lettered()) {
    return std::string(look.legend);
  }
  for (const TaskKind kind : kinds) {
    const std::string name(schedule::name_of(kind));
    text += (text.empty() ? "" : ", ") + std::string(1, capital_of(name)) + ": " + name;
  }
  return text;
}

bool numbers_micro_batches(const Schedule& schedule) {
  std::map<schedule::Place, schedule::MicroBatch> first;
  return std::ranges::any_of(schedule.tasks, [&](const Task& task) {
    return task.kind == TaskKind::forward &&
           first.try_emplace(task.place, task.micro_batch).first->second != task.micro_batch;
  });
}

std::vector<std::string> labels_of(const Task& task, bool numbered) {
  const std::string name(schedule::name_of(task.kind));
  const std::string letter = look_of(task).lettered() ? std::string(1, capital_of(name)) : "";
  if (numbered && of_micro_batch(task)) {
    const std::string number = std::to_string(task.micro_batch);
    return {letter + number, number};
  }
  return letter.empty() ? std::vector{name} : std::vector{name, letter};
}

}  // namespace zygos::app
