// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/error.hpp"
#include "zygos/core/one_bit.hpp"
#include "zygos/nn/layer.hpp"

#include <array>
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
  /// Of (P) as weights and states, so that an update can be made again with another factor: what it
  /// overwrites is kept here first, or, with `again`, it begins from what is kept. Empty: nothing
  /// is.
  Tensor previous_weights{};
  std::vector<Tensor> previous_states{};
  bool again = false;
  std::uint64_t step = 0;    ///< 1 for the first update
  double rate_factor = 1.0;  ///< of the learning rate: what a schedule says
  bool compressed = false;   ///< the gradient is what compress() made of it
  /// (update_scalars) f64 in the lane's memory, which hold what Optimizer::scalars_at() gives for
  /// the step when the kernel runs; empty: the kernel takes them from `step` and `rate_factor`.
  Tensor scalars{};
};

/// Numbers of an update that change from step to step.
inline constexpr std::size_t update_scalars = 4;
using UpdateScalars = std::array<double, update_scalars>;

/// What replicas exchange, before it is encoded. All tensors are (P).
struct CompressArgs {
  Tensor gradient;  ///< of a worker's samples, or the sum of what workers sent; becomes the
                    ///< compressed form
  std::vector<Tensor> states;  ///< as in UpdateArgs; read only
  Tensor error;                ///< of the last compression of these elements; zero before the first
  std::uint64_t step = 0;      ///< 1 for the first update
  double share = 1.0;          ///< of the worker's samples in the batch
  bool of_sum = false;
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
  /// Steps in which replicas may exchange what compress() gives; none: it has no compressed form.
  virtual OneBitSteps one_bit_steps() const { return {}; }
  /// Only in these steps: the gradient becomes what is exchanged in one bit an element, the error
  /// what that leaves out.
  virtual void compress(const lane::Execution& execution, const CompressArgs& args) const {
    static_cast<void>(execution), static_cast<void>(args);
    throw InternalError("optimizer '" + std::string(type()) + "' has no compressed form");
  }
  virtual Cost cost(std::int64_t parameters, DType dtype) const = 0;
  /// Whether update() reads UpdateArgs::scalars, so that it can be recorded once and launched again
  /// in every step.
  virtual bool reads_scalars() const { return false; }
  /// Of an update: what update() would take from `step` (1 for the first) and `rate_factor`. Unused
  /// ones are 0. Only of optimizers with reads_scalars().
  virtual UpdateScalars scalars_at(std::uint64_t step, double rate_factor) const {
    static_cast<void>(step), static_cast<void>(rate_factor);
    throw InternalError("optimizer '" + std::string(type()) + "' reads no scalars from memory");
  }
  virtual void update(const lane::Execution& execution, const UpdateArgs& args) const = 0;
};

using OptimizerPtr = std::shared_ptr<const Optimizer>;

}  // namespace zygos::nn
