// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiled to assembler by the test ops_fused_chains, and nowhere linked: a block of one row and one
// vector, whose products are added to a single accumulator.
#include "ops/gemm/microkernel/fma.hpp"

namespace zygos::ops::microkernel {

template void multiply_block<Variant{.x_along_k = true}, 1, 1>(const Args<float>&);

}  // namespace zygos::ops::microkernel
