// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/nn/layer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::nn {

/// One contiguous stretch of parameters: all tensors of a model lie back to back in one buffer, so
/// that an update is one fused kernel and an all-reduce one message. States have the same length.
struct UpdateArgs {
  Tensor weights;              ///< (P)
  Tensor gradient;             ///< (P), already summed over lanes
  std::vector<Tensor> states;  ///< state_names().size() tensors of (P)
  Tensor decay_mask;           ///< (P) u8: 1 where weight decay applies; empty when unused
  Tensor gradient_factor;      ///< (1) f64 in the lane's memory; empty: 1
  Tensor bad;  ///< (1) i32 in the lane's memory: becomes 1 if an element of the gradient is not
               ///< finite, whose weight and states then stay; empty: nobody asks, and they do not
  std::uint64_t step = 0;    ///< 1 for the first update
  double rate_factor = 1.0;  ///< of the learning rate: what a schedule says
};

/// Updates are elementwise and use only correctly rounded operations without contraction, so that
/// replicas on different execution spaces stay bitwise equal when their gradients are.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  virtual std::string_view type() const = 0;
  /// Names of the per-parameter states, e.g. {"first_moment", "second_moment"}; all start at zero.
  virtual std::vector<std::string> state_names() const = 0;
  /// As it is given: before any schedule.
  virtual double learning_rate() const = 0;
  /// Whether decay_mask is read.
  virtual bool uses_decay() const = 0;
  /// The norm that gradients are clipped to, if they are: then update() needs the factor that does
  /// it, min(1, clip_norm() / |g|) with |g| over all parameters of the model.
  virtual std::optional<double> clip_norm() const { return {}; }
  virtual Cost cost(std::int64_t parameters, DType dtype) const = 0;
  virtual void update(const lane::Execution& execution, const UpdateArgs& args) const = 0;
};

using OptimizerPtr = std::shared_ptr<const Optimizer>;

}  // namespace zygos::nn
