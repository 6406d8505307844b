// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The GEMM microkernels of bf16 and bf16x3 on a processor with AMX: its
// registers are tiles of sixteen rows of sixteen words, and an instruction multiplies two of them.
// Words hold pairs along k, as in bf16_pairs.hpp.
#pragma once

#include "ops/gemm/microkernel/bf16_pairs.hpp"

#if defined(__AMX_BF16__) && defined(__AVX512F__) && defined(__linux__)
#define ZYGOS_HAS_AMX 1
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace zygos::ops::microkernel {

/// Rows of a tile, and words of one.
inline constexpr std::int64_t amx_side = 16;

/// c (rows, columns) [+]= x y over so many pairs of k, a multiple of a tile's; y is packed, (pairs,
/// y_stride words). Strides of x count words.
struct AmxArgs {
  std::int64_t pairs = 0;
  const void* x = nullptr;
  std::int64_t x_stride_bytes = 0;
  const Word* y = nullptr;
  std::int64_t y_stride = 0;
  float* c = nullptr;
  std::int64_t c_stride = 0;
  bool added = false;
};

/// Elements of a tile, and of the three tiles of parts that make up as many floats.
inline constexpr std::int64_t amx_tile_elements = 2 * amx_side * amx_side;
inline constexpr std::int64_t bf16x3_elements = 3 * amx_tile_elements;

/// c (rows, columns) [+]= x y of floats that are split into three parts each: `steps` times three
/// tiles one after the other, the largest parts first. Tiles of the next sixteen rows or columns
/// lie `steps` such triples further.
struct Bf16x3Args {
  std::int64_t steps = 0;
  const std::uint16_t* x = nullptr;
  const std::uint16_t* y = nullptr;
  float* c = nullptr;
  std::int64_t c_stride = 0;
  bool added = false;
};

#if defined(ZYGOS_HAS_AMX)

/// Linux gives a process tiles when it asks for them.
inline bool has_amx() {
  constexpr long request_permission = 0x1023;  // ARCH_REQ_XCOMP_PERM, which older headers lack
  constexpr long tile_data = 18;               // XFEATURE_XTILEDATA
  static const bool granted = ::syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  return granted;
}

/// The tiles of this thread while it lives: two of results below each other, two beside each other.
class AmxTiles {
 public:
  AmxTiles() = default;
  ~AmxTiles() { _tile_release(); }
  AmxTiles(const AmxTiles&) = delete;
  AmxTiles& operator=(const AmxTiles&) = delete;

  /// Rows of the upper and lower tiles, to sixteen; none for a lower one that is not used.
  void shape(std::int64_t upper, std::int64_t lower) {
    if (upper == upper_ && lower == lower_) {
      return;
    }
    upper_ = upper;
    lower_ = lower;
    struct alignas(64) {
      std::uint8_t palette = 1;
      std::uint8_t reserved[15] = {};
      std::uint16_t bytes[16] = {};
      std::uint8_t rows[16] = {};
    } form;
    const std::int64_t rows[8] = {upper, upper, lower, lower, upper, lower, amx_side, amx_side};
    for (int i = 0; i < 8; ++i) {
      form.rows[i] = static_cast<std::uint8_t>(rows[i] > 0 ? rows[i] : 1);
      form.bytes[i] = 64;
    }
    _tile_loadconfig(&form);
  }

  /// Two tiles of results below each other if `lower`, beside each other if `beside`.
  template <bool lower, bool beside>
  void multiply(const AmxArgs& block) const {
    begin<lower, beside>(block);
    const auto* x = static_cast<const char*>(block.x);
    const Word* y = block.y;
    const std::int64_t x_stride = block.x_stride_bytes;
    const std::int64_t y_stride = block.y_stride * static_cast<std::int64_t>(sizeof(Word));
    for (std::int64_t pair = 0; pair < block.pairs; pair += amx_side) {
      _tile_loadd(4, x, x_stride);
      _tile_loadd(6, y, y_stride);
      _tile_dpbf16ps(0, 4, 6);
      if constexpr (beside) {
        _tile_loadd(7, y + amx_side, y_stride);
        _tile_dpbf16ps(1, 4, 7);
      }
      if constexpr (lower) {
        _tile_loadd(5, x + amx_side * x_stride, x_stride);
        _tile_dpbf16ps(2, 5, 6);
      }
      if constexpr (lower && beside) {
        _tile_dpbf16ps(3, 5, 7);
      }
      x += 64;
      y += amx_side * block.y_stride;
    }
    end<lower, beside>(block);
  }

  /// Of nine products of parts, the six above the precision of a float, small ones first.
  template <bool lower, bool beside>
  void multiply(const Bf16x3Args& block) const {
    begin<lower, beside>(block);
    const std::uint16_t* x = block.x;
    const std::uint16_t* y = block.y;
    const std::int64_t next = block.steps * bf16x3_elements;
    for (std::int64_t step = 0; step < block.steps; ++step) {
      load_left<lower>(x + 2 * amx_tile_elements, next);
      load_right<beside>(y, next);
      add<lower, beside>();
      load_left<lower>(x + amx_tile_elements, next);
      add<lower, beside>();
      load_right<beside>(y + amx_tile_elements, next);
      add<lower, beside>();
      load_left<lower>(x, next);
      add<lower, beside>();
      load_right<beside>(y + 2 * amx_tile_elements, next);
      add<lower, beside>();
      load_right<beside>(y, next);
      add<lower, beside>();
      x += bf16x3_elements;
      y += bf16x3_elements;
    }
    end<lower, beside>(block);
  }

 private:
  template <bool lower>
  static void load_left(const std::uint16_t* x, std::int64_t next) {
    _tile_loadd(4, x, 64);
    if constexpr (lower) {
      _tile_loadd(5, x + next, 64);
    }
  }
  template <bool beside>
  static void load_right(const std::uint16_t* y, std::int64_t next) {
    _tile_loadd(6, y, 64);
    if constexpr (beside) {
      _tile_loadd(7, y + next, 64);
    }
  }
  template <bool lower, bool beside>
  static void add() {
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (beside) {
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (lower) {
      _tile_dpbf16ps(2, 5, 6);
    }
    if constexpr (lower && beside) {
      _tile_dpbf16ps(3, 5, 7);
    }
  }

  template <bool lower, bool beside, class Block>
  void begin(const Block& block) const {
    const std::int64_t stride = block.c_stride * static_cast<std::int64_t>(sizeof(float));
    float* const below = block.c + amx_side * block.c_stride;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    if (block.added) {
      _tile_loadd(0, block.c, stride);
      if constexpr (beside) {
        _tile_loadd(1, block.c + amx_side, stride);
      }
      if constexpr (lower) {
        _tile_loadd(2, below, stride);
      }
      if constexpr (lower && beside) {
        _tile_loadd(3, below + amx_side, stride);
      }
    }
  }
  template <bool lower, bool beside, class Block>
  void end(const Block& block) const {
    const std::int64_t stride = block.c_stride * static_cast<std::int64_t>(sizeof(float));
    float* const below = block.c + amx_side * block.c_stride;
    _tile_stored(0, block.c, stride);
    if constexpr (beside) {
      _tile_stored(1, block.c + amx_side, stride);
    }
    if constexpr (lower) {
      _tile_stored(2, below, stride);
    }
    if constexpr (lower && beside) {
      _tile_stored(3, below + amx_side, stride);
    }
  }

  std::int64_t upper_ = 0;
  std::int64_t lower_ = 0;
};

#else

inline bool has_amx() { return false; }

/// What a build for another processor never uses.
class AmxTiles {
 public:
  void shape(std::int64_t, std::int64_t) {}
  template <bool, bool, class Block>
  void multiply(const Block&) const {}
};

#endif

/// The same for any number of rows to 32, which `shape` was told, and of columns to 32.
template <class Block>
void multiply_amx(const AmxTiles& tiles, std::int64_t rows, std::int64_t columns,
                  const Block& block) {
  const bool beside = columns > amx_side;
  if (rows > amx_side) {
    return beside ? tiles.multiply<true, true>(block) : tiles.multiply<true, false>(block);
  }
  return beside ? tiles.multiply<false, true>(block) : tiles.multiply<false, false>(block);
}

}  // namespace zygos::ops::microkernel
