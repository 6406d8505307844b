// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The table's real functions. Descriptors are built on the stack for every call: a bias is part of
// one, so that threads could not share it.
#include "ops/gemm/device/cublas_lt_api.hpp"

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstring>

namespace zygos::ops {
namespace {

static_assert(CUBLAS_STATUS_SUCCESS == lt_code::success);
static_assert(CUBLAS_STATUS_INVALID_VALUE == lt_code::invalid_value);
static_assert(CUBLAS_STATUS_NOT_SUPPORTED == lt_code::not_supported);
static_assert(CUBLASLT_REDUCTION_SCHEME_NONE == lt_reduction::none);
static_assert(CUBLASLT_REDUCTION_SCHEME_INPLACE == lt_reduction::in_place);
static_assert(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE == lt_reduction::compute_type);
static_assert(sizeof(cublasLtMatmulAlgo_t) == sizeof(LtAlgorithm::code));

cublasLtHandle_t handle_of(void* handle) { return static_cast<cublasLtHandle_t>(handle); }
cudaStream_t stream_of(void* stream) { return static_cast<cudaStream_t>(stream); }

cudaDataType_t native(LtType type) {
  switch (type) {
    case LtType::f32:
      return CUDA_R_32F;
    case LtType::f64:
      return CUDA_R_64F;
    case LtType::bf16:
      return CUDA_R_16BF;
  }
  return CUDA_R_32F;
}

cublasComputeType_t native(LtCompute compute) {
  switch (compute) {
    case LtCompute::f32:
      return CUBLAS_COMPUTE_32F;
    case LtCompute::f32_fast_tf32:
      return CUBLAS_COMPUTE_32F_FAST_TF32;
    case LtCompute::f64:
      return CUBLAS_COMPUTE_64F;
  }
  return CUBLAS_COMPUTE_32F;
}

cublasLtEpilogue_t native(LtEpilogue epilogue) {
  switch (epilogue) {
    case LtEpilogue::none:
      return CUBLASLT_EPILOGUE_DEFAULT;
    case LtEpilogue::bias:
      return CUBLASLT_EPILOGUE_BIAS;
    case LtEpilogue::relu:
      return CUBLASLT_EPILOGUE_RELU;
    case LtEpilogue::relu_bias:
      return CUBLASLT_EPILOGUE_RELU_BIAS;
  }
  return CUBLASLT_EPILOGUE_DEFAULT;
}

/// A product as the library wants it; the status is that of the first call that failed.
class Descriptors {
 public:
  Descriptors(const LtProduct& product, const void* bias) {
    const cudaDataType_t of_factors = product.type == LtType::f64 ? CUDA_R_64F : CUDA_R_32F;
    status_ = cublasLtMatmulDescInit(&operation, native(product.compute), of_factors);
    set(CUBLASLT_MATMUL_DESC_TRANSA, product.a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, product.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, native(product.epilogue));
    if (product.bias_alignment != 0) {
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    }
    describe(a, native(product.type), product.a);
    describe(b, native(product.type), product.b);
    describe(d, native(product.result), product.d);
  }

  cublasStatus_t status() const noexcept { return status_; }

  cublasLtMatmulDescOpaque_t operation{};
  cublasLtMatrixLayoutOpaque_t a{};
  cublasLtMatrixLayoutOpaque_t b{};
  cublasLtMatrixLayoutOpaque_t d{};  ///< and of C, which is D

 private:
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    if (status_ == CUBLAS_STATUS_SUCCESS) {
      status_ = cublasLtMatmulDescSetAttribute(&operation, attribute, &value, sizeof(value));
    }
  }
  void describe(cublasLtMatrixLayoutOpaque_t& layout, cudaDataType_t type, const LtMatrix& matrix) {
    if (status_ == CUBLAS_STATUS_SUCCESS) {
      status_ =
          cublasLtMatrixLayoutInit(&layout, type, matrix.rows, matrix.columns, matrix.leading);
    }
  }

