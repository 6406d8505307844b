// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A table of functions that stand for cuBLASLt and CUDA: they multiply column-major matrices in
// host memory as cuBLASLt's documentation says, write down what was called, and return what the
// test wants. A product that breaks one of the library's rules is an invalid value.
#pragma once

#include "ops/gemm/device/cublas_lt_api.hpp"

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace zygos::testing {

class FakeCublasLt {
 public:
  /// Names of the functions that were called, in order; not those that set the device.
  std::vector<std::string> calls;
  /// Codes to return instead of success, by the function's name.
  std::map<std::string, int> returns;
  /// What the heuristic answers.
  std::vector<ops::LtAlgorithm> algorithms{ops::LtAlgorithm{}};
  /// Whether the heuristic knows of TF32.
  bool has_tf32 = true;
  /// Whether it has algorithms for bf16.
  bool has_bf16 = true;
  std::vector<ops::LtProduct> asked;
  std::vector<ops::LtPreference> preferences;
  std::vector<ops::LtCall> products;
  std::set<int> devices;  ///< that were set
  int handles = 0;
  std::map<void*, std::size_t> memory;  ///< bytes of what is allocated

  ops::CublasLtApi table();
  int count(const std::string& name) const;

 private:
  int call(const std::string& name);
  int heuristic(const ops::LtProduct& product, const ops::LtPreference& preference,
                std::vector<ops::LtAlgorithm>& found);
  int multiply(const ops::LtCall& made);
  int allocate(void*& address, std::size_t bytes);
  void add_library(ops::CublasLtApi& api);
  void add_cuda(ops::CublasLtApi& api);

  std::mutex mutex_;
};

}  // namespace zygos::testing
