// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/trained/probabilities.hpp"

#include <algorithm>
#include <cmath>

namespace zygos::app {
namespace {

/// Of logits that lie `stride` apart; less their largest, so that no exponential overflows.
template <class T>
void softmax(T* logits, std::int64_t classes, std::int64_t stride) {
  double largest = static_cast<double>(logits[0]);
  for (std::int64_t k = 1; k < classes; ++k) {
    largest = std::max(largest, static_cast<double>(logits[k * stride]));
  }
  double sum = 0.0;
  for (std::int64_t k = 0; k < classes; ++k) {
    sum += std::exp(static_cast<double>(logits[k * stride]) - largest);
  }
  for (std::int64_t k = 0; k < classes; ++k) {
    T& value = logits[k * stride];
    value = static_cast<T>(std::exp(static_cast<double>(value) - largest) / sum);
  }
}

template <class T>
T logistic(T logit) {
  return static_cast<T>(1.0 / (1.0 + std::exp(-static_cast<double>(logit))));
}

}  // namespace

std::optional<Probabilities> Probabilities::of(const nn::Loss& loss, const Shape& output) {
  Probabilities out;
  out.width_ = output.size();
  if (loss.type() == "cross_entropy") {
    out.classes_ = output.rank() == 3 ? output[0] : output[output.rank() - 1];
    out.stride_ = output.rank() == 3 ? output.size() / output[0] : 1;
    return out;
  }
  return loss.type() == "bce" ? std::optional(out) : std::nullopt;
}

template <class T>
void Probabilities::replace(T* outputs, std::int64_t samples) const {
  if (classes_ == 0) {
    std::transform(outputs, outputs + samples * width_, outputs, logistic<T>);
    return;
  }
  const std::int64_t group = classes_ * stride_;  // logits of `stride_` positions
  for (T* first = outputs; first != outputs + samples * width_; first += group) {
    for (std::int64_t position = 0; position < stride_; ++position) {
      softmax(first + position, classes_, stride_);
    }
  }
}

template void Probabilities::replace<float>(float*, std::int64_t) const;
template void Probabilities::replace<double>(double*, std::int64_t) const;

}  // namespace zygos::app
