// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "infer/evaluation.hpp"
#include "infer/pass.hpp"
#include "insitu/learner.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace zygos::insitu {

/// Predictions with the weights that are trained, as they are.
class Predictor {
 public:
  /// `block`: most samples at once, 0: as fit into a core's cache. The learner must outlive it.
  Predictor(Learner& learner, DType dtype, std::int64_t block);

  void predict(const lane::Execution& execution, std::span<const infer::Samples> inputs,
               std::span<const infer::Samples> outputs);
  /// Most samples that go through the layers at once.
  std::int64_t block() const noexcept { return block_; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  infer::Pass& pass_for(std::int64_t samples);
  void run(const Columns& inputs, const Columns& outputs);

  Learner& learner_;
  DType dtype_;
  infer::Evaluation evaluation_;
  std::int64_t block_;
  memory::Block workspace_;
  std::size_t bytes_ = 0;
  std::vector<infer::Pass> passes_;
};

}  // namespace zygos::insitu
