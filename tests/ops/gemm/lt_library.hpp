// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// cuBLASLt's front end over the fake.
#pragma once

#include "ops/gemm/device/cublas_lt_gemm.hpp"
#include "ops/gemm/fake_cublas_lt.hpp"
#include "ops/gemm/lt_data.hpp"

#include <cstddef>
#include <cstdint>

namespace zygos::testing {

inline constexpr int lt_device = 3;

struct LtLibrary {
  FakeCublasLt fake;
  ops::CublasLtGemm gemm{fake.table(), lt_device};

  /// Of one product of floats.
  ops::LtOutcome multiply(ops::LtForm form = ops::LtForm::first_transposed) {
    return gemm.multiply(data.product(form), this);
  }
  LtData<float> data{9, 12, 5};
};

inline ops::LtAlgorithm lt_algorithm(std::uint64_t code, std::size_t workspace = 0,
                                     int status = 0) {
  return {{code}, workspace, status};
}

}  // namespace zygos::testing
