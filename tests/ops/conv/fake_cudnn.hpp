// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A table of functions that stand for cuDNN and CUDA. They read what descriptors say and compute
// convolutions in host memory as cuDNN documents them: NCHW, cross-correlation, result = alpha *
// sums + beta * result. A descriptor with a wrong number in it gives a wrong result or an error.
#pragma once

#include "ops/conv/device/cudnn_api.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace zygos::testing {

class FakeCudnn {
 public:
  static constexpr int bad_param = 2000;
  static constexpr int not_supported_shape = 3002;
  static constexpr int execution_failed = 5000;

  /// Names of cuDNN's functions that were called, in order.
  std::vector<std::string> calls;
  /// Codes to return instead of success, by the function's name.
  std::map<std::string, int> returns;
  /// By the name of a convolution's function and the number of an algorithm: bytes it needs (else
  /// none), and what it returns where it runs.
  std::map<std::pair<std::string, int>, std::size_t> workspaces;
  std::map<std::pair<std::string, int>, int> returns_of;
  bool has_device = true;

  int device = -1;
  void* stream = nullptr;  ///< of the handle
  bool wrote_to_scratch = false;
  /// Of the convolutions that ran: name and algorithm.
  std::vector<std::pair<std::string, int>> computed;

  ops::CudnnApi table();
  std::size_t count(const std::string& name) const;
  /// Handles and descriptors that were made and not destroyed.
  std::size_t alive() const { return alive_.size(); }

 private:
  /// An image or filters: (N, C, H, W) or (K, C of a group, H, W).
  struct Array {
    DType dtype = DType::u8;  ///< until it is set
    std::array<int, 4> sizes{};
  };
  struct Convolution {
    ops::CudnnWindow window{};
    DType dtype = DType::u8;
    int groups = 1;
    bool fma = false;
  };
  enum class Pass { forward, backward_data, backward_filter };
  /// The descriptors of a call, whatever its order of operands.
  struct Shape {
    const Array& x;
    const Array& w;
    const Array& y;
    const Convolution& convolution;
  };

  int call(const std::string& name);
  int make(void*& object, const std::string& name);
  int destroy(void* object, const std::string& name);
  const Array& array(void* object) const;
  const Convolution& convolution(void* object) const;
  Shape shape_of(Pass pass, void* first, void* second, void* convolution, void* result) const;
  bool fits(const Shape& shape) const;
  ops::CudnnPass pass(Pass which, const std::string& name);
  void add_descriptors(ops::CudnnApi& api);
  template <class T>
  void compute(Pass pass, const Shape& shape, const void* alpha, const void* first,
               const void* second, const void* beta, void* result) const;

  std::set<void*> alive_;
  std::map<void*, Array> arrays_;
  std::map<void*, Convolution> convolutions_;
  std::vector<std::unique_ptr<int>> addresses_;  ///< kept, so that none is used twice
};

}  // namespace zygos::testing
