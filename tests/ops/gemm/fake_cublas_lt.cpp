// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/fake_cublas_lt.hpp"

#include "zygos/core/bf16.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <utility>

namespace zygos::testing {

namespace {

using ops::LtCall;
using ops::LtEpilogue;
using ops::LtMatrix;
using ops::LtProduct;
using ops::LtType;

bool has_bias(LtEpilogue epilogue) {
  return epilogue == LtEpilogue::bias || epilogue == LtEpilogue::relu_bias;
}
bool has_relu(LtEpilogue epilogue) {
  return epilogue == LtEpilogue::relu || epilogue == LtEpilogue::relu_bias;
}

std::pair<std::uint64_t, std::uint64_t> dimensions(const LtMatrix& matrix, bool transposed) {
  return transposed ? std::pair(matrix.columns, matrix.rows)
                    : std::pair(matrix.rows, matrix.columns);
}

bool lies_as_told(const void* address, std::uint32_t alignment) {
  return address != nullptr && alignment != 0 &&
         reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

/// Of the operands, the result and the arithmetic, as the library's documentation lists them.
bool types_fit(const LtProduct& product) {
  const bool same = product.result == product.type;
  switch (product.compute) {
    case ops::LtCompute::f64:
      return product.type == LtType::f64 && same;
    case ops::LtCompute::f32_fast_tf32:
      return product.type == LtType::f32 && same;
    case ops::LtCompute::f32:
      return (product.type == LtType::f32 && same) ||
             (product.type == LtType::bf16 && (same || product.result == LtType::f32));
  }
  return false;
}

bool is_valid(const LtProduct& product) {
  const auto [m, k] = dimensions(product.a, product.a_transposed);
  const auto [inner, n] = dimensions(product.b, product.b_transposed);
  for (const LtMatrix& matrix : {product.a, product.b, product.d}) {
    if (matrix.rows == 0 || matrix.columns == 0 || std::cmp_less(matrix.leading, matrix.rows)) {
      return false;
    }
  }
  return inner == k && product.d.rows == m && product.d.columns == n &&
         has_bias(product.epilogue) == (product.bias_alignment != 0) && types_fit(product);
}

bool is_valid(const LtCall& call) {
  const LtProduct& product = call.product;
  return is_valid(product) && lies_as_told(call.a, product.a.alignment) &&
         lies_as_told(call.b, product.b.alignment) && lies_as_told(call.d, product.d.alignment) &&
         (!has_bias(product.epilogue) || lies_as_told(call.bias, product.bias_alignment)) &&
         call.workspace_bytes >= call.algorithm.workspace_bytes &&
         (call.workspace != nullptr || call.algorithm.workspace_bytes == 0);
}

template <class T>
Wide<T> element(const void* data, const LtMatrix& matrix, bool transposed, std::uint64_t row,
                std::uint64_t column) {
  if (transposed) {
    std::swap(row, column);
  }
  return static_cast<const T*>(data)[row + column * static_cast<std::uint64_t>(matrix.leading)];
}

/// D = epilogue(op(A) op(B) + beta D); of bf16 in floats, and rounded behind the epilogue.
template <class T, class Result>
void compute(const LtCall& call) {
  using Sum = Wide<T>;
  const LtProduct& product = call.product;
  const std::uint64_t k = dimensions(product.a, product.a_transposed).second;
  for (std::uint64_t j = 0; j < product.d.columns; ++j) {
    for (std::uint64_t i = 0; i < product.d.rows; ++i) {
      Sum sum = call.added ? element<Result>(call.d, product.d, false, i, j) : Sum(0);
      for (std::uint64_t l = 0; l < k; ++l) {
        sum += element<T>(call.a, product.a, product.a_transposed, i, l) *
               element<T>(call.b, product.b, product.b_transposed, l, j);
      }
      if (has_bias(product.epilogue)) {
        sum += static_cast<Sum>(static_cast<const Result*>(call.bias)[i]);
      }
      if (has_relu(product.epilogue)) {
        sum = std::fmax(sum, Sum(0));
      }
      static_cast<Result*>(call.d)[i + j * static_cast<std::uint64_t>(product.d.leading)] =
          static_cast<Result>(sum);
    }
  }
}

void compute_as_typed(const LtCall& call) {
  const LtProduct& product = call.product;
  if (product.type == LtType::f64) {
    compute<double, double>(call);
  } else if (product.type == LtType::f32) {
    compute<float, float>(call);
  } else if (product.result == LtType::f32) {
    compute<bf16, float>(call);
  } else {
    compute<bf16, bf16>(call);
  }
}

}  // namespace

int FakeCublasLt::count(const std::string& name) const {
  return static_cast<int>(std::count(calls.begin(), calls.end(), name));
}

int FakeCublasLt::call(const std::string& name) {
  calls.push_back(name);
  const auto found = returns.find(name);
  return found == returns.end() ? ops::lt_code::success : found->second;
}

int FakeCublasLt::heuristic(const ops::LtProduct& product, const ops::LtPreference& preference,
                            std::vector<ops::LtAlgorithm>& found) {
  const std::lock_guard lock(mutex_);
  asked.push_back(product);
  preferences.push_back(preference);
  if (!is_valid(product)) {
    return ops::lt_code::invalid_value;
  }
  if (!has_bf16 && product.type == LtType::bf16) {
    return call("get_heuristic");
  }
  if (has_tf32 || product.compute != ops::LtCompute::f32_fast_tf32) {
    found = algorithms;
  }
  return call("get_heuristic");
}

int FakeCublasLt::multiply(const ops::LtCall& made) {
  const std::lock_guard lock(mutex_);
  const int code = call("multiply");
  products.push_back(made);
  if (!is_valid(made)) {
    return ops::lt_code::invalid_value;
  }
  if (code == ops::lt_code::success) {
    compute_as_typed(made);
  }
  return code;
}

int FakeCublasLt::allocate(void*& address, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const int code = call("allocate");
  if (code == 0) {
    address = std::malloc(bytes);
    memory[address] = bytes;
  }
  return code;
}

void FakeCublasLt::add_library(ops::CublasLtApi& api) {
  api.create = [this](void*& handle) {
    const int code = call("create");
    handles += code == 0 ? 1 : 0;
    handle = code == 0 ? this : nullptr;
    return code;
  };
  api.destroy = [this](void*) { return --handles, call("destroy"); };
  api.get_heuristic = [this](void*, const ops::LtProduct& product,
                             const ops::LtPreference& preference,
                             std::vector<ops::LtAlgorithm>& found) {
    return heuristic(product, preference, found);
  };
  api.multiply = [this](void*, const ops::LtCall& made) { return multiply(made); };
  api.error_text = [](int code) { return "status " + std::to_string(code); };
}

void FakeCublasLt::add_cuda(ops::CublasLtApi& api) {
  api.set_device = [this](int device) {
    const std::lock_guard lock(mutex_);
    devices.insert(device);
    const auto found = returns.find("set_device");
    return found == returns.end() ? 0 : found->second;
  };
  api.allocate = [this](void*& address, std::size_t bytes) { return allocate(address, bytes); };
  api.free = [this](void* address) {
    memory.erase(address);
    std::free(address);
    return call("free");
  };
  api.cuda_error_text = [](int code) { return "error " + std::to_string(code); };
}

ops::CublasLtApi FakeCublasLt::table() {
  ops::CublasLtApi api;
  add_library(api);
  add_cuda(api);
  return api;
}

}  // namespace zygos::testing
