// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The peak rates of a lane, measured in turn with the ops that are compared to them.
#pragma once

#include "zygos/lane/lane.hpp"
#include "zygos/plan/roofline.hpp"
#include "zygos/tensor/tensor.hpp"

#include <cstddef>
#include <vector>

namespace zygos::measure {

/// Times products of square matrices, 2048 a side, by the kernel that layers use, and sums of two
/// vectors of 128 MiB each (as STREAM counts: two reads and a write); of smaller ones if the lane's
/// budget has no room. What is multiplied are a dense layer's first weights: a GPU at the limit of
/// its power is slowed down by numbers that differ, up to 15 % against zeros (H. He, "Strangely,
/// matrix multiplications on GPUs run faster when given predictable data", 2024).
class PeakRateMeter {
 public:
  /// `lane` must outlive the meter. `dtype`: f32 or f64.
  PeakRateMeter(lane::Lane& lane, DType dtype);

  /// Samples for so many seconds, half for either; takes memory of the lane and gives it back.
  /// Throws MemoryError if there is no room for a product.
  void sample(double seconds);

  /// Medians of all samples so far, as of a step's ops: on a shared machine the best of many would
  /// be that of a moment that no step is long enough to have for itself.
  plan::PeakRates peak() const;

 private:
  void sample_products(double seconds);
  void sample_sums(double seconds);
  void sample_sums_of(std::size_t bytes, double seconds);

  lane::Lane& lane_;
  DType dtype_;
  std::vector<std::byte> weights_;      ///< of a product, as a host stores them
  std::vector<std::byte> activations_;  ///< the same numbers
  std::vector<double> flops_per_s_, bytes_per_s_;
};

}  // namespace zygos::measure
