// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Refusals that name an operator of ONNX, and how deep operators may follow each other.
#pragma once

#include "zygos/core/error.hpp"
#include "zygos/nn/onnx_reading.hpp"

#include <fmt/format.h>

namespace zygos::load {

/// That already names its operator.
class OperatorRefused : public UsageError {
 public:
  using UsageError::UsageError;
};

/// The stack has room for more.
inline constexpr int max_depth = 600;

/// Counts one level of recursion.
class Level {
 public:
  explicit Level(int& depth) : depth_(depth) {
    if (++depth_ > max_depth) {
      --depth_;
      throw OperatorRefused(fmt::format("more than {} operators follow each other", max_depth));
    }
  }
  ~Level() { --depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  int& depth_;
};

/// Calls f(); what it refuses is said of the operator.
template <class F>
auto of_operator(const nn::OnnxOperator& op, const F& f) {
  try {
    return f();
  } catch (const OperatorRefused&) {
    throw;
  } catch (const UsageError& refusal) {
    throw OperatorRefused(fmt::format("operator {} '{}': {}", op.type, op.name, refusal.what()));
  }
}

}  // namespace zygos::load
