// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/tasks/spill.hpp"

#include "train/place/place_state.hpp"

#include "zygos/core/error.hpp"
#include "zygos/memory/packing.hpp"

#include <algorithm>
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
  // Of a tensor by itself, the padding stays away.
  const bool one_tensor = traits_of(in_memory.kind).of_elements;
  move.memory = {state.buffers.at(planned),
                 one_tensor ? planned.slots.used_bytes() : planned.bytes};
  for (const plan::Slot& slot : planned.slots.all()) {
    move.tensors.push_back(move.memory.subspan(slot.offset, slot.bytes));
  }
  return move;
}

/// Of a task between buffers in memory and as many in the file, in the same order; a name may stand
/// for several slots.
std::vector<Spills::Move> moves_of(const PlaceState& state, const Task& one,
                                   const std::map<Buffer, std::size_t>& numbers) {
  const bool writes = is_in_file(one.writes.front());
  std::vector<Spills::Move> moves;
  for (std::size_t i = 0; i < one.reads.size(); ++i) {
    Buffer in_file = writes ? one.writes[i] : one.reads[i];
    Buffer in_memory = writes ? one.reads[i] : one.writes[i];
    const std::int32_t copies =
        traits_of(in_file.kind).slots_as_one ? state.buffers.slots_of(in_file.kind) : 1;
    for (std::int32_t copy = 0; copy < copies; ++copy, ++in_file.slot, ++in_memory.slot) {
      if (const auto number = numbers.find(in_file); number != numbers.end()) {
        moves.push_back(move_of(state, in_memory, number->second));
      }
    }
  }
  return moves;
}

/// Nothing where this call has no samples for it; what it moves is noted, tensor by tensor.
std::span<const Spills::Move> begin_moves(PlaceState& state, TaskId id) {
  const Task& one = state.task(id);
  const auto found = state.spills.moves.find(id);
  const bool of_samples = traits_of(one.kind).of_samples;
  if (found == state.spills.moves.end() ||
      (of_samples && state.tensors_of(one).samples.count() == 0)) {
    return {};
  }
  for (const Spills::Move& move : found->second) {
    for (const std::span<std::byte> tensor : move.tensors) {
      state.use.note_bytes(one, tensor.data(), tensor.size());
    }
  }
  return found->second;
}

}  // namespace

Spills bind_spills(const PlaceState& state) {
  Spills spills;
  std::vector<io::SpillDataset> datasets;
  std::map<Buffer, std::size_t> numbers;
  for (const auto& [buffer, planned] : state.plan().buffers) {
    if (planned.tier == Tier::file && planned.bytes > 0) {
      numbers.emplace(buffer, datasets.size());
      if (buffer.kind == schedule::BufferKind::spilled_state) {
        spills.states.push_back({planned.elements, buffer.slot, datasets.size()});
      }
      datasets.push_back({text_of(buffer, state.setup.schedule().places), planned.bytes});
      spills.category.push_back(planned.category);
    }
  }
  if (datasets.empty()) {
    return spills;
  }
  const std::filesystem::path& folder = state.setup.spill_folder;
  spills.file = std::make_unique<io::SpillFile>(
      folder.empty() ? std::filesystem::temp_directory_path() : folder, std::move(datasets));
  for (const TaskId id : state.own_tasks()) {
    const Task& one = state.task(id);
    if (one.queue == schedule::Queue::file) {
      spills.moves.emplace(id, moves_of(state, one, numbers));
    }
  }
  return spills;
}

void run_write(PlaceState& state, TaskId id) {
  for (const Spills::Move& move : begin_moves(state, id)) {
    state.spills.file->write(move.dataset, move.memory);
  }
}

void run_read(PlaceState& state, TaskId id) {
  for (const Spills::Move& move : begin_moves(state, id)) {
    state.spills.file->read(move.dataset, move.memory);
  }
}

void write_spilled_state(const PlaceState& state, std::int32_t which,
                         const std::vector<std::byte>& flat) {
  const std::size_t units = size_of(state.setup.parameters());
  std::vector<std::byte> zeros;
  for (const Spills::States& one : state.spills.states) {
    if (one.state != which) {
      continue;
    }
    const auto bytes = static_cast<std::size_t>(one.elements.count()) * units;
    if (flat.empty() && zeros.size() < bytes) {
      zeros.resize(bytes);
    }
    state.spills.file->write(
        one.dataset, flat.empty()
                         ? std::span<const std::byte>(zeros).first(bytes)
                         : std::span<const std::byte>(flat).subspan(
                               static_cast<std::size_t>(one.elements.begin) * units, bytes));
  }
}

void read_spilled_state(const PlaceState& state, schedule::ElementRange elements,
                        std::int32_t which, std::size_t begin, std::span<std::byte> out) {
  const auto found = std::ranges::find_if(state.spills.states, [&](const Spills::States& one) {
    return one.elements == elements && one.state == which;
  });
  ZYGOS_REQUIRE(found != state.spills.states.end(), "states that are not in the place's file");
  state.spills.file->read_part(found->dataset, begin, out);
}

memory::Usage used_of_file(const Spills& spills) {
  memory::Usage usage;
  for (std::size_t i = 0; i < spills.category.size(); ++i) {
    usage[spills.category[i]] += memory::padded(spills.file->used_bytes(i));
  }
  return usage;
}

}  // namespace zygos::train
