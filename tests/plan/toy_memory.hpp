// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory of three toy layers under a schedule of two_places.hpp.
#pragma once

#include "graph/toy_layers.hpp"

#include "zygos/plan/memory_plan.hpp"

#include <string>
#include <vector>

namespace zygos::test {

class ToyOptimizer : public nn::Optimizer {
 public:
  std::string_view type() const override { return "toy"; }
  std::vector<std::string> state_names() const override { return {"first"}; }
  double learning_rate() const override { return 0.1; }
  bool uses_decay() const override { return false; }
  nn::Cost cost(std::int64_t, DType) const override { return {}; }
  void update(const lane::Execution&, const nn::UpdateArgs&) const override {}
};

inline std::vector<plan::PlaceMemory> toy_memory(const schedule::Schedule& schedule) {
  graph::Graph graph(Shape{4}, testing::toy_loss());
  for (const char* name : {"fc1", "fc2", "fc3"}) {
    graph.add(name, testing::projection(5));
  }
  const ToyOptimizer optimizer;
  return plan::plan_memory({graph, optimizer, DType::f32, {}}, schedule);
}

}  // namespace zygos::test
