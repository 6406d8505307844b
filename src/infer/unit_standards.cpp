// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "infer/unit_standards.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <string>

namespace zygos::infer {
namespace {

/// Elements of a column.
std::int64_t run_of(const Shape& sample, const Standards& standards, const std::string& what) {
  if (standards.empty()) {
    return 1;
  }
  const std::int64_t columns = standards.columns();
  if (sample.size() % columns != 0 || standards.scale.size() != standards.shift.size()) {
    throw UsageError("standards of " + std::to_string(columns) + " columns for the model's " +
                     what + " " + sample.text() + "; allowed is one for every " +
                     "element, or for every index of the first axis");
  }
  return sample.size() / columns;
}

}  // namespace

UnitStandards::UnitStandards(const Shape& input, const Standards& inputs, const Shape& output,
                             const Standards& outputs)
    : input_columns_(inputs.columns()),
      input_run_(run_of(input, inputs, "input")),
      output_columns_(outputs.columns()),
      output_run_(run_of(output, outputs, "output")),
      block_(static_cast<std::size_t>(2 * (input_columns_ + output_columns_)) * sizeof(double),
             "zygos::infer::standards") {
  auto* to = reinterpret_cast<double*>(block_.host());
  for (const auto* values : {&inputs.shift, &inputs.scale, &outputs.shift, &outputs.scale}) {
    to = std::copy(values->begin(), values->end(), to);
  }
}

UnitStandards::Bound UnitStandards::bind(const lane::Execution& execution) {
  Bound bound;
  if (input_columns_ + output_columns_ == 0) {
    return bound;
  }
  const auto* const begin = reinterpret_cast<const double*>(block_.readable_on(execution));
  if (input_columns_ > 0) {
    bound.inputs = {begin, begin + input_columns_, 0, input_run_, false};
  }
  if (output_columns_ > 0) {
    const double* const outputs = begin + 2 * input_columns_;
    bound.outputs = {outputs, outputs + output_columns_, 0, output_run_, true};
  }
  return bound;
}

}  // namespace zygos::infer
