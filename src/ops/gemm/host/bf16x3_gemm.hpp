// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// bf16x3 GEMM: float GEMM on a processor that multiplies bf16 many times faster (AMX). A float is
// exactly the sum of three bf16, of 8 bits each; of the nine products of two floats' parts, the
// three smallest are below the precision of a float and are left out. The others are summed in
// float. (G. Henry, P. T. P. Tang, A. Heinecke, "Leveraging the bfloat16 Artificial
// Intelligence Datatype For Higher-Precision Computations", ARITH 2019.)
//
// Results err less than those of float kernels: what is left out is at most 2^-22 of a product,
// and 16 products at a time are summed before the sum grows. Other differences: parts below
// 2^-126 are treated as zero; a number above 3.39e38 counts as infinite; a product of an infinite
// number is not a number.
#pragma once

#include "ops/gemm/host/strided_gemm.hpp"
#include "ops/gemm/host/tiling.hpp"

#include <cstdint>

namespace zygos::ops {

/// Whether the processor, and this build for it, can.
bool has_bf16x3_gemm();

/// Whether it can and bf16x3_gemm() takes fewer cycles than FMA: for dimensions that fill AMX's
/// tiles and are multiplied often enough to be worth splitting. Depends on the shape alone.
bool bf16x3_is_profitable(GemmForm form, std::int64_t m, std::int64_t n, std::int64_t k);

/// Tiles of the result for so many threads. An element has the same bits whatever they are.
GemmTiling bf16x3_tiling(std::int64_t m, std::int64_t n, std::int64_t threads);

/// On the calling thread, of whose stack it takes half a MiB. has_bf16x3_gemm() must hold.
void bf16x3_gemm(const StridedGemm<float>& product);

}  // namespace zygos::ops
