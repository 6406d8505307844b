// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/device/cublas_lt_gemm.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

namespace zygos::ops {
namespace {

/// The library's fastest kernels want 16 bytes. Whether there are more is not told, so that the
/// choice of an algorithm does not follow from where an allocation happens to lie.
std::uint32_t alignment_of(const void* address) {
  const auto bits = reinterpret_cast<std::uintptr_t>(address);
  return static_cast<std::uint32_t>(std::min<std::uintptr_t>(bits & (~bits + 1U), 16U));
}

/// The column-major matrix in the memory of a row-major one.
LtMatrix memory_of(std::uint64_t rows, std::uint64_t columns, const void* data) {
  return {columns, rows, static_cast<std::int64_t>(columns), alignment_of(data)};
}

LtCompute compute_of(const LtGemm& gemm) {
  if (gemm.type == LtType::f64) {
    return LtCompute::f64;
  }
  return gemm.tf32 && gemm.type == LtType::f32 ? LtCompute::f32_fast_tf32 : LtCompute::f32;
}

LtEpilogue epilogue_of_library(const LtGemm& gemm) {
  if (gemm.bias == nullptr) {
    return gemm.relu ? LtEpilogue::relu : LtEpilogue::none;
  }
  return gemm.relu ? LtEpilogue::relu_bias : LtEpilogue::bias;
}

/// Sums of parts only for a^T b: its sums are as long as a batch has rows, while the result has the
/// size of weights, and it is of training, whose lane has one stream. So the many streams of
/// inference need no workspaces. Parts are stored and added in a
/// second pass, or the algorithm is not taken: of parts that are added in place it is documented
/// that they come one after the other, not in which order.
LtPreference preference_of(const LtGemm& gemm) {
  if (gemm.form == LtForm::first_transposed) {
    return {CublasLtGemm::workspace_bytes, lt_reduction::compute_type};
  }
  return {0, lt_reduction::none};
}

void require_lt(const CublasLtApi& api, const char* call, int code) {
  if (code != lt_code::success) {
    throw InternalError(std::string("ops::gemm: ") + call + ": " + api.error_text(code));
  }
}

void require_cuda(const CublasLtApi& api, const char* call, int code) {
  if (code != 0) {
    throw InternalError(std::string("ops::gemm: ") + call + ": " + api.cuda_error_text(code));
  }
}

}  // namespace

LtProduct column_major(const LtGemm& gemm) {
  LtProduct product;
  product.type = gemm.type;
  product.result = gemm.result;
  product.compute = compute_of(gemm);
  product.a_transposed = gemm.form == LtForm::second_transposed;
  product.b_transposed = gemm.form == LtForm::first_transposed;
  product.a = product.a_transposed ? memory_of(gemm.n, gemm.k, gemm.b)   //
                                   : memory_of(gemm.k, gemm.n, gemm.b);  // the second is first
  product.b =
      product.b_transposed ? memory_of(gemm.k, gemm.m, gemm.a) : memory_of(gemm.m, gemm.k, gemm.a);
  product.d = memory_of(gemm.m, gemm.n, gemm.c);
  product.epilogue = epilogue_of_library(gemm);
  product.bias_alignment = gemm.bias == nullptr ? 0 : alignment_of(gemm.bias);
  return product;
}

CublasLtGemm::CublasLtGemm(CublasLtApi api, int device)
    : api_(std::move(api)), device_(device), handle_(new_handle()) {}

CublasLtGemm::~CublasLtGemm() {
  static_cast<void>(api_.set_device(device_));  // what members free belongs to it
}

void CublasLtGemm::use_device() const {
  require_cuda(api_, "cudaSetDevice", api_.set_device(device_));
}

CublasLtGemm::Owned CublasLtGemm::new_handle() const {
  use_device();
  void* handle = nullptr;
  require_lt(api_, "cublasLtCreate", api_.create(handle));
  return {handle, api_.destroy};
}

CublasLtGemm::Owned CublasLtGemm::new_memory(std::size_t bytes) const {
  void* memory = nullptr;
  require_cuda(api_, "cudaMalloc", api_.allocate(memory, bytes));
  return {memory, api_.free};
}

LtOutcome CublasLtGemm::multiply(const LtGemm& gemm, void* stream) {
  if (gemm.m == 0 || gemm.n == 0) {
    return LtOutcome::done;
  }
  if (gemm.k == 0) {
    return gemm.added ? LtOutcome::done : LtOutcome::no_terms;
  }
  use_device();
  const auto choice = choice_of(column_major(gemm), preference_of(gemm));
  if (!choice) {
    return LtOutcome::unavailable;
  }
  run({.product = choice->product,
       .a = gemm.b,
       .b = gemm.a,
       .bias = gemm.bias,
       .d = gemm.c,
       .added = gemm.added,
       .algorithm = choice->algorithm,
       .stream = stream});
  return LtOutcome::done;
}

bool CublasLtGemm::has_algorithm(const LtGemm& gemm) {
  use_device();
  return choice_of(column_major(gemm), preference_of(gemm)).has_value();
}

void* CublasLtGemm::scratch(LtScratch purpose, std::size_t bytes, void* stream) {
  StreamMemory& own = memory_of(stream);
  const std::lock_guard lock(own.mutex);
  auto& parts = own.scratch[purpose];
  auto found = parts.lower_bound(bytes);
  if (found == parts.end()) {
    use_device();
    const std::size_t size = std::bit_ceil(bytes);
    found = parts.emplace(size, new_memory(size)).first;
  }
  return found->second.get();
}

std::optional<CublasLtGemm::Choice> CublasLtGemm::choice_of(const LtProduct& product,
                                                            const LtPreference& preference) {
  const std::lock_guard lock(choices_mutex_);
  const auto known = choices_.find(product);
  if (known != choices_.end()) {
    return known->second;
  }
  auto choice = ask(product, preference);
  if (!choice && product.compute == LtCompute::f32_fast_tf32) {  // a card without TF32
    LtProduct in_full = product;
    in_full.compute = LtCompute::f32;
    choice = ask(in_full, preference);
  }
  choices_.emplace(product, choice);
  return choice;
}

std::optional<CublasLtGemm::Choice> CublasLtGemm::ask(const LtProduct& product,
                                                      const LtPreference& preference) const {
  std::vector<LtAlgorithm> found;
  const int code = api_.get_heuristic(handle_.get(), product, preference, found);
  if (code == lt_code::not_supported) {
    return std::nullopt;
  }
  require_lt(api_, "cublasLtMatmulAlgoGetHeuristic", code);
  const auto fits = [&](const LtAlgorithm& algorithm) {
    return algorithm.status == lt_code::success &&
           algorithm.workspace_bytes <= preference.max_workspace_bytes;
  };
  const auto first = std::find_if(found.begin(), found.end(), fits);
  return first == found.end() ? std::nullopt : std::optional(Choice{product, *first});
}

CublasLtGemm::StreamMemory& CublasLtGemm::memory_of(void* stream) {
  const std::lock_guard lock(streams_mutex_);
  return streams_[stream];
}

/// A product may be several kernels: those of two threads must not mix in a stream, which has one
/// workspace.
void CublasLtGemm::run(LtCall call) {
  if (call.algorithm.workspace_bytes == 0) {
    require_lt(api_, "cublasLtMatmul", api_.multiply(handle_.get(), call));
    return;
  }
  StreamMemory& own = memory_of(call.stream);
  const std::lock_guard lock(own.mutex);
  if (!own.workspace) {
    own.workspace = new_memory(workspace_bytes);
  }
  call.workspace = own.workspace.get();
  call.workspace_bytes = workspace_bytes;
  require_lt(api_, "cublasLtMatmul", api_.multiply(handle_.get(), call));
}

}  // namespace zygos::ops
