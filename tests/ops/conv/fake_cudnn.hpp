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
  /// Which of x, w, y are a pass' operands and its result, in cuDNN's order.
  using Order = std::array<std::size_t, 3>;
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
  Shape shape_of(const Order& order, void* first, void* second, void* of, void* result) const;
  static bool fits(const Shape& shape);
  std::size_t workspace_of(const std::string& name, int algorithm) const;
  bool use(const ops::CudnnScratch& scratch, std::size_t needed);
  ops::CudnnPass pass(const Order& order, const std::string& name);
  void add_descriptors(ops::CudnnApi& api);
  template <class F>
  static void for_each_product(const Shape& shape, const F& f);
  template <class T>
  static void compute(const Order& order, const Shape& shape, const void* alpha, const void* first,
                      const void* second, const void* beta, void* result);

  std::set<void*> alive_;
  std::map<void*, Array> arrays_;
  std::map<void*, Convolution> convolutions_;
  std::vector<std::unique_ptr<int>> addresses_;  ///< kept, so that none is used twice
};

}  // namespace zygos::testing
