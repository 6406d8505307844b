// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Everything that is called in cuDNN and CUDA for convolutions, as a table: tests put functions of
// their own into it. Handles, descriptors and streams are opaque pointers.
#pragma once

#include "zygos/core/dtype.hpp"

#include <cstddef>
#include <functional>
#include <string>

namespace zygos::ops {

/// What the table's functions return; cuDNN's own numbers (checked where cudnn.h is known).
namespace cudnn_code {
constexpr int success = 0;
/// Of all reasons for which cuDNN does not support something, numbers of one thousand.
constexpr bool is_not_supported(int code) { return code / 1000 == 3; }
}  // namespace cudnn_code

/// cuDNN's numbers of the algorithms that are used. The gradients have others with atomics, whose
/// sums are in an order that changes: ALGO_0 of both, ALGO_3 of the filters.
namespace cudnn_algorithm {
constexpr int forward_implicit_gemm = 0;
constexpr int forward_implicit_precomp_gemm = 1;
constexpr int backward_data_1 = 1;
constexpr int backward_filter_1 = 1;
}  // namespace cudnn_algorithm

/// Every axis of a convolution that is the same for all images: padding, stride, dilation.
struct CudnnWindow {
  int padding_y;
  int padding_x;
  int stride_y;
  int stride_x;
  int dilation_y;
  int dilation_x;
};

struct CudnnInput {
  void* descriptor;
  const void* data;
};
struct CudnnOutput {
  void* descriptor;
  void* data;
};
struct CudnnScratch {
  void* data;
  std::size_t bytes;
};

/// One pass, in the order of operands that all of cuDNN's convolutions have: forward x, w, y;
/// backward data w, d_y, d_x; backward filter x, d_y, d_w. Result = alpha * sums + beta * result;
/// alpha and beta are floats or, of f64, doubles.
struct CudnnPass {
  std::function<int(void* handle, void* first, void* second, void* convolution, void* result,
                    int algorithm, std::size_t& bytes)>
      workspace_size;
  std::function<int(void* handle, const void* alpha, const CudnnInput& first,
                    const CudnnInput& second, void* convolution, int algorithm,
                    const CudnnScratch& scratch, const void* beta, const CudnnOutput& result)>
      run;
};

/// Functions of cuDNN return its codes.
struct CudnnApi {
  std::function<int(void*& handle)> create;
  std::function<int(void* handle)> destroy;
  std::function<int(void* handle, void* stream)> set_stream;

  std::function<int(void*& tensor)> create_tensor;
  std::function<int(void* tensor)> destroy_tensor;
  /// NCHW, without gaps.
  std::function<int(void* tensor, DType dtype, int n, int c, int h, int w)> set_tensor;

  std::function<int(void*& filter)> create_filter;
  std::function<int(void* filter)> destroy_filter;
  /// KCHW, without gaps; `c`: channels of a group.
  std::function<int(void* filter, DType dtype, int k, int c, int h, int w)> set_filter;

  std::function<int(void*& convolution)> create_convolution;
  std::function<int(void* convolution)> destroy_convolution;
  /// Cross-correlation; sums are of `dtype`.
  std::function<int(void* convolution, const CudnnWindow& window, DType dtype)> set_convolution;
  std::function<int(void* convolution, int groups)> set_groups;
  /// Fused multiply-add alone: the default mode may round operands to TF32.
  std::function<int(void* convolution)> set_fma_math;

  CudnnPass forward;
  CudnnPass backward_data;
  CudnnPass backward_filter;

  /// Text of a code, and what cuDNN says of its latest error.
  std::function<std::string(int code)> error_text;

  /// Makes a device that of the calling thread.
  std::function<bool(int device)> set_device;
  std::function<std::string()> cuda_error_text;  ///< of the latest error
};

}  // namespace zygos::ops
