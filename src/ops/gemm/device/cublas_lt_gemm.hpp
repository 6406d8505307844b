// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Row-major products by cuBLASLt, whose matrices are column-major: c = a b is c^T = b^T a^T, and
// memory of a row-major matrix is that of its transpose.
//
// Algorithms are the library's own choice for a product's description, asked for once, so that one
// shape has one algorithm, and one order of additions, in every run on a card and a version of the
// library.
#pragma once

#include "ops/gemm/device/cublas_lt_api.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace zygos::ops {

/// Whether a row-major product has its first or its second operand transposed.
enum class LtForm { plain, first_transposed, second_transposed };

/// c (m, n) = or += a b, a^T b or a b^T, then bias (n) and relu. Row-major, rows one behind the
/// other. Of bf16 sums are floats, and what is done to them comes before they are rounded.
struct LtGemm {
  LtForm form = LtForm::plain;
  LtType type = LtType::f32;    ///< of a and b
  LtType result = LtType::f32;  ///< of c and the bias: `type`, or f32 of bf16
  bool tf32 = false;            ///< operands that are f32 may be rounded to TF32
  bool added = false;           ///< to what c holds
  bool relu = false;
  std::uint64_t m = 0;
  std::uint64_t n = 0;
  std::uint64_t k = 0;
  const void* a = nullptr;
  const void* b = nullptr;
  const void* bias = nullptr;  ///< null: none
  void* c = nullptr;
};

enum class LtOutcome {
  done,         ///< with the epilogue; or there was nothing to do
  no_terms,     ///< k is 0: every sum is 0 before the epilogue, and c was not written
  unavailable,  ///< the library has no algorithm for it, and c was not written
};

/// What a stream has memory for, beside the library's workspace.
enum class LtScratch : std::uint8_t { weights, sums };

/// The same product as the library has it.
LtProduct column_major(const LtGemm& gemm);

/// A handle of the library with what belongs to it. Any number of threads may multiply at a time.
///
/// A stream has a workspace of its own, so that no stream waits for another one and products can be
/// captured into CUDA graphs. It is allocated by the stream's first product whose algorithm uses
/// one, and freed with this object. Allocating is an error while a stream is captured: whoever
/// captures a step runs it once without a capture before, on the same stream. So it is with the
/// memory that scratch() gives.
class CublasLtGemm {
 public:
  /// For sums of parts. Such an algorithm is worth its second pass where a result has too few
  /// tiles for all of a card's multiprocessors: 512 x 512 floats in 8 parts need all of this, and
  /// larger results have tiles enough. (cuBLAS recommends 4 MiB, and 32 MiB on Hopper.)
  static constexpr std::size_t workspace_bytes = std::size_t{8} << 20U;

  /// Makes the handle on a device. Throws InternalError, as multiply() does, with the
  /// call that failed and the library's text.
  CublasLtGemm(CublasLtApi api, int device);
  ~CublasLtGemm();
  CublasLtGemm(const CublasLtGemm&) = delete;
  CublasLtGemm& operator=(const CublasLtGemm&) = delete;

  /// Starts the product on a stream of that device. A stream made at the address of one that is
  /// gone has that one's workspace.
  LtOutcome multiply(const LtGemm& gemm, void* stream);

  /// Whether multiply() would not answer `unavailable`. No dimension is 0. Throws InternalError.
  bool has_algorithm(const LtGemm& gemm);

  /// At least so many bytes of device memory for a product on this stream, until the next call for
  /// the same purpose: work in a stream is done in order. Threads that share a stream take turns
  /// from this call to the last use. What is there is undefined. Allocated where there is
  /// less, as a power of two; what was less is freed with this object only, as the stream, or a
  /// captured graph, may still use it: all together is less than twice the largest. Throws
  /// InternalError where there is no memory.
  void* scratch(LtScratch purpose, std::size_t bytes, void* stream);

 private:
  using Owned = std::unique_ptr<void, std::function<int(void*)>>;
  /// `product` has the arithmetic of the algorithm.
  struct Choice {
    LtProduct product;
    LtAlgorithm algorithm;
  };

  /// Where streams are found again by their pointers.
  struct StreamMemory {
    std::mutex mutex;  ///< held while a product with a workspace is put into the stream
    Owned workspace;
    std::map<LtScratch, std::map<std::size_t, Owned>> scratch;  ///< by bytes
  };

  void use_device() const;
  Owned new_handle() const;
  Owned new_memory(std::size_t bytes) const;
  std::optional<Choice> choice_of(const LtProduct& product, const LtPreference& preference);
  std::optional<Choice> ask(const LtProduct& product, const LtPreference& preference) const;
  StreamMemory& memory_of(void* stream);
  void run(LtCall call);

  CublasLtApi api_;
  int device_;
  Owned handle_;
  std::mutex choices_mutex_;
  std::map<LtProduct, std::optional<Choice>> choices_;
  std::mutex streams_mutex_;
  std::map<void*, StreamMemory> streams_;  ///< its elements stay where they are
};

}  // namespace zygos::ops
