// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of floats and doubles by cuDNN, in a way that gives the same bits every time: of its
// algorithms without atomics the first one whose workspace fits into the scratch memory of the
// caller. That depends on the shape alone, and nothing is allocated on the device but the handle.
#pragma once

#include "ops/conv/device/cudnn_api.hpp"
#include "ops/conv/geometry.hpp"

#include <cstddef>
#include <memory>

namespace zygos::ops {

/// A convolution, and where it is to run.
struct CudnnCall {
  Conv2d conv;
  DType dtype;  ///< f32 or f64
  int device = 0;
  void* stream = nullptr;
  CudnnScratch scratch{};
};

/// A handle, made by the first call, and the descriptors of the convolutions that were computed.
/// Each pass says false, and has done nothing, for what cuDNN does not compute: no elements, more
/// of them than an int counts, an algorithm that it does not have for the shape, too little
/// scratch. Throws InternalError, which names the call, for whatever else cuDNN reports.
class CudnnConv {
 public:
  explicit CudnnConv(CudnnApi api);
  ~CudnnConv();
  CudnnConv(const CudnnConv&) = delete;
  CudnnConv& operator=(const CudnnConv&) = delete;

  /// y = x * w
  bool forward(const CudnnCall& call, const void* x, const void* w, void* y);
  /// d_x from d_y
  bool input_gradient(const CudnnCall& call, const void* w, const void* d_y, void* d_x);
  /// d_w from x and d_y, or d_w plus that.
  bool filter_gradient(const CudnnCall& call, const void* x, const void* d_y, void* d_w, bool adds);

  /// Convolutions whose descriptors are kept: more than a model has. A program that goes through
  /// more, batches of ever other sizes for one, begins anew.
  static constexpr std::size_t max_kept = 512;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The calling thread's, for the device lane whose kernels it issues; null in a build without
/// cuDNN.
CudnnConv* device_cudnn_conv();

}  // namespace zygos::ops
