// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/trained/predicted_classes.hpp"

#include <algorithm>

namespace zygos::app {

std::optional<PredictedClasses> PredictedClasses::of(const nn::Loss& loss, const Shape& output) {
  if (!loss.wants_labels()) {
    return std::nullopt;
  }
  PredictedClasses out;
  if (output.rank() == 3) {
    out.shape_ = output.without_leading();
    out.classes_ = output[0];
    out.stride_ = out.shape_.size();
  } else {
    out.shape_ = output.rank() == 2 ? Shape{output[0]} : Shape{};
    out.classes_ = output[output.rank() - 1];
    out.stride_ = 1;
  }
  return out;
}

/// f(i, logits) of all that is named.
template <class T, class F>
void PredictedClasses::for_each(const T* outputs, std::int64_t count, const F& f) const {
  const std::int64_t positions = shape_.size();
  const std::int64_t step = stride_ == 1 ? classes_ : 1;
  for (std::int64_t i = 0; i < count * positions; ++i) {
    f(i, outputs + i / positions * positions * classes_ + i % positions * step);
  }
}

template <class T>
void PredictedClasses::name(const T* outputs, std::int64_t count, std::int32_t* classes) const {
  for_each(outputs, count, [&](std::int64_t i, const T* logits) {
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < classes_; ++k) {
      best = logits[k * stride_] > logits[best * stride_] ? k : best;
    }
    classes[i] = static_cast<std::int32_t>(best);
  });
}

template <class T>
void PredictedClasses::rank(const T* outputs, std::int64_t count, const std::int32_t* labels,
                            std::int32_t* ranks) const {
  for_each(outputs, count, [&](std::int64_t i, const T* logits) {
    ranks[i] = 0;
    for (std::int64_t k = 0; k < classes_ && labels[i] >= 0; ++k) {
      const T& own = logits[labels[i] * stride_];
      const T& other = logits[k * stride_];
      ranks[i] += other > own || (other == own && k < labels[i]) ? 1 : 0;
    }
  });
}

template void PredictedClasses::name<float>(const float*, std::int64_t, std::int32_t*) const;
template void PredictedClasses::name<double>(const double*, std::int64_t, std::int32_t*) const;
template void PredictedClasses::rank<double>(const double*, std::int64_t, const std::int32_t*,
                                             std::int32_t*) const;

void LabelHits::add(const std::vector<std::int32_t>& classes,
                    const std::vector<std::int32_t>& labels) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    valid += labels[i] >= 0 ? 1 : 0;
    hits += labels[i] >= 0 && labels[i] == classes[i] ? 1 : 0;
  }
}

}  // namespace zygos::app
