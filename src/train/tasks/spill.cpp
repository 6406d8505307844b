// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/tasks/spill.hpp"

#include "train/place/place_state.hpp"

#include <filesystem>
#include <string>
#include <utility>

namespace zygos::train {
namespace {

using schedule::Buffer;
using schedule::Task;
using schedule::TaskId;
using schedule::Tier;

bool is_in_file(const Buffer& buffer) { return traits_of(buffer.kind).tier == Tier::file; }

Spills::Move move_of(const PlaceState& state, const Buffer& in_memory, std::size_t dataset) {
  const plan::PlannedBuffer& planned = state.plan().buffers.at(in_memory);
  Spills::Move move;
  move.dataset = dataset;
  move.memory = {state.buffers.at(planned), planned.bytes};
  for (const plan::Slot& slot : planned.slots.all()) {
    move.tensors.push_back(move.memory.subspan(slot.offset, slot.bytes));
  }
  return move;
}

/// Nothing where this call has no samples for it; what it moves is noted, tensor by tensor.
const Spills::Move* begin_move(PlaceState& state, TaskId id) {
  const Task& one = state.task(id);
  const auto found = state.spills.moves.find(id);
  if (found == state.spills.moves.end() || state.tensors_of(one).samples.count() == 0) {
    return nullptr;
  }
  for (const std::span<std::byte> tensor : found->second.tensors) {
    state.use.note_bytes(one, tensor.data(), tensor.size());
  }
  return &found->second;
}

}  // namespace

Spills bind_spills(const PlaceState& state) {
  Spills spills;
  std::vector<io::SpillDataset> datasets;
  std::map<Buffer, std::size_t> numbers;
  for (const auto& [buffer, planned] : state.plan().buffers) {
    if (planned.tier == Tier::file && planned.bytes > 0) {
      numbers.emplace(buffer, datasets.size());
      datasets.push_back({text_of(buffer, state.setup.schedule.places), planned.bytes});
      spills.category.push_back(planned.category);
    }
  }
  if (datasets.empty()) {
    return spills;
  }
  const std::filesystem::path& folder = state.setup.spill_folder;
  spills.file = std::make_unique<io::SpillFile>(
      folder.empty() ? std::filesystem::temp_directory_path() : folder, std::move(datasets));
  for (std::size_t id = 0; id < state.setup.schedule.tasks.size(); ++id) {
    const Task& one = state.setup.schedule.tasks[id];
    if (one.place != state.setup.place || one.queue != schedule::Queue::file) {
      continue;
    }
    const bool writes = is_in_file(one.writes.front());
    const Buffer& in_file = writes ? one.writes.front() : one.reads.front();
    const Buffer& in_memory = writes ? one.reads.front() : one.writes.front();
    if (const auto number = numbers.find(in_file); number != numbers.end()) {
      spills.moves.emplace(static_cast<TaskId>(id), move_of(state, in_memory, number->second));
    }
  }
  return spills;
}

void run_write_activations(PlaceState& state, TaskId id) {
  if (const Spills::Move* move = begin_move(state, id)) {
    state.spills.file->write(move->dataset, move->memory);
  }
}

void run_read_activations(PlaceState& state, TaskId id) {
  if (const Spills::Move* move = begin_move(state, id)) {
    state.spills.file->read(move->dataset, move->memory);
  }
}

memory::Usage used_of_file(const Spills& spills) {
  memory::Usage usage;
  for (std::size_t i = 0; i < spills.category.size(); ++i) {
    usage[spills.category[i]] += spills.file->used_bytes(i);
  }
  return usage;
}

}  // namespace zygos::train
