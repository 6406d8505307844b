// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/host/algorithm.hpp"

#include "ops/gemm/host/bf16x3_gemm.hpp"
#include "ops/gemm/host/work.hpp"
#include "ops/gemm/microkernel/amx.hpp"
#include "ops/gemm/microkernel/bf16_pairs.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

namespace zygos::ops {
namespace {

bool always(const GemmShape&) { return true; }
bool with_amx(const GemmShape&) { return microkernel::has_amx(); }
bool with_avx512_bf16(const GemmShape&) { return microkernel::has_avx512_bf16; }
bool with_profitable_bf16x3(const GemmShape& shape) {
  return bf16x3_is_profitable(shape.form, shape.m, shape.n, shape.k);
}
/// For a product that is worth other threads' time and reads more than it leaves to reduce.
bool with_profitable_split_k(const GemmShape& shape) {
  return shape.form == GemmForm::tn && shape.m * shape.n <= split_k_max_results &&
         shape.n <= split_k_max_columns &&
         split_k_parts * shape.m * shape.n <= shape.k * (shape.m + shape.n) &&
         grain_size(gemm_tn_work(shape.m, shape.n, shape.k), split_k_parts) < split_k_parts;
}

constexpr std::array<GemmRule, 6> rules{{
    {GemmAlgorithm::bf16_amx, "bf16_amx", "amx.hpp", "bf16", "the processor has AMX-BF16",
     with_amx},
    {GemmAlgorithm::bf16_pairs, "bf16_pairs", "bf16_pairs.hpp", "bf16",
     "the processor has AVX-512 BF16", with_avx512_bf16},
    {GemmAlgorithm::bf16_widened, "bf16_widened", "bf16_pairs.hpp", "bf16", "always", always},
    {GemmAlgorithm::split_k, "split_k", "that of a part", "float double",
     "a^T b with m n <= 4096, n <= 512, 4 m n <= k (m + n), and work for several threads",
     with_profitable_split_k},
    {GemmAlgorithm::bf16x3, "bf16x3", "amx.hpp", "float",
     "AMX-BF16, dimensions >= 16, and fewer cycles than by FMA", with_profitable_bf16x3},
    {GemmAlgorithm::fma, "fma", "fma.hpp", "float double", "always", always},
}};

template <class T>
constexpr std::string_view name_of_type() {
  if constexpr (std::is_same_v<T, bf16>) {
    return "bf16";
  } else {
    return std::is_same_v<T, float> ? "float" : "double";
  }
}

/// Types are separated by spaces; none is a part of another but in "bf16", which stands alone.
template <class T>
GemmAlgorithm first_of(std::span<const GemmRule> rows, const GemmShape& shape) {
  for (const GemmRule& rule : rows) {
    if (rule.types.find(name_of_type<T>()) != std::string_view::npos && rule.applies(shape)) {
      return rule.algorithm;
    }
  }
  return rows.back().algorithm;
}

}  // namespace

std::span<const GemmRule> gemm_rules() { return rules; }

template <class T>
GemmAlgorithm gemm_algorithm(const GemmShape& shape) {
  return first_of<T>(rules, shape);
}

template <class T>
GemmAlgorithm gemm_algorithm_of_part(const GemmShape& shape) {
  constexpr std::size_t behind_split_k = 4;
  static_assert(rules[behind_split_k - 1].algorithm == GemmAlgorithm::split_k);
  return first_of<T>(std::span(rules).subspan(behind_split_k), shape);
}

template GemmAlgorithm gemm_algorithm<float>(const GemmShape&);
template GemmAlgorithm gemm_algorithm<double>(const GemmShape&);
template GemmAlgorithm gemm_algorithm<bf16>(const GemmShape&);
template GemmAlgorithm gemm_algorithm_of_part<float>(const GemmShape&);
template GemmAlgorithm gemm_algorithm_of_part<double>(const GemmShape&);

}  // namespace zygos::ops
