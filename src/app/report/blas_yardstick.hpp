// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A BLAS to compare our GEMM with: a shared library that the user names, loaded at run time, so
// that no build needs one.
#pragma once

#include <optional>
#include <string>

namespace zygos::app {

struct BlasRate {
  std::string library;
  double flops_per_s = 0.0;  ///< median of float products of the peak-rate measurement's size
};

/// Of the CBLAS that the environment variable ZYGOS_BLAS names, with so many threads; nothing if
/// it names none. Throws UsageError if that can't be loaded or is no CBLAS.
std::optional<BlasRate> measure_blas(int threads);

}  // namespace zygos::app
