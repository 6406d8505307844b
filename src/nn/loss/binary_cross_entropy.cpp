// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/entries.hpp"
#include "nn/loss/element_loss.hpp"

#include "zygos/nn/losses.hpp"

namespace zygos::nn {
namespace {

class BinaryCrossEntropy final : public MeanOverElements {
 public:
  BinaryCrossEntropy() : MeanOverElements("bce", ops::ElementLoss::binary_cross_entropy, 40.0) {}

  std::optional<TargetRange> target_range() const override { return TargetRange{0.0, 1.0}; }
};

}  // namespace

LossPtr binary_cross_entropy() { return std::make_shared<BinaryCrossEntropy>(); }

Entry<LossPtr> binary_cross_entropy_entry() {
  return {deck::Schema("bce",
                       "Binary cross-entropy of logits: mean over a sample's elements, targets "
                       "from 0 to 1."),
          [](const deck::Section&) { return binary_cross_entropy(); }};
}

}  // namespace zygos::nn
