// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Products of squares of 16 x 16 bf16 numbers, summed in float, by the threads of a warp together:
// the tensor cores of an NVIDIA GPU (WMMA), and plain loops with the same interface, where tests
// run. A unit has
//   threads                         of a warp
//   Left<order>, Right<order>, Sums    squares that the warp's threads hold; Order: of the memory
//   load(square, from, stride)      all threads; `from` aligned as `alignment` says, `stride` (of
//                                   the memory's rows or columns) a multiple of eight elements
//   clear(sums), multiply(sums, left, right)
//   store(to, sums)                 row major
//   wait()                          for what the warp's threads have written
#pragma once

#include "zygos/core/bf16.hpp"

#include <Kokkos_Core.hpp>

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__) &&                                        \
    (defined(KOKKOS_ARCH_AMPERE) || defined(KOKKOS_ARCH_ADA89) || defined(KOKKOS_ARCH_HOPPER) || \
     defined(KOKKOS_ARCH_BLACKWELL))
#define ZYGOS_TENSOR_CORES
#include <cuda_bf16.h>
#include <mma.h>
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace zygos::ops {

/// Whether neighbours in memory are those of a row or of a column.
enum class Order : std::uint8_t { row_major, column_major };

namespace matrix_unit {

/// Of a square.
inline constexpr std::size_t side = 16;
/// Of what is loaded and stored, in bytes.
inline constexpr std::size_t alignment = 32;
/// What a stride is a multiple of, in elements.
inline constexpr std::size_t stride_step = 8;

}  // namespace matrix_unit

/// A warp of one thread.
struct PlainMatrixUnit {
  static constexpr std::size_t threads = 1;
  static constexpr std::size_t side = matrix_unit::side;
  struct Square {
    float at[side][side];
  };
  template <Order order>
  struct Left : Square {};
  template <Order order>
  struct Right : Square {};
  struct Sums : Square {};

  template <template <Order> class Operand, Order order>
  KOKKOS_FUNCTION static void load(Operand<order>& to, const bf16* from, std::size_t stride) {
    require(from);
    if (stride % matrix_unit::stride_step != 0) {
      Kokkos::abort("matrix unit: stride is no multiple of eight elements");
    }
    for (std::size_t i = 0; i < side; ++i) {
      for (std::size_t j = 0; j < side; ++j) {
        to.at[i][j] = from[order == Order::row_major ? i * stride + j : j * stride + i];
      }
    }
  }
  KOKKOS_FUNCTION static void clear(Sums& sums) { sums = Sums{}; }
  template <Order left_order, Order right_order>
  KOKKOS_FUNCTION static void multiply(Sums& sums, const Left<left_order>& left,
                                       const Right<right_order>& right) {
    for (std::size_t i = 0; i < side; ++i) {
      for (std::size_t k = 0; k < side; ++k) {
        for (std::size_t j = 0; j < side; ++j) {
          sums.at[i][j] += left.at[i][k] * right.at[k][j];
        }
      }
    }
  }
  KOKKOS_FUNCTION static void store(float* to, const Sums& sums) {
    require(to);
    for (std::size_t i = 0; i < side * side; ++i) {
      to[i] = sums.at[i / side][i % side];
    }
  }
  KOKKOS_FUNCTION static void wait() {}

 private:
  /// What the other unit does not forgive.
  KOKKOS_FUNCTION static void require(const void* address) {
    if (reinterpret_cast<std::uintptr_t>(address) % matrix_unit::alignment != 0) {
      Kokkos::abort("matrix unit: address is not aligned");
    }
  }
};

#ifdef ZYGOS_TENSOR_CORES

/// Warp-level matrix functions of CUDA, of compute capability 8.0 and above.
struct TensorCores {
  static constexpr std::size_t threads = 32;
  static constexpr int side = static_cast<int>(matrix_unit::side);
  template <Order order>
  using Layout = std::conditional_t<order == Order::row_major, nvcuda::wmma::row_major,
                                    nvcuda::wmma::col_major>;
  template <Order order>
  using Left = nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, side, side, side, __nv_bfloat16,
                                      Layout<order>>;
  template <Order order>
  using Right = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, side, side, side, __nv_bfloat16,
                                       Layout<order>>;
  using Sums = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, side, side, side, float>;

  template <class Operand>
  KOKKOS_FUNCTION static void load([[maybe_unused]] Operand& to, [[maybe_unused]] const bf16* from,
                                   [[maybe_unused]] std::size_t stride) {
    KOKKOS_IF_ON_DEVICE(
        (nvcuda::wmma::load_matrix_sync(to, reinterpret_cast<const __nv_bfloat16*>(from),
                                        static_cast<unsigned>(stride));))
  }
  KOKKOS_FUNCTION static void clear([[maybe_unused]] Sums& sums) {
    KOKKOS_IF_ON_DEVICE((nvcuda::wmma::fill_fragment(sums, 0.0F);))
  }
  template <class OfLeft, class OfRight>
  KOKKOS_FUNCTION static void multiply([[maybe_unused]] Sums& sums,
                                       [[maybe_unused]] const OfLeft& left,
                                       [[maybe_unused]] const OfRight& right) {
    KOKKOS_IF_ON_DEVICE((nvcuda::wmma::mma_sync(sums, left, right, sums);))
  }
  KOKKOS_FUNCTION static void store([[maybe_unused]] float* to, [[maybe_unused]] const Sums& sums) {
    KOKKOS_IF_ON_DEVICE(
        (nvcuda::wmma::store_matrix_sync(to, sums, side, nvcuda::wmma::mem_row_major);))
  }
  KOKKOS_FUNCTION static void wait() { KOKKOS_IF_ON_DEVICE((__syncwarp();)) }
};

template <class Exec>
inline constexpr bool has_matrix_unit = std::is_same_v<Exec, Kokkos::Cuda>;
template <class Exec>
using MatrixUnit = std::conditional_t<has_matrix_unit<Exec>, TensorCores, PlainMatrixUnit>;

#else

template <class Exec>
inline constexpr bool has_matrix_unit = false;
template <class Exec>
using MatrixUnit = PlainMatrixUnit;

#endif

}  // namespace zygos::ops
