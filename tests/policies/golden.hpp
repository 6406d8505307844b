// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Golden schedules: the whole text of what a policy makes, in tests/policies/golden/. After a
// change that is meant, look at the text the failed check shows and put it into the file.
#pragma once

#include "zygos/plan/problem.hpp"

#include <fstream>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace zygos::test {

inline std::string golden(const std::string& name) {
  const std::string path = "tests/policies/golden/" + name + ".txt";
  std::ifstream file(path);
  if (!file) {
    throw std::runtime_error(path + " can't be read; tests run in the root of the source tree");
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A node with 32 parameters for each of its inputs, 40 bytes of output and work to do for all.
inline schedule::NodeOutline node_reading(std::vector<std::int32_t> inputs,
                                          std::int32_t parameters = 32) {
  schedule::NodeOutline node;
  node.inputs = std::move(inputs);
  node.parameters = {0, parameters};
  node.output_bytes = 40;
  node.flops = 1000.0;
  return node;
}

/// Nodes called a, b, c and so on, their parameters one after the other.
inline schedule::ModelOutline model_of(std::vector<schedule::NodeOutline> nodes) {
  schedule::ModelOutline model;
  model.input_bytes = 16;
  model.target_bytes = 4;
  std::int64_t elements = 0;
  for (schedule::NodeOutline& node : nodes) {
    node.name = std::string(1, static_cast<char>('a' + model.node_count()));
    const std::int64_t count = node.parameters.count();
    node.parameters = {elements, elements + count};
    elements += count;
    model.nodes.push_back(std::move(node));
  }
  return model;
}

inline schedule::ModelOutline chain_of(std::int32_t nodes) {
  std::vector<schedule::NodeOutline> all;
  for (std::int32_t node = 0; node < nodes; ++node) {
    all.push_back(node_reading({node - 1}));
  }
  return model_of(std::move(all));
}

/// Eight nodes with skips over one, two and all nodes, and one without parameters.
inline schedule::ModelOutline with_skips() {
  return model_of({node_reading({-1}), node_reading({0}), node_reading({1, 0}, 0),
                   node_reading({2}), node_reading({3, 0}), node_reading({4, 2}), node_reading({5}),
                   node_reading({6, 0, 5})});
}

/// The first two nodes have nothing to train.
inline schedule::ModelOutline with_fixed_head() {
  schedule::ModelOutline model =
      model_of({node_reading({-1}, 0), node_reading({0}, 0), node_reading({1}), node_reading({2}),
                node_reading({3})});
  model.nodes[0].has_backward = model.nodes[1].has_backward = false;
  return model;
}

/// Lanes called l0, l1 and so on, every other one with memory of its own.
inline plan::Problem lanes_problem(std::size_t lanes, std::int64_t batch,
                                   schedule::ModelOutline model) {
  plan::Problem problem;
  problem.batch = batch;
  problem.model = std::move(model);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const bool host = lane % 2 == 0;
    problem.places.push_back(
        {"l" + std::to_string(lane), host ? lane::Kind::host : lane::Kind::emulated, host, 0});
  }
  return problem;
}

/// A host and a device with its own memory, a batch of 100 and a model of three nodes.
inline plan::Problem host_and_device() {
  plan::Problem problem = lanes_problem(2, 100, chain_of(3));
  problem.places[0].name = "host";
  problem.places[1].name = "device";
  return problem;
}

}  // namespace zygos::test
