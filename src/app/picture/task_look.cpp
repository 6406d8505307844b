// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/picture/task_look.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <map>

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

Look look_of_kind(TaskKind kind) {
  switch (kind) {
    case TaskKind::load:
    case TaskKind::copy:
      return Look::load;
    case TaskKind::forward:
      return Look::forward;
    case TaskKind::recompute:
      return Look::recompute;
    case TaskKind::loss:
      return Look::loss;
    case TaskKind::backward:
      return Look::backward;
    case TaskKind::update:
    case TaskKind::speculate:
    case TaskKind::confirm:
    case TaskKind::average:
      return Look::update;
    case TaskKind::stash:
      return Look::stash;
    case TaskKind::reduce:
    case TaskKind::all_reduce:
    case TaskKind::statistics:
    case TaskKind::all_gather:
    case TaskKind::squares:
    case TaskKind::norm:
    case TaskKind::compress:
      return Look::reduction;
    case TaskKind::send:
    case TaskKind::broadcast:
    case TaskKind::receive:
    case TaskKind::offload:
    case TaskKind::fetch:
    case TaskKind::offload_activations:
    case TaskKind::fetch_activations:
      return Look::transfer;
    case TaskKind::write_activations:
    case TaskKind::read_activations:
    case TaskKind::write_states:
    case TaskKind::read_states:
    case TaskKind::write_weights:
    case TaskKind::read_weights:
      return Look::file;
  }
  return Look::transfer;
}

bool of_micro_batch(const Task& task) {
  return schedule::traits_of(task.kind).of_samples || schedule::traits_of(task.payload).of_samples;
}

char capital_of(const std::string& name) {
  return static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
}

}  // namespace

std::span<const TaskLook> all_looks() { return looks; }

const TaskLook& look_of(const Task& task) {
  return looks.at(static_cast<std::size_t>(look_of_kind(task.kind)));
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
