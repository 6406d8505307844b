// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The dimensions of a block of results in registers, for all microkernels. A header of its own,
// because nvcc can't compile the microkernels.
#pragma once

namespace zygos::ops::microkernel {

// The width of a register, and how many of them, decide the size of a block: as many results as
// leave room for one row of y and one broadcast. Six rows, for the rows of a matrix are often a
// multiple of 4 KiB apart, and then no more than eight of them share the sets of an L1 cache.
#if defined(__AVX512F__)
inline constexpr int simd_bytes = 64;
inline constexpr int max_vectors = 4;
#elif defined(__AVX__)
inline constexpr int simd_bytes = 32;
inline constexpr int max_vectors = 2;
#elif defined(__aarch64__)
inline constexpr int simd_bytes = 16;
inline constexpr int max_vectors = 4;
#else
inline constexpr int simd_bytes = 16;
inline constexpr int max_vectors = 2;
#endif
inline constexpr int max_rows = 6;
inline constexpr int line_bytes = 64;

/// Elements of a register, of the row of y that a full block takes, and of a cache line.
template <class T>
inline constexpr int width = simd_bytes / static_cast<int>(sizeof(T));
template <class T>
inline constexpr int panel = max_vectors* width<T>;
template <class T>
inline constexpr int line = line_bytes / static_cast<int>(sizeof(T));

}  // namespace zygos::ops::microkernel
