// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The file tier of a place: what goes from memory to its file and back.
#pragma once

#include "zygos/io/spill_file.hpp"
#include "zygos/memory/category.hpp"
#include "zygos/schedule/task.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace zygos::train {

struct PlaceState;

/// The place's file, and what each task moves.
struct Spills {
  struct Move {
    std::size_t dataset = 0;
    std::span<std::byte> memory;                ///< all of the buffer
    std::vector<std::span<std::byte>> tensors;  ///< in it
  };
  std::unique_ptr<io::SpillFile> file;     ///< null if nothing is spilled
  std::vector<memory::Category> category;  ///< by dataset
  std::map<schedule::TaskId, Move> moves;
};

/// Makes the file and allocates its space. Throws IoError.
Spills bind_spills(const PlaceState& state);

/// Activations of a segment, between memory and the file. Both throw IoError.
void run_write_activations(PlaceState& state, schedule::TaskId id);
void run_read_activations(PlaceState& state, schedule::TaskId id);

/// Bytes of the file that have been written, padded as memory is.
memory::Usage used_of_file(const Spills& spills);

}  // namespace zygos::train
