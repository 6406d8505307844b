// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The table's real functions, of cuDNN 9 and its interface with descriptors.
#include "ops/conv/device/cudnn_conv.hpp"

#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <array>

namespace zygos::ops {
namespace {

static_assert(CUDNN_STATUS_SUCCESS == cudnn_code::success);
static_assert(cudnn_code::is_not_supported(CUDNN_STATUS_NOT_SUPPORTED) &&
              cudnn_code::is_not_supported(CUDNN_STATUS_NOT_SUPPORTED_SHAPE) &&
              !cudnn_code::is_not_supported(CUDNN_STATUS_BAD_PARAM) &&
              !cudnn_code::is_not_supported(CUDNN_STATUS_INTERNAL_ERROR));
static_assert(cudnn_algorithm::forward_implicit_gemm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM &&
              cudnn_algorithm::forward_implicit_precomp_gemm ==
                  CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM &&
              cudnn_algorithm::backward_data_1 == CUDNN_CONVOLUTION_BWD_DATA_ALGO_1 &&
              cudnn_algorithm::backward_filter_1 == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1);

cudnnHandle_t cudnn_of(void* handle) { return static_cast<cudnnHandle_t>(handle); }
cudnnTensorDescriptor_t tensor_of(void* tensor) {
  return static_cast<cudnnTensorDescriptor_t>(tensor);
}
cudnnFilterDescriptor_t filter_of(void* filter) {
  return static_cast<cudnnFilterDescriptor_t>(filter);
}
cudnnConvolutionDescriptor_t convolution_of(void* convolution) {
  return static_cast<cudnnConvolutionDescriptor_t>(convolution);
}
cudnnDataType_t data_type_of(DType dtype) {
  return dtype == DType::f64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
}

/// A function of the table that makes an object by one of cuDNN's.
template <class Object>
auto creation_by(cudnnStatus_t (*create)(Object*)) {
  return [create](void*& made) -> int {
    Object object = nullptr;
    const cudnnStatus_t code = create(&object);
    made = object;
    return code;
  };
}
template <class Object>
auto destruction_by(cudnnStatus_t (*destroy)(Object)) {
  return [destroy](void* object) -> int { return destroy(static_cast<Object>(object)); };
}

void add_descriptors(CudnnApi& api) {
  api.create_tensor = creation_by(cudnnCreateTensorDescriptor);
  api.destroy_tensor = destruction_by(cudnnDestroyTensorDescriptor);
  api.set_tensor = [](void* tensor, DType dtype, int n, int c, int h, int w) -> int {
    return cudnnSetTensor4dDescriptor(tensor_of(tensor), CUDNN_TENSOR_NCHW, data_type_of(dtype), n,
                                      c, h, w);
  };
  api.create_filter = creation_by(cudnnCreateFilterDescriptor);
  api.destroy_filter = destruction_by(cudnnDestroyFilterDescriptor);
  api.set_filter = [](void* filter, DType dtype, int k, int c, int h, int w) -> int {
    return cudnnSetFilter4dDescriptor(filter_of(filter), data_type_of(dtype), CUDNN_TENSOR_NCHW, k,
                                      c, h, w);
  };
  api.create_convolution = creation_by(cudnnCreateConvolutionDescriptor);
  api.destroy_convolution = destruction_by(cudnnDestroyConvolutionDescriptor);
  api.set_convolution = [](void* convolution, const CudnnWindow& at, DType dtype) -> int {
    return cudnnSetConvolution2dDescriptor(convolution_of(convolution), at.padding_y, at.padding_x,
                                           at.stride_y, at.stride_x, at.dilation_y, at.dilation_x,
                                           CUDNN_CROSS_CORRELATION, data_type_of(dtype));
  };
  api.set_groups = [](void* convolution, int groups) -> int {
    return cudnnSetConvolutionGroupCount(convolution_of(convolution), groups);
  };
  api.set_fma_math = [](void* convolution) -> int {
    return cudnnSetConvolutionMathType(convolution_of(convolution), CUDNN_FMA_MATH);
  };
}

CudnnPass forward_pass() {
  return {[](void* handle, void* x, void* w, void* convolution, void* y, int algorithm,
             std::size_t& bytes) -> int {
            return cudnnGetConvolutionForwardWorkspaceSize(
                cudnn_of(handle), tensor_of(x), filter_of(w), convolution_of(convolution),
                tensor_of(y), static_cast<cudnnConvolutionFwdAlgo_t>(algorithm), &bytes);
          },
          [](void* handle, const void* alpha, const CudnnInput& x, const CudnnInput& w,
             void* convolution, int algorithm, const CudnnScratch& scratch, const void* beta,
             const CudnnOutput& y) -> int {
            return cudnnConvolutionForward(
                cudnn_of(handle), alpha, tensor_of(x.descriptor), x.data, filter_of(w.descriptor),
                w.data, convolution_of(convolution),
                static_cast<cudnnConvolutionFwdAlgo_t>(algorithm), scratch.data, scratch.bytes,
                beta, tensor_of(y.descriptor), y.data);
          }};
}

CudnnPass backward_data_pass() {
  return {[](void* handle, void* w, void* d_y, void* convolution, void* d_x, int algorithm,
             std::size_t& bytes) -> int {
            return cudnnGetConvolutionBackwardDataWorkspaceSize(
                cudnn_of(handle), filter_of(w), tensor_of(d_y), convolution_of(convolution),
                tensor_of(d_x), static_cast<cudnnConvolutionBwdDataAlgo_t>(algorithm), &bytes);
          },
          [](void* handle, const void* alpha, const CudnnInput& w, const CudnnInput& d_y,
             void* convolution, int algorithm, const CudnnScratch& scratch, const void* beta,
             const CudnnOutput& d_x) -> int {
            return cudnnConvolutionBackwardData(
                cudnn_of(handle), alpha, filter_of(w.descriptor), w.data, tensor_of(d_y.descriptor),
                d_y.data, convolution_of(convolution),
                static_cast<cudnnConvolutionBwdDataAlgo_t>(algorithm), scratch.data, scratch.bytes,
                beta, tensor_of(d_x.descriptor), d_x.data);
          }};
}

CudnnPass backward_filter_pass() {
  return {[](void* handle, void* x, void* d_y, void* convolution, void* d_w, int algorithm,
             std::size_t& bytes) -> int {
            return cudnnGetConvolutionBackwardFilterWorkspaceSize(
                cudnn_of(handle), tensor_of(x), tensor_of(d_y), convolution_of(convolution),
                filter_of(d_w), static_cast<cudnnConvolutionBwdFilterAlgo_t>(algorithm), &bytes);
          },
          [](void* handle, const void* alpha, const CudnnInput& x, const CudnnInput& d_y,
             void* convolution, int algorithm, const CudnnScratch& scratch, const void* beta,
             const CudnnOutput& d_w) -> int {
            return cudnnConvolutionBackwardFilter(
                cudnn_of(handle), alpha, tensor_of(x.descriptor), x.data, tensor_of(d_y.descriptor),
                d_y.data, convolution_of(convolution),
                static_cast<cudnnConvolutionBwdFilterAlgo_t>(algorithm), scratch.data,
                scratch.bytes, beta, filter_of(d_w.descriptor), d_w.data);
          }};
}

std::string cudnn_text_of(int code) {
  std::array<char, 512> last{};
  cudnnGetLastErrorString(last.data(), last.size());
  const std::string text = cudnnGetErrorString(static_cast<cudnnStatus_t>(code));
  return last[0] == '\0' ? text : text + " (" + last.data() + ")";
}

CudnnApi real_cudnn_api() {
  CudnnApi api;
  api.create = creation_by(cudnnCreate);
  api.destroy = destruction_by(cudnnDestroy);
  api.set_stream = [](void* handle, void* stream) -> int {
    return cudnnSetStream(cudnn_of(handle), static_cast<cudaStream_t>(stream));
  };
  add_descriptors(api);
  api.forward = forward_pass();
  api.backward_data = backward_data_pass();
  api.backward_filter = backward_filter_pass();
  api.error_text = cudnn_text_of;
  api.set_device = [](int device) { return cudaSetDevice(device) == cudaSuccess; };
  api.cuda_error_text = [] { return std::string(cudaGetErrorString(cudaGetLastError())); };
  return api;
}

}  // namespace

/// cuDNN lets one thread at a time use a handle, and the kernels of a lane are issued by its driver
/// thread. So each thread has its own: no lock, and it goes when the lane's thread ends, which is
/// before its stream does.
CudnnConv* device_cudnn_conv() {
  thread_local CudnnConv all(real_cudnn_api());
  return &all;
}

}  // namespace zygos::ops
