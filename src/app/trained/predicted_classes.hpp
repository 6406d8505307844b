// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/shape.hpp"
#include "zygos/nn/loss.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace zygos::app {

/// Which class the outputs of a model name, where it tells classes from each other: the one with
/// the largest logit, the first of several, as the accuracy counts.
class PredictedClasses {
 public:
  /// For outputs of this shape per sample: [K] name one class, [T, K] T of them, [K, H, W] H x W.
  /// Nothing for a loss without labels.
  static std::optional<PredictedClasses> of(const nn::Loss& loss, const Shape& output);

  /// What is named of a sample: [], [T] or [H, W].
  const Shape& shape() const noexcept { return shape_; }
  /// `outputs`: of `count` samples.
  template <class T>
  void name(const T* outputs, std::int64_t count, std::int32_t* classes) const;
  /// How many classes are ahead of each label; labels below 0 are ahead of all.
  template <class T>
  void rank(const T* outputs, std::int64_t count, const std::int32_t* labels,
            std::int32_t* ranks) const;

 private:
  template <class T, class F>
  void for_each(const T* outputs, std::int64_t count, const F& f) const;

  Shape shape_;
  std::int64_t classes_ = 0;
  std::int64_t stride_ = 0;  ///< from a class to the next one
};

/// What of the labels is predicted; negative ones do not count.
struct LabelHits {
  std::int64_t hits = 0;
  std::int64_t valid = 0;
  void add(const std::vector<std::int32_t>& classes, const std::vector<std::int32_t>& labels);
};

}  // namespace zygos::app
