// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/adjacency.hpp"
#include "zygos/core/error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace zygos::test_adjacency {

using Catch::Matchers::ContainsSubstring;
using Numbers = std::vector<std::int32_t>;
using Widths = std::vector<std::int64_t>;

TEST_CASE("Both nodes of an edge are neighbours of each other, once, and nobody of himself") {
  // 3 is alone; 0-1 is said three times, 2-2 is a loop.
  const Adjacency graph = graph_of_edges(5, Numbers{4, 1, 0, 1, 1, 0, 2, 2, 2, 1, 0, 1});

  CHECK(graph.rows == 5);
  CHECK(graph.columns == 5);
  CHECK(graph.offsets == Numbers{0, 1, 4, 5, 5, 6});
  CHECK(graph.neighbours == Numbers{1, 0, 2, 4, 1, 1});
  CHECK(graph.of(3).empty());
  CHECK(graph.of(1).size() == 3);
}

TEST_CASE("A graph may have no edge at all") {
  const Adjacency graph = graph_of_edges(1, Numbers{});

  CHECK(graph.offsets == Numbers{0, 0});
  CHECK(graph.neighbours.empty());
}

TEST_CASE("A tree of sampled neighbours lies level by level") {
  const Adjacency tree = sampled_tree(Widths{2, 3});

  CHECK(tree.rows == 3);
  CHECK(tree.columns == 9);
  CHECK(tree.offsets == Numbers{0, 2, 5, 8});
  CHECK(tree.neighbours == Numbers{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(sampled_tree(Widths{1}).columns == 2);
}

TEST_CASE("What is no graph is refused") {
  CHECK_THROWS_WITH(graph_of_edges(0, Numbers{}), ContainsSubstring("0 nodes; allowed are 1 to"));
  CHECK_THROWS_WITH(graph_of_edges(3, Numbers{0, 1, 2}), ContainsSubstring("two for each edge"));
  CHECK_THROWS_WITH(graph_of_edges(3, Numbers{0, 1, 1, 3}),
                    ContainsSubstring("edge 1 has node 3; the graph has nodes 0 to 2"));
  CHECK_THROWS_WITH(graph_of_edges(3, Numbers{-1, 1}), ContainsSubstring("edge 0 has node -1"));
  CHECK_THROWS_WITH(sampled_tree(Widths{}), ContainsSubstring("without a fan-out"));
  CHECK_THROWS_WITH(sampled_tree(Widths{3, 0}), ContainsSubstring("a fan-out of 0"));
  CHECK_THROWS_WITH(sampled_tree(Widths{100000, 100000}), ContainsSubstring("at most 2147483647"));
}

}  // namespace zygos::test_adjacency
