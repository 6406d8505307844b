// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/gradient_check.hpp"

#include "zygos/nn/loss.hpp"

#include <cstdint>
#include <vector>

namespace zygos::testing {

/// A loss with tensors for one batch, in double, on a host space.
class LossRun {
 public:
  LossRun(nn::LossPtr loss, std::int64_t samples, std::int64_t columns, std::uint64_t seed)
      : loss_(std::move(loss)),
        losses_(static_cast<std::size_t>(samples)),
        hits_(static_cast<std::size_t>(samples)),
        labels_(static_cast<std::size_t>(samples)) {
    args.prediction = pool_.random(Shape{samples, columns}, seed);
    args.d_prediction = pool_.unwritten(Shape{samples, columns});
    for (std::uint32_t n = 0; n < labels_.size(); ++n) {
      labels_[n] = static_cast<std::int32_t>(random_integer(0, columns - 1, seed, n));
    }
    args.target = loss_->wants_labels() ? Tensor(labels_.data(), DType::i32, Shape{samples})
                                        : pool_.random(Shape{samples, columns}, seed + 1000);
    args.sample_losses = Tensor(losses_.data(), DType::f64, Shape{samples});
    args.sample_hits = Tensor(hits_.data(), DType::i32, Shape{samples});
    args.totals = pool_.unwritten(Shape{nn::loss_totals});
    for (const nn::ConstantSpec& spec : loss_->constants(Shape{columns})) {
      constants_.push_back(pool_.unwritten(spec.shape));  // of doubles, as the pool's
      spec.fill(constants_.back().raw());
    }
    args.constants = constants_;
  }

  void evaluate(std::int64_t global_batch) const {
    loss_->evaluate(Kokkos::Serial(), args, global_batch);
  }
  double total() const { return args.totals.data<double>()[0]; }

  nn::LossArgs args;

 private:
  nn::LossPtr loss_;
  TensorPool pool_;
  std::vector<double> losses_;
  std::vector<std::int32_t> hits_;
  std::vector<std::int32_t> labels_;
  std::vector<Tensor> constants_;
};

/// Checks d_prediction against difference quotients of the total divided by the global batch.
inline std::string check_loss_gradient(const LossRun& run, std::int64_t global_batch) {
  run.evaluate(global_batch);
  const Tensor gradient = run.args.d_prediction;
  const std::vector<double> kept = values_of(gradient);
  std::vector<double> copy = kept;
  const Tensor fixed(copy.data(), DType::f64, gradient.shape());
  return gradient_difference(run.args.prediction, fixed, [&] {
    run.evaluate(global_batch);
    return run.total() / static_cast<double>(global_batch);
  });
}

}  // namespace zygos::testing
