// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/sample_schedules.hpp"

#include "zygos/schedule/model_outline.hpp"

#include <catch2/catch_test_macros.hpp>

#include <tuple>

namespace zygos::schedule::test_model_outline {
namespace {

using Link = std::tuple<Stage, Stage, std::vector<std::int32_t>>;

std::vector<Link> plain(const std::vector<StageLink>& links) {
  std::vector<Link> out;
  for (const StageLink& link : links) {
    out.emplace_back(link.from, link.to, link.tensors);
  }
  return out;
}

TEST_CASE("A chain is linked from each stage to the next, and back") {
  const ModelOutline model = test::chain(6);
  const std::vector<NodeRange> stages{{0, 1}, {1, 4}, {4, 6}};

  CHECK(plain(activation_links(model, stages)) == std::vector<Link>{{0, 1, {0}}, {1, 2, {3}}});
  CHECK(plain(gradient_links(model, stages)) == std::vector<Link>{{1, 0, {0}}, {2, 1, {3}}});
}

TEST_CASE("One stage has no links") {
  const ModelOutline model = test::skipping();
  CHECK(activation_links(model, {{0, 6}}).empty());
  CHECK(gradient_links(model, {{0, 6}}).empty());
}

TEST_CASE("An output that skips a stage goes straight to its reader") {
  const ModelOutline model = test::skipping();  // node 0 feeds 1, 2 and 5
  const std::vector<NodeRange> stages{{0, 2}, {2, 4}, {4, 6}};

  CHECK(plain(activation_links(model, stages)) ==
        std::vector<Link>{{0, 1, {0, 1}}, {0, 2, {0}}, {1, 2, {3}}});
}

TEST_CASE("Its gradient goes from reader to reader, last first, so that sums keep their order") {
  const ModelOutline model = test::skipping();
  const std::vector<NodeRange> stages{{0, 2}, {2, 4}, {4, 6}};

  CHECK(plain(gradient_links(model, stages)) == std::vector<Link>{{1, 0, {0, 1}}, {2, 1, {0, 3}}});
}

TEST_CASE("A stage that does not read the output is passed over") {
  ModelOutline model = test::chain(8);
  model.nodes[7].inputs = {6, 0};
  model.nodes[3].inputs = {2, 0};
  const std::vector<NodeRange> stages{{0, 2}, {2, 4}, {4, 6}, {6, 8}};

  CHECK(plain(activation_links(model, stages)) ==
        std::vector<Link>{{0, 1, {0, 1}}, {0, 3, {0}}, {1, 2, {3}}, {2, 3, {5}}});
  CHECK(plain(gradient_links(model, stages)) ==
        std::vector<Link>{{1, 0, {0, 1}}, {2, 1, {3}}, {3, 1, {0}}, {3, 2, {5}}});
}

TEST_CASE("Two readers of an output in one stage take one copy") {
  ModelOutline model = test::chain(4);
  model.nodes[3].inputs = {2, 1};
  const std::vector<NodeRange> stages{{0, 2}, {2, 4}};

  CHECK(plain(activation_links(model, stages)) == std::vector<Link>{{0, 1, {1}}});
}

TEST_CASE("No gradient goes to what is not trained") {
  ModelOutline model = test::chain(4);
  model.nodes[0].has_backward = false;
  model.nodes[1].has_backward = false;
  const std::vector<NodeRange> stages{{0, 2}, {2, 3}, {3, 4}};

  CHECK(plain(gradient_links(model, stages)) == std::vector<Link>{{2, 1, {2}}});
}

TEST_CASE("A link's bytes are those of its tensors") {
  ModelOutline model = test::skipping();
  model.nodes[0].output_bytes = 100;
  CHECK(bytes_of(model, {0, 1, {0, 1}}) == 108);
}

TEST_CASE("Parameters of nodes reach from the first to the last, nodes without any left out") {
  ModelOutline model = test::chain(4);
  model.nodes[1].parameters = {};
  model.nodes[3].parameters = {};

  CHECK(model.parameters_of({0, 4}) == ElementRange{0, 30});
  CHECK(model.parameters_of({1, 4}) == ElementRange{20, 30});
  CHECK(model.parameters_of({3, 4}).count() == 0);
  CHECK(model.parameters_of({2, 2}).count() == 0);
}

TEST_CASE("Nodes read the model's input if one of them does") {
  const ModelOutline model = test::chain(4);
  CHECK(model.reads_input({0, 2}));
  CHECK_FALSE(model.reads_input({1, 4}));
}

}  // namespace
}  // namespace zygos::schedule::test_model_outline
