// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs with the values of a function as targets, for surrogates and segmentation, without a file.
// Sample i is a pure function of (seed, i), with the same bits on every machine, so that a test set
// is the same stream further on.
#pragma once

#include "zygos/io/dataset.hpp"

#include <cstdint>

namespace zygos::synthetic {

enum class Function {
  /// Of a symmetric 3 x 3 tensor (xx, yy, zz, xy, xz, yz), components uniform in [-1, 1): its
  /// trace,
  /// its second invariant and its determinant, which an isotropic material's energy depends on.
  invariants,
  /// Of a rate of strain S like that, with |S| = sqrt(2 S_ij S_ij): the eddy viscosity 0.1 |S|
  /// (Smagorinsky, 1963, the square of his mixing length being 0.1) and what it dissipates,
  /// 0.1 |S|^3.
  smagorinsky,
  /// (1, size, size) -> (1, size, size): a smooth field after a time in which viscous Burgers'
  /// equation u_t + u u_x + u u_y = nu (u_xx + u_yy) makes its slopes steep; periodic.
  burgers,
  /// From the same field to 1 where a front has formed by then, |u_x| + |u_y| > 5, and 0 elsewhere.
  fronts,
  /// (1, size, size) -> (1, size, size): bright soft ellipses on an uneven background, and the mask
  /// of what they cover.
  blobs,
};

struct SyntheticOptions {
  Function function = Function::invariants;
  std::int64_t samples = 10000;  ///< at least 1
  std::int64_t first = 0;        ///< number of the first sample in the stream; at least 0
  std::int64_t size = 32;        ///< cells on a side of a field, 8 to 512
  double noise = 0.0;  ///< 0 to 10: amplitude of what is added to every input, not to the targets
  std::uint64_t seed = 1;
};

/// f32 inputs and targets. Throws UsageError for options out of range.
io::Dataset make_synthetic(const SyntheticOptions& options);

}  // namespace zygos::synthetic
