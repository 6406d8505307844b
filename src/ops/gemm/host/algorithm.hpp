// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The chooser of GEMM algorithms on a host lane: a table of rules from element type, form and
// shape to an algorithm and the microkernel that it uses (algorithm.cpp). A choice depends on
// nothing else, so the bits of a result do not depend on the number of threads.
#pragma once

#include "ops/gemm/host/strided_gemm.hpp"

#include "zygos/core/bf16.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace zygos::ops {

enum class GemmAlgorithm {
  bf16_amx,      ///< bf16 operands, tiles of AMX
  bf16_pairs,    ///< bf16 operands, VDPBF16PS of AVX-512
  bf16_widened,  ///< bf16 operands, widened to float in registers
  split_k,       ///< a^T b cut along k into partial sums, each by one of the following
  bf16x3,        ///< floats as three bf16 each, tiles of AMX
  fma,           ///< float or double vectors
};

struct GemmShape {
  GemmForm form;
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
};

/// A row of the table. The first that serves the type and applies to the shape is taken.
struct GemmRule {
  GemmAlgorithm algorithm;
  std::string_view name;
  std::string_view microkernel;  ///< header in ops/gemm/microkernel
  std::string_view types;
  std::string_view condition;
  bool (*applies)(const GemmShape& shape);
};
std::span<const GemmRule> gemm_rules();

/// T is float, double or bf16 (of activations).
template <class T>
GemmAlgorithm gemm_algorithm(const GemmShape& shape);
/// The same without split-K: for the parts of one, and for a product of operands in a cache.
template <class T>
GemmAlgorithm gemm_algorithm_of_part(const GemmShape& shape);

/// Split-K: parts of k, and the largest result and row of column sums that partial sums are kept
/// of.
inline constexpr std::int64_t split_k_parts = 4;
inline constexpr std::int64_t split_k_max_results = 64 * 64;
inline constexpr std::int64_t split_k_max_columns = 512;

}  // namespace zygos::ops
