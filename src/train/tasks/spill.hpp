// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The file tier of a place: what goes from memory to its file and back.
#pragma once

#include "zygos/io/spill_file.hpp"
#include "zygos/memory/category.hpp"
#include "zygos/schedule/task.hpp"

#include <cstddef>
#include <cstdint>
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
  /// One of the optimizer's states, of a part of the parameters.
  struct States {
    schedule::ElementRange elements;
    std::int32_t state = 0;
    std::size_t dataset = 0;
  };
  std::unique_ptr<io::SpillFile> file;     ///< null if nothing is spilled
  std::vector<memory::Category> category;  ///< by dataset
  std::map<schedule::TaskId, std::vector<Move>> moves;
  std::vector<States> states;  ///< all that the place has in the file
};

/// Makes the file and allocates its space. Throws IoError.
Spills bind_spills(const PlaceState& state);

/// Activations of a segment, states of a part or a version of the weights, between memory and the
/// file. Both throw IoError.
void run_write(PlaceState& state, schedule::TaskId id);
void run_read(PlaceState& state, schedule::TaskId id);

/// Puts one of the optimizer's states of the place's file there: from a flat buffer of the model,
/// zeros if that has no bytes. Throws IoError.
void write_spilled_state(const PlaceState& state, std::int32_t which,
                         const std::vector<std::byte>& flat);
/// One of the optimizer's states of a part whose states are in the file, as write_spilled_state()
/// or its last update left it: `out.size()` bytes of it from byte `begin` on. Throws IoError.
void read_spilled_state(const PlaceState& state, schedule::ElementRange elements,
                        std::int32_t which, std::size_t begin, std::span<std::byte> out);

/// Bytes of the file that have been written, padded as memory is.
memory::Usage used_of_file(const Spills& spills);

}  // namespace zygos::train
