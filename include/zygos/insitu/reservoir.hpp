// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Samples of a running simulation, kept where its execution space computes. What comes is gathered
// from the simulation's Views by kernels on its own instance: nothing passes through the host.
#pragma once

#include "zygos/core/dtype.hpp"
#include "zygos/core/shape.hpp"
#include "zygos/insitu/state.hpp"
#include "zygos/insitu/views.hpp"
#include "zygos/lane/spaces.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace zygos::insitu {

/// Which samples stay when there is no room left.
enum class Keep : std::uint8_t {
  uniform,  ///< each that was ever added with the same probability
  newest,
};

struct ReservoirOptions {
  std::int64_t capacity = 0;  ///< samples to train on
  /// Of so many consecutive samples one is held out, drawn at random, for the validation error; 0:
  /// none is. Held-out samples have room of their own, capacity / (validate_every - 1) of them.
  std::int64_t validate_every = 10;
  Keep keep = Keep::uniform;
  /// What values are stored as: f64 keeps what the simulation has, f32 takes half the memory.
  DType stored = DType::f64;
  std::uint64_t seed = 1;  ///< of what is kept and held out
};

class ReservoirStore;

/// Samples, and mean and variance of each of their columns over all that was ever added. What is
/// kept is a pure function of seed and order of the samples: it depends neither on how they are cut
/// into calls nor on threads.
///
/// Threads: used by one thread at a time, which starts no other one. Kernels run on the instance
/// that a call gets; nothing is fenced unless that is another one than in the call before.
/// All memory is allocated by the constructor. Must be destroyed before Kokkos is finalised.
class Reservoir {
 public:
  /// `input` and `target` are the shapes of one sample. Throws UsageError for options that make no
  /// sense, MemoryError.
  template <class Exec>
  Reservoir(const Exec& exec, const Shape& input, const Shape& target,
            const ReservoirOptions& options)
      : Reservoir(lane::Execution(exec), input, target, options) {}
  Reservoir(const lane::Execution& execution, const Shape& input, const Shape& target,
            const ReservoirOptions& options);
  Reservoir(Reservoir&& other) noexcept;
  Reservoir& operator=(Reservoir&& other) noexcept;
  ~Reservoir();

  /// Adds as many samples as the Views' first dimensions say. Inputs and targets are a View or a
  /// std::tuple of Views, (N, ...) in the shape of a sample or flat; tuples lie side by side along
  /// its first axis. A sample with a value that is not finite is left out. Enqueued on `exec`
  /// without a fence: on a device the Views must live until its work is done. Throws UsageError for
  /// shapes that do not fit.
  template <class Exec, class Inputs, class Targets>
  void add(const Exec& exec, const Inputs& inputs, const Targets& targets) {
    static_assert(readable<Exec, Inputs>,
                  "add: the execution space cannot access the memory of an input View");
    static_assert(readable<Exec, Targets>,
                  "add: the execution space cannot access the memory of a target View");
    add_samples(lane::Execution(exec), samples_of_views(inputs), samples_of_views(targets));
  }
  /// The same without Views. Nothing checks that `execution` can access the memory.
  void add_samples(const lane::Execution& execution, std::span<const infer::Samples> inputs,
                   std::span<const infer::Samples> targets);

  const Shape& input_shape() const noexcept;
  const Shape& target_shape() const noexcept;
  /// Samples that were ever added, those that were left out included.
  std::int64_t seen() const noexcept;
  /// Samples to train on and held-out samples that it has now (or had, but for those left out).
  std::int64_t training() const noexcept;
  std::int64_t validation() const noexcept;
  /// Samples that were left out. Waits for the instance on a device.
  std::int64_t refused() const;
  /// Bytes of memory of the execution space.
  std::size_t bytes() const noexcept;

  /// Everything, copied to host memory, named "reservoir/...".
  State state() const;
  /// Goes on from there with the bits of an undisturbed run. Throws CheckpointError unless the
  /// state is that of a reservoir with these shapes and options; this one is then as it was before.
  void restore(const State& state);

 private:
  friend class Surrogate;
  std::unique_ptr<ReservoirStore> store_;
};

}  // namespace zygos::insitu
