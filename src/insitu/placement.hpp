// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Which slot of a reservoir a sample gets, and which slots a batch draws. Pure functions of seed
// and numbers: neither the sizes of calls nor the number of threads change them.
#pragma once

#include "zygos/core/philox.hpp"
#include "zygos/insitu/reservoir.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace zygos::insitu {

struct Placement {
  std::int64_t capacity = 0;
  std::int64_t held_out = 0;  ///< slots behind those, for validation
  std::int64_t period = 0;    ///< one sample of so many is held out; 0: none
  Keep keep = Keep::uniform;
  std::uint64_t seed = 0;

  /// What the three kinds of draws are numbered by.
  enum Stream : std::uint32_t { replaced = 0, validation = 1, batch = 2 };

  /// Uniform in [0, count).
  KOKKOS_INLINE_FUNCTION std::int64_t draw(Stream stream, std::uint64_t major, std::uint32_t minor,
                                           std::int64_t count) const {
    const RngKey key{seed, RngPurpose::reservoir, stream};
    const PhiloxBlock block = random_block(key, major, minor);
    const double place = uniform_double(block.v[0], block.v[1]) * static_cast<double>(count);
    const auto at = static_cast<std::int64_t>(place);
    return at < count ? at : count - 1;
  }

  /// Of the period that sample number begins or lies in: which sample of it is held out.
  KOKKOS_INLINE_FUNCTION std::int64_t held_out_of(std::int64_t number) const {
    return draw(validation, static_cast<std::uint64_t>(number / period), 0, period);
  }
  KOKKOS_INLINE_FUNCTION bool validates(std::int64_t number) const {
    return period > 0 && number % period == held_out_of(number);
  }
  /// Samples of the first `seen` ones that are held out.
  KOKKOS_INLINE_FUNCTION std::int64_t validated_of(std::int64_t seen) const {
    return period == 0 ? 0 : seen / period + (seen % period > held_out_of(seen) ? 1 : 0);
  }

  /// Slot of sample `number`; -1: it is not kept.
  KOKKOS_INLINE_FUNCTION std::int64_t slot_of(std::int64_t number) const {
    if (period == 0) {
      return slot_among(number, 0, capacity, number);
    }
    const std::int64_t held_out_here = held_out_of(number);
    const std::int64_t at = number % period;
    const std::int64_t validated = number / period + (at > held_out_here ? 1 : 0);
    return at == held_out_here ? slot_among(validated, capacity, held_out, number)
                               : slot_among(number - validated, 0, capacity, number);
  }

  /// Slot of a row of batch number `draws`, of the first `resident` slots.
  KOKKOS_INLINE_FUNCTION std::int64_t batch_slot(std::uint64_t draws, std::int64_t row,
                                                 std::int64_t resident) const {
    return draw(batch, draws, static_cast<std::uint32_t>(row), resident);
  }

 private:
  /// Algorithm R of Vitter, "Random sampling with a reservoir" (ACM TOMS 11, 1985): the first ones
  /// fill the slots; sample i replaces the one in slot uniform(0 ... i), if there is such a slot.
  KOKKOS_INLINE_FUNCTION std::int64_t slot_among(std::int64_t index, std::int64_t first,
                                                 std::int64_t slots, std::int64_t number) const {
    if (index < slots) {
      return first + index;
    }
    if (keep == Keep::newest) {
      return first + index % slots;
    }
    const std::int64_t at = draw(replaced, static_cast<std::uint64_t>(number), 0, index + 1);
    return at < slots ? first + at : -1;
  }
};

}  // namespace zygos::insitu
