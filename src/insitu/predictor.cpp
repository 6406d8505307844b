// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "insitu/predictor.hpp"

#include "infer/block_size.hpp"
#include "insitu/fit.hpp"
#include "insitu/kernels/sample_kernels.hpp"

#include <algorithm>

namespace zygos::insitu {
namespace {

/// Layers are bound once for each of so many numbers of samples; the oldest gives way.
constexpr std::size_t max_bound = 8;

/// The same columns of samples [first, first + count).
Columns rows_in(const Columns& all, std::int64_t first, std::int64_t count) {
  Columns some = all;
  some.samples = count;
  for (std::size_t i = 0; i < some.count; ++i) {
    Part& part = some.parts[i];
    part.data = static_cast<std::byte*>(part.data) +
                first * part.stride * static_cast<std::int64_t>(size_of(part.dtype));
  }
  return some;
}

}  // namespace

Predictor::Predictor(Learner& learner, DType dtype, std::int64_t block)
    : learner_(learner),
      dtype_(dtype),
      evaluation_(learner.graph(), dtype),
      block_(block > 0 ? block : infer::block_size(learner.graph(), dtype)) {
  static_cast<void>(pass_for(block_));
}

infer::Pass& Predictor::pass_for(std::int64_t samples) {
  const auto found = std::ranges::find(passes_, samples, &infer::Pass::samples);
  if (found != passes_.end()) {
    return *found;
  }
  infer::Pass pass(learner_.graph(), dtype_, samples);
  if (pass.bytes() > bytes_) {
    learner_.instance().wait("zygos::insitu::prediction");
    passes_.clear();
    workspace_.reset();
    workspace_ = learner_.instance().allocate(pass.bytes(), "zygos::insitu::prediction");
    bytes_ = pass.bytes();
  }
  pass.bind(workspace_.get());
  if (passes_.size() == max_bound) {
    passes_.erase(passes_.begin() + 1);  // the first one is that of whole blocks
  }
  return passes_.emplace_back(std::move(pass));
}

void Predictor::run(const Columns& inputs, const Columns& outputs) {
  const infer::Pass& pass = pass_for(inputs.samples);
  const lane::Execution& execution = *learner_.instance();
  const Parameters& parameters = learner_.parameters();
  read_samples(execution, inputs, parameters.input_standards(), rows_of(pass.input()));
  evaluation_.run(execution, pass.nodes(), parameters.node_weights(), learner_.constants());
  write_samples(execution, rows_of(pass.output()), parameters.target_standards(), outputs);
}

void Predictor::predict(const lane::Execution& execution, std::span<const infer::Samples> inputs,
                        std::span<const infer::Samples> outputs) {
  const std::int64_t count = count_of("inputs", inputs);
  require_fit("inputs", inputs, learner_.graph().input_shape(), count);
  require_fit("outputs", outputs, learner_.graph().output_shape(), count);
  learner_.instance().enter(execution, "the surrogate");
  const Columns from = columns_of(inputs);
  const Columns to = columns_of(outputs);
  for (std::int64_t first = 0; first < count; first += block_) {
    const std::int64_t number = std::min(block_, count - first);
    run(rows_in(from, first, number), rows_in(to, first, number));
  }
}

}  // namespace zygos::insitu
