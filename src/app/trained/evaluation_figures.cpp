// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/trained/evaluation_figures.hpp"

#include "zygos/io/sample_source.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace zygos::app {
namespace {

Standards copy_of(const std::shared_ptr<const Standards>& standards) {
  return standards == nullptr ? Standards() : *standards;
}

train::Figures wanted_of(const Metrics* metrics, const std::vector<std::string>& names) {
  train::Figures figures;
  if (metrics == nullptr) {
    return figures;
  }
  const nlohmann::json all = metrics->json();
  for (const std::string& name : names) {
    if (const auto found = all.find(name); found != all.end() && found->is_number()) {
      figures[name] = found->get<double>();
    }
  }
  return figures;
}

/// Standardised outputs (samples, width), row major, in the targets' own units.
void undo(const Standards& standards, std::size_t width, std::vector<double>& outputs) {
  const std::size_t run = width / standards.shift.size();  // elements of a column
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::size_t column = i % width / run;
    outputs[i] = outputs[i] * standards.scale[column] + standards.shift[column];
  }
}

}  // namespace

void EvaluationFigures::add(std::int64_t first, std::span<const double> predictions) {
  if (first == 0) {
    metrics_ = metrics_for(setup_.graph->loss(), setup_.graph->output_shape());
  }
  if (metrics_ == nullptr) {
    return;
  }
  const std::int64_t width = setup_.graph->output_shape().size();
  io::Dataset part = io::samples_in_memory(*setup_.test, first, std::ssize(predictions) / width);
  part.input_standards = nullptr;  // figures are in the targets' own units
  part.target_standards = nullptr;
  own_units_.assign(predictions.begin(), predictions.end());
  if (const auto& standards = setup_.test->target_standards;
      standards != nullptr && !standards->empty()) {
    undo(*standards, static_cast<std::size_t>(width), own_units_);
  }
  metrics_->add(own_units_, part);
}

train::Figures EvaluationFigures::figures() const {
  return wanted_of(metrics_.get(), setup_.metrics);
}

train::Figures evaluation_figures(const RunSetup& setup, std::span<const infer::Weight> weights) {
  const auto metrics = metrics_for(setup.graph->loss(), setup.graph->output_shape());
  if (metrics != nullptr) {
    infer::Model model(*setup.graph, weights,
                       {.dtype = setup.dtype,
                        .inputs = copy_of(setup.training.input_standards),
                        .outputs = copy_of(setup.training.target_standards)});
    measure(model, *setup.test, *metrics);
  }
  return wanted_of(metrics.get(), setup.metrics);
}

}  // namespace zygos::app
