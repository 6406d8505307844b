// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/trained/evaluation_figures.hpp"

#include "app/trained/model_metrics.hpp"

#include "zygos/io/sample_source.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace zygos::app {
namespace {

Standards copy_of(const std::shared_ptr<const Standards>& standards) {
  return standards == nullptr ? Standards() : *standards;
}

void add_wanted(const Metrics* metrics, const std::vector<std::string>& names,
                train::Evaluation& evaluation) {
  if (metrics == nullptr) {
    return;
  }
  const nlohmann::json all = metrics->json();
  for (const std::string& name : names) {
    if (name == "per_class") {
      evaluation.classes = metrics->classes();
    } else if (name == "confusion") {
      evaluation.confusion = metrics->confusion();
    } else if (const auto found = all.find(name); found != all.end() && found->is_number()) {
      evaluation.figures[name] = found->get<double>();
    }
  }
}

std::unique_ptr<Metrics> metrics_of(const RunSetup& setup) {
  return metrics_for(setup.graph->loss(), setup.graph->output_shape(), setup.test->class_names);
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
    metrics_ = metrics_of(setup_);
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

void EvaluationFigures::add_to(train::Evaluation& evaluation) const {
  add_wanted(metrics_.get(), setup_.metrics, evaluation);
}

void add_evaluation_figures(const RunSetup& setup, std::span<const infer::Weight> weights,
                            train::Evaluation& evaluation) {
  const auto metrics = metrics_of(setup);
  if (metrics != nullptr) {
    infer::Model model(*setup.graph, weights,
                       {.dtype = setup.dtype,
                        .inputs = copy_of(setup.training.input_standards),
                        .outputs = copy_of(setup.training.target_standards)});
    measure(model, *setup.test, *metrics);
  }
  add_wanted(metrics.get(), setup.metrics, evaluation);
}

}  // namespace zygos::app
