// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "insitu/instance.hpp"
#include "insitu/kernels/moments.hpp"
#include "insitu/kernels/reservoir_kernels.hpp"
#include "insitu/placement.hpp"

#include "zygos/core/shape.hpp"
#include "zygos/insitu/reservoir.hpp"
#include "zygos/memory/arena.hpp"

#include <cstdint>
#include <span>

namespace zygos::insitu {

/// What a Reservoir is: its memory, and how many samples went by.
class ReservoirStore {
 public:
  ReservoirStore(const lane::Execution& execution, const Shape& input, const Shape& target,
                 const ReservoirOptions& options);

  void add(const lane::Execution& execution, std::span<const infer::Samples> inputs,
           std::span<const infer::Samples> targets);
  /// From now on `execution` works with it.
  void enter(const lane::Execution& execution) { instance_.enter(execution, "the reservoir"); }

  const Shape& input() const noexcept { return input_; }
  const Shape& target() const noexcept { return target_; }
  std::int64_t width() const { return input_.size() + target_.size(); }
  std::int64_t seen() const noexcept { return seen_; }
  std::int64_t training() const;
  std::int64_t validation() const;
  std::int64_t refused() const;
  std::size_t bytes() const noexcept { return arena_.layout().total(); }

  const Placement& placement() const noexcept { return placement_; }
  const Slots& slots() const noexcept { return slots_; }
  /// By column, those of inputs first.
  Moments* moments() const noexcept { return running_; }
  const Instance& instance() const noexcept { return instance_; }

  State state() const;
  void restore(const State& state);

 private:
  std::int64_t* refused_count() const { return reinterpret_cast<std::int64_t*>(refused_.get()); }
  std::int64_t slot_count() const { return placement_.capacity + placement_.held_out; }
  void lay_out(DType stored);
  std::vector<std::int64_t> identity() const;

  Shape input_;
  Shape target_;
  Placement placement_;
  Instance instance_;
  memory::Arena arena_;
  Slots slots_;
  Moments* running_ = nullptr;
  Moments* scratch_ = nullptr;
  memory::Block refused_;  ///< i64 that the host reads
  std::int64_t seen_ = 0;
};

}  // namespace zygos::insitu
