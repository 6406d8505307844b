// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/shape.hpp"
#include "zygos/nn/loss.hpp"

#include <cstdint>
#include <optional>

namespace zygos::app {

/// What the outputs of a model mean as probabilities, where its loss takes logits: the softmax over
/// the classes in front of cross_entropy, the logistic function in front of bce.
class Probabilities {
 public:
  /// Shapes of outputs as PredictedClasses::of() has them. Nothing for another loss.
  static std::optional<Probabilities> of(const nn::Loss& loss, const Shape& output);

  /// Outputs (samples, output), dense, in place. None is not finite.
  template <class T>
  void replace(T* outputs, std::int64_t samples) const;

 private:
  std::int64_t classes_ = 0;  ///< 0: every output is a probability of its own
  std::int64_t stride_ = 1;   ///< from a class to the next one
  std::int64_t width_ = 0;    ///< outputs of a sample
};

}  // namespace zygos::app
