// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Products of floats on a processor that multiplies bf16 many times faster (AMX). A float is
// exactly the sum of three bf16, of 8 bits each; of the nine products of two floats' parts, the
// three smallest are below what a float can hold of their sum and are left out. The others are
// added up in float. (G. Henry, P. T. P. Tang, A. Heinecke, "Leveraging the bfloat16 Artificial
// Intelligence Datatype For Higher-Precision Computations", ARITH 2019.)
//
// Results err less than those of float kernels: what is left out is at most 2^-22 of a product,
// and 16 products at a time are added up before the sum grows. Other differences: parts below
// 2^-126 are taken for zero; a number above 3.39e38 counts as infinite; a product of an infinite
// number is not a number.
#pragma once

#include "ops/strided_product.hpp"
#include "ops/tiling.hpp"

#include <cstdint>

namespace zygos::ops {

/// Whether the processor, and this build for it, can.
bool can_split();

/// Whether it can and split_multiply() is faster than float operations: for extents
/// that fill tiles and are multiplied often enough to be worth being cut up. A matter of the shape
/// alone.
bool split_pays(ProductForm form, std::int64_t m, std::int64_t n, std::int64_t k);

/// Tiles of the result for so many threads. A number has the same bits in all of them.
Tiling split_tiling(std::int64_t m, std::int64_t n, std::int64_t threads);

/// On the calling thread, of whose stack it takes half a MiB. can_split() must hold.
void split_multiply(const StridedProduct<float>& product);

}  // namespace zygos::ops