  cublasStatus_t status_ = CUBLAS_STATUS_SUCCESS;
};

class Preference {
 public:
  Preference(const LtProduct& product, const LtPreference& wanted) {
    status_ = cublasLtMatmulPreferenceInit(&value);
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{wanted.max_workspace_bytes});
    set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, wanted.reductions);
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, product.a.alignment);
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, product.b.alignment);
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, product.d.alignment);
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, product.d.alignment);
  }

  cublasStatus_t status() const noexcept { return status_; }

  cublasLtMatmulPreferenceOpaque_t value{};

 private:
  template <class T>
  void set(cublasLtMatmulPreferenceAttributes_t attribute, const T& wanted) {
    if (status_ == CUBLAS_STATUS_SUCCESS) {
      status_ = cublasLtMatmulPreferenceSetAttribute(&value, attribute, &wanted, sizeof(wanted));
    }
  }

  cublasStatus_t status_ = CUBLAS_STATUS_SUCCESS;
};

int create(void*& handle) {
  cublasLtHandle_t made = nullptr;
  const int code = cublasLtCreate(&made);
  handle = made;
  return code;
}

int get_heuristic(void* handle, const LtProduct& product, const LtPreference& preference,
                  std::vector<LtAlgorithm>& found) {
  // The library reads an address' alignment and not what is there; this one has no other places.
  const auto* const bias = reinterpret_cast<const void*>(std::uintptr_t{product.bias_alignment});
  Descriptors descriptors(product, bias);
  Preference wanted(product, preference);
  for (const cublasStatus_t status : {descriptors.status(), wanted.status()}) {
    if (status != CUBLAS_STATUS_SUCCESS) {
      return status;
    }
  }
  constexpr int max_results = 8;
  std::array<cublasLtMatmulHeuristicResult_t, max_results> results{};
  int count = 0;
  const int code = cublasLtMatmulAlgoGetHeuristic(
      handle_of(handle), &descriptors.operation, &descriptors.a, &descriptors.b, &descriptors.d,
      &descriptors.d, &wanted.value, max_results, results.data(), &count);
  for (int i = 0; code == CUBLAS_STATUS_SUCCESS && i < count; ++i) {
    const auto& result = results[static_cast<std::size_t>(i)];
    LtAlgorithm& algorithm = found.emplace_back();
    std::memcpy(algorithm.code.data(), &result.algo, sizeof(result.algo));
    algorithm.workspace_bytes = result.workspaceSize;
    algorithm.status = result.state;
  }
  return code;
}

int multiply(void* handle, const LtCall& call) {
  Descriptors descriptors(call.product, call.bias);
  if (descriptors.status() != CUBLAS_STATUS_SUCCESS) {
    return descriptors.status();
  }
  cublasLtMatmulAlgo_t algorithm;
  std::memcpy(&algorithm, call.algorithm.code.data(), sizeof(algorithm));
  const auto run = [&](const auto& alpha, const auto& beta) {
    return cublasLtMatmul(handle_of(handle), &descriptors.operation, &alpha, call.a, &descriptors.a,
                          call.b, &descriptors.b, &beta, call.d, &descriptors.d, call.d,
                          &descriptors.d, &algorithm, call.workspace, call.workspace_bytes,
                          stream_of(call.stream));
  };
  return call.product.type == LtType::f64 ? run(1.0, call.added ? 1.0 : 0.0)
                                          : run(1.0F, call.added ? 1.0F : 0.0F);
}

std::string error_text(int code) {
  const auto status = static_cast<cublasStatus_t>(code);
  return std::string(cublasLtGetStatusName(status)) + " (" + cublasLtGetStatusString(status) + ")";
}

}  // namespace

CublasLtApi cublas_lt_api() {
  return {.create = create,
          .destroy = [](void* handle) -> int { return cublasLtDestroy(handle_of(handle)); },
          .get_heuristic = get_heuristic,
          .multiply = multiply,
          .error_text = error_text,
          .set_device = [](int device) -> int { return cudaSetDevice(device); },
          .allocate = [](void*& memory, std::size_t bytes) -> int {
            return cudaMalloc(&memory, bytes);
          },
          .free = [](void* memory) -> int { return cudaFree(memory); },
          .cuda_error_text = [](int code) -> std::string {
            return cudaGetErrorString(static_cast<cudaError_t>(code));
          }};
}

}  // namespace zygos::ops
