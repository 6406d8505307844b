// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "infer/pass.hpp"

#include "zygos/nn/layers.hpp"
#include "zygos/nn/losses.hpp"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <vector>

namespace zygos::test_pass {

namespace {

bool overlap(const Tensor& a, const Tensor& b) {
  const auto* const begin_a = static_cast<const std::byte*>(a.raw());
  const auto* const begin_b = static_cast<const std::byte*>(b.raw());
  return begin_a < begin_b + b.bytes() && begin_b < begin_a + a.bytes();
}

}  // namespace

TEST_CASE("No output of a chain of dense layers lies where the chain's input is", "[infer]") {
  graph::Graph graph(Shape{6}, nn::mean_squared_error());
  for (const char* name : {"a", "b", "c", "d"}) {
    graph.add(name, nn::dense({.units = 24, .activation = nn::Activation::tanh}));
  }
  graph.add("gelu", nn::activation(nn::Activation::gelu));
  graph.add("e", nn::dense({.units = 24}));
  graph.add("f", nn::dense({.units = 6}));
  for (const std::int64_t samples : {1, 7, 500}) {
    CAPTURE(samples);
    infer::Pass pass(graph, DType::f32, samples);
    std::vector<std::byte> workspace(pass.bytes());

    pass.bind(workspace.data());

    CHECK_FALSE(overlap(pass.input(), pass.nodes()[3].output));
    CHECK_FALSE(overlap(pass.nodes()[4].output, pass.nodes()[6].output));
  }
}

}  // namespace zygos::test_pass
