// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/entries.hpp"
#include "nn/loss/element_loss.hpp"

#include "zygos/nn/losses.hpp"

namespace zygos::nn {

LossPtr mean_squared_error() {
  return std::make_shared<MeanOverElements>("mse", ops::ElementLoss::squared_error, 5.0);
}

Entry<LossPtr> mean_squared_error_entry() {
  return {
      deck::Schema("mse",
                   "Mean squared error: mean over a sample's elements of (prediction - target)^2."),
      [](const deck::Section&) { return mean_squared_error(); }};
}

}  // namespace zygos::nn
