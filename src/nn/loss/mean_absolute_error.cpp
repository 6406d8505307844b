// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/entries.hpp"
#include "nn/loss/element_loss.hpp"

#include "zygos/nn/losses.hpp"

namespace zygos::nn {

LossPtr mean_absolute_error() {
  return std::make_shared<MeanOverElements>("mae", ops::ElementLoss::absolute_error, 5.0);
}

Entry<LossPtr> mean_absolute_error_entry() {
  return {
      deck::Schema("mae",
                   "Mean absolute error: mean over a sample's elements of |prediction - target|."),
      [](const deck::Section&) { return mean_absolute_error(); }};
}

}  // namespace zygos::nn
