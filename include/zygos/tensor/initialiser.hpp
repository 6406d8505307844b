// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/philox.hpp"
#include "zygos/tensor/tensor.hpp"

#include <cstdint>
#include <string>

namespace zygos {

/// How a parameter gets its first values.
struct Initialiser {
  enum class Kind { constant, uniform, normal };
  Kind kind = Kind::constant;
  double value = 0.0;  ///< constant
  double scale = 0.0;  ///< uniform: bound of [-scale, scale); normal: standard deviation

  static Initialiser constant(double value) { return {Kind::constant, value, 0.0}; }
  static Initialiser uniform(double bound) { return {Kind::uniform, 0.0, bound}; }
  static Initialiser normal(double deviation) { return {Kind::normal, 0.0, deviation}; }
};

/// Fills a tensor in host memory. Element i is a pure function of (seed, name, i): it depends on
/// neither lanes nor on which other parameters exist. Values are drawn in double and rounded once,
/// so a float model starts at the rounded values of the double one.
void initialise(const Tensor& host_tensor, const Initialiser& how, std::uint64_t seed,
                const std::string& name);

}  // namespace zygos
