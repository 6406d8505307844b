// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "insitu/kernels/reservoir_kernels.hpp"

#include "ops/common/launch.hpp"

#include "zygos/lane/dispatch.hpp"

namespace zygos::insitu {
namespace {

/// Samples that a host core handles before another one is worth waking.
constexpr std::size_t samples_of_a_chunk = 512;

KOKKOS_INLINE_FUNCTION bool all_finite(const Columns& columns, std::int64_t sample) {
  bool finite = true;
  columns.for_each(sample, [&](std::int64_t, const Part& part, std::int64_t at) {
    finite = finite && Kokkos::isfinite(load(part.data, part.dtype, at));
  });
  return finite;
}

/// The slot belongs to the last sample that wants it.
struct ClaimSlot {
  Placement placement;
  std::int64_t first;
  Columns inputs;
  Columns targets;
  std::int64_t* owners;
  std::int64_t* refused;

  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    const auto sample = static_cast<std::int64_t>(i);
    if (!all_finite(inputs, sample) || !all_finite(targets, sample)) {
      Kokkos::atomic_add(refused, std::int64_t{1});
      return;
    }
    const std::int64_t slot = placement.slot_of(first + sample);
    if (slot >= 0) {
      Kokkos::atomic_max(owners + slot, first + sample);
    }
  }
};

KOKKOS_INLINE_FUNCTION void copy_sample(const Columns& from, std::int64_t sample, const Rows& to,
                                        std::int64_t row) {
  from.for_each(sample, [&](std::int64_t column, const Part& part, std::int64_t at) {
    to.set(row, column, load(part.data, part.dtype, at));
  });
}

/// By sample: cheap where there are fewer of them than slots.
struct FillFromSample {
  Placement placement;
  std::int64_t first;
  Columns inputs;
  Columns targets;
  Slots slots;

  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    const auto sample = static_cast<std::int64_t>(i);
    const std::int64_t slot = placement.slot_of(first + sample);
    if (slot >= 0 && slots.owners[slot] == first + sample) {
      copy_sample(inputs, sample, slots.inputs, slot);
      copy_sample(targets, sample, slots.targets, slot);
    }
  }
};

/// By slot: those whose sample is a new one.
struct FillSlot {
  std::int64_t first;
  Columns inputs;
  Columns targets;
  Slots slots;

  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    const auto slot = static_cast<std::int64_t>(i);
    const std::int64_t sample = slots.owners[slot] - first;
    if (sample >= 0) {
      copy_sample(inputs, sample, slots.inputs, slot);
      copy_sample(targets, sample, slots.targets, slot);
    }
  }
};

/// Rows of a batch from slots; `Choice` says which.
template <class Choice>
struct TakeRow {
  Choice choice;
  std::int64_t begin;
  std::int64_t resident;
  Slots slots;
  Standards inputs;
  Standards targets;
  BatchRows batch;

  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    const auto row = static_cast<std::int64_t>(i);
    const std::int64_t slot = filled(choice(row));
    copy(slots.inputs, slot, inputs, batch.inputs, row);
    copy(slots.targets, slot, targets, batch.targets, row);
    batch.ids[row] = slot < 0 ? 0U : static_cast<std::uint32_t>(slots.owners[slot]);
  }

 private:
  /// The first slot from there on, around the end, that holds a sample; -1: none does.
  KOKKOS_INLINE_FUNCTION std::int64_t filled(std::int64_t at) const {
    for (std::int64_t tried = 0; tried < resident; ++tried) {
      if (slots.owners[begin + at] >= 0) {
        return begin + at;
      }
      at = at + 1 == resident ? 0 : at + 1;
    }
    return -1;
  }
  KOKKOS_INLINE_FUNCTION static void copy(const Rows& from, std::int64_t slot,
                                          const Standards& standards, const Rows& to,
                                          std::int64_t row) {
    for (std::int64_t column = 0; column < to.width; ++column) {
      const double value = slot < 0 ? Kokkos::Experimental::quiet_NaN_v<double>
                                    : from.get(slot, column) - standards.shift[column];
      to.set(row, column, value / standards.scale[column]);
    }
  }
};

struct DrawnSlot {
  Placement placement;
  std::uint64_t draws;
  std::int64_t resident;
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t row) const {
    return placement.batch_slot(draws, row, resident);
  }
};

struct SlotInOrder {
  std::int64_t first;
  std::int64_t resident;
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t row) const {
    return (first + row) % resident;
  }
};

struct ClearOwner {
  std::int64_t* owners;
  KOKKOS_FUNCTION void operator()(const std::size_t slot) const { owners[slot] = -1; }
};

template <class Functor>
void launch(const char* label, const lane::Execution& execution, std::int64_t count,
            std::size_t chunk, const Functor& functor) {
  lane::dispatch(execution, [&](const auto& exec) {
    ops::for_each_element(label, exec, static_cast<std::size_t>(count), chunk, functor);
  });
}

}  // namespace

void add_samples(const lane::Execution& execution, const Placement& placement, std::int64_t first,
                 const Columns& inputs, const Columns& targets, const Slots& slots,
                 std::int64_t* refused) {
  launch("zygos::insitu::claim_slots", execution, inputs.samples, samples_of_a_chunk,
         ClaimSlot{placement, first, inputs, targets, slots.owners, refused});
  const std::int64_t all = placement.capacity + placement.held_out;
  if (inputs.samples < all) {
    launch("zygos::insitu::fill_slots", execution, inputs.samples, samples_of_a_chunk,
           FillFromSample{placement, first, inputs, targets, slots});
  } else {
    launch("zygos::insitu::fill_slots", execution, all, samples_of_a_chunk,
           FillSlot{first, inputs, targets, slots});
  }
}

void clear_owners(const lane::Execution& execution, std::int64_t* owners, std::int64_t slots) {
  launch("zygos::insitu::clear_owners", execution, slots, ops::chunk::light, ClearOwner{owners});
}

void draw_batch(const lane::Execution& execution, const Placement& placement, std::uint64_t draws,
                std::int64_t resident, const Slots& slots, const Standards& inputs,
                const Standards& targets, const BatchRows& batch) {
  launch(
      "zygos::insitu::draw_batch", execution, batch.count, samples_of_a_chunk,
      TakeRow<DrawnSlot>{{placement, draws, resident}, 0, resident, slots, inputs, targets, batch});
}

void take_slots(const lane::Execution& execution, std::int64_t begin, std::int64_t first,
                std::int64_t resident, const Slots& slots, const Standards& inputs,
                const Standards& targets, const BatchRows& batch) {
  launch("zygos::insitu::take_slots", execution, batch.count, samples_of_a_chunk,
         TakeRow<SlotInOrder>{{first, resident}, begin, resident, slots, inputs, targets, batch});
}

}  // namespace zygos::insitu
