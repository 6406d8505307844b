// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/device/cudnn_conv.hpp"

namespace zygos::ops {

CudnnConv* device_cudnn_conv() { return nullptr; }

}  // namespace zygos::ops
