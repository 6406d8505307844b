// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/device/product_math.hpp"

namespace zygos::ops {

ProductMath device_product_math() { return {}; }

}  // namespace zygos::ops
