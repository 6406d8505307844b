// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Everything that is called in cuBLASLt, and of CUDA beside it, as a table: tests put functions of
// their own into it. Matrices are column-major here, as the library has them.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace zygos::ops {

/// What functions of cuBLASLt return; its own numbers (checked where cublasLt.h is known).
namespace lt_code {
constexpr int success = 0;
constexpr int invalid_value = 7;
constexpr int not_supported = 15;
}  // namespace lt_code

/// How parts of a sum that are computed at once are put together; bits of a mask.
namespace lt_reduction {
constexpr std::uint32_t none = 0;
constexpr std::uint32_t in_place = 1;
constexpr std::uint32_t compute_type = 2;
}  // namespace lt_reduction

enum class LtType { f32, f64, bf16 };
enum class LtCompute { f32, f32_fast_tf32, f64 };
/// The bias has an element for each row of the result, and relu is max(x, 0).
enum class LtEpilogue { none, bias, relu, relu_bias };

/// Element (i, j) lies at i + j * leading.
struct LtMatrix {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::int64_t leading = 0;
  std::uint32_t alignment = 0;  ///< bytes that its address is a multiple of

  auto operator<=>(const LtMatrix&) const = default;
};

/// D = epilogue(op(A) op(B) + beta D). `type` is that of A and B, `result` that of D and the bias:
/// the same, or float of bf16. (The library has a bias of D's type, whatever A and B are: "Bias
/// vector elements are the same type as the elements of output matrix", cublasLt.h.) Says nothing
/// of where they lie.
struct LtProduct {
  LtType type = LtType::f32;
  LtType result = LtType::f32;
  LtCompute compute = LtCompute::f32;
  bool a_transposed = false;
  bool b_transposed = false;
  LtMatrix a;
  LtMatrix b;
  LtMatrix d;
  LtEpilogue epilogue = LtEpilogue::none;
  std::uint32_t bias_alignment = 0;  ///< 0: no bias

  auto operator<=>(const LtProduct&) const = default;
};

/// What an algorithm may use.
struct LtPreference {
  std::size_t max_workspace_bytes = 0;
  std::uint32_t reductions = lt_reduction::none;

  bool operator==(const LtPreference&) const = default;
};

struct LtAlgorithm {
  std::array<std::uint64_t, 8> code{};  ///< opaque
  std::size_t workspace_bytes = 0;
  int status = lt_code::success;  ///< the rest means something only with success

  bool operator==(const LtAlgorithm&) const = default;
};

struct LtCall {
  LtProduct product;
  const void* a = nullptr;
  const void* b = nullptr;
  const void* bias = nullptr;
  void* d = nullptr;
  bool added = false;  ///< beta is 1, not 0
  LtAlgorithm algorithm;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  void* stream = nullptr;
};

/// Handles and streams are opaque pointers. Default: there is no such library.
struct CublasLtApi {
  // These return codes of cuBLASLt.
  std::function<int(void*& handle)> create;
  std::function<int(void* handle)> destroy;
  /// Algorithms that the library estimates to be fast, the fastest first.
  std::function<int(void* handle, const LtProduct& product, const LtPreference& preference,
                    std::vector<LtAlgorithm>& found)>
      get_heuristic;
  std::function<int(void* handle, const LtCall& call)> multiply;
  std::function<std::string(int code)> error_text;

  // These return codes of CUDA; 0 is success.
  std::function<int(int device)> set_device;  ///< of the calling thread
  std::function<int(void*& memory, std::size_t bytes)> allocate;
  std::function<int(void* memory)> free;
  std::function<std::string(int code)> cuda_error_text;
};

/// The real functions; empty in a build for another device.
CublasLtApi cublas_lt_api();

}  // namespace zygos::ops
