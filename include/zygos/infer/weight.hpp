// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a model is made of beside its graph, without Kokkos.
#pragma once

#include "zygos/core/dtype.hpp"
#include "zygos/core/shape.hpp"

#include <string>

namespace zygos::infer {

/// A named parameter in host memory, dense and row major, borrowed for the duration of a call.
struct Weight {
  std::string name;  ///< "fc1/kernel", as graph::Parameter
  DType dtype = DType::f32;
  Shape shape;
  const void* data = nullptr;
};

}  // namespace zygos::infer
