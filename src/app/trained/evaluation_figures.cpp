// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/trained/evaluation_figures.hpp"

#include "app/trained/metrics.hpp"

#include <nlohmann/json.hpp>

#include <memory>

namespace zygos::app {
namespace {

Standards copy_of(const std::shared_ptr<const Standards>& standards) {
  return standards == nullptr ? Standards() : *standards;
}

}  // namespace

std::map<std::string, double> evaluation_figures(const RunSetup& setup,
                                                 std::span<const infer::Weight> weights) {
  std::map<std::string, double> figures;
  const auto metrics = metrics_for(setup.graph->loss(), setup.graph->output_shape());
  if (metrics == nullptr) {
    return figures;
  }
  infer::Model model(*setup.graph, weights,
                     {.dtype = setup.dtype,
                      .inputs = copy_of(setup.training.input_standards),
                      .outputs = copy_of(setup.training.target_standards)});
  measure(model, *setup.test, *metrics);
  const nlohmann::json all = metrics->json();
  for (const std::string& name : setup.metrics) {
    if (const auto found = all.find(name); found != all.end() && found->is_number()) {
      figures[name] = found->get<double>();
    }
  }
  return figures;
}

}  // namespace zygos::app
