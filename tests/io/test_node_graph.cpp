// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/temporary_folder.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/node_graph.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

namespace zygos::test_node_graph {
namespace {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using zygos::DataError;
using zygos::Shape;
using zygos::io::Dataset;
using zygos::io::make_array;
using zygos::io::NodeGraph;
using zygos::io::Nodes;
using zygos::io::sampled_trees;
using zygos::io::whole_graph;

/// 0 - 1 - 2, 0 - 2, 3 alone; features 10 i, 10 i + 1; nodes 0 and 3 are trained on.
NodeGraph tiny() {
  NodeGraph graph;
  graph.name = "tiny";
  graph.edges = std::make_shared<const zygos::Adjacency>(
      zygos::graph_of_edges(4, std::vector<std::int32_t>{0, 1, 1, 2, 0, 2}));
  graph.features =
      make_array<float>(Shape{4, 2}, std::array{0.F, 1.F, 10.F, 11.F, 20.F, 21.F, 30.F, 31.F});
  graph.labels = make_array<std::int32_t>(Shape{4}, std::array{1, 0, 2, 1});
  graph.classes = 3;
  graph.training = {1, 0, 0, 1};
  return graph;
}

std::vector<std::int32_t> labels_of(const Dataset& data) {
  const auto labels = data.targets.as<std::int32_t>();
  return {labels.begin(), labels.end()};
}

/// An HDF5 file of data sets of doubles and of whole numbers.
class GraphFile {
 public:
  explicit GraphFile(const std::filesystem::path& path)
      : path_(path), file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) {}
  ~GraphFile() { H5Fclose(file_); }
  GraphFile(const GraphFile&) = delete;
  GraphFile& operator=(const GraphFile&) = delete;

  GraphFile& numbers(const char* name, std::vector<hsize_t> dimensions,
                     std::vector<double> values) {
    return put(name, dimensions, H5T_NATIVE_DOUBLE, values.data());
  }
  GraphFile& whole(const char* name, std::vector<hsize_t> dimensions, std::vector<long> values) {
    return put(name, dimensions, H5T_NATIVE_LONG, values.data());
  }
  NodeGraph load(std::int64_t classes = 0) {
    H5Fflush(file_, H5F_SCOPE_GLOBAL);
    return zygos::io::load_node_graph(path_, classes);
  }

 private:
  GraphFile& put(const char* name, const std::vector<hsize_t>& dimensions, hid_t type,
                 const void* values) {
    if (H5Lexists(file_, name, H5P_DEFAULT) > 0) {
      H5Ldelete(file_, name, H5P_DEFAULT);
    }
    const hid_t space =
        H5Screate_simple(static_cast<int>(dimensions.size()), dimensions.data(), nullptr);
    const hid_t set = H5Dcreate2(file_, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(set);
    H5Sclose(space);
    return *this;
  }

  std::filesystem::path path_;
  hid_t file_;
};

GraphFile& fill(GraphFile& file) {
  return file.numbers("features", {3, 2}, {1, 2, 3, 4, 5, 6})
      .whole("labels", {3}, {0, 1, 3})
      .whole("training", {3}, {1, 0, 7})
      .whole("edges", {3, 2}, {0, 1, 2, 1, 1, 0});
}

}  // namespace

TEST_CASE(
    "A whole graph is one sample, and each half of the nodes has valid labels in one of two") {
  const NodeGraph graph = tiny();
  const Dataset training = whole_graph(graph, Nodes::training);
  const Dataset test = whole_graph(graph, Nodes::test);

  CHECK(training.inputs.shape == Shape{1, 4, 2});
  CHECK(training.inputs.data == test.inputs.data);
  CHECK(labels_of(training) == std::vector<std::int32_t>{1, -1, -1, 1});
  CHECK(labels_of(test) == std::vector<std::int32_t>{-1, 0, 2, -1});
  CHECK(training.target_shape() == Shape{4});
  CHECK(training.graph.whole == graph.edges);
  CHECK_NOTHROW(zygos::io::check(training));
  CHECK_NOTHROW(zygos::io::check(test));
}

TEST_CASE("Sampled trees hold neighbours of neighbours") {
  const NodeGraph graph = tiny();
  const Dataset trees =
      sampled_trees(graph, Nodes::training, {.fan_out = {3, 2}, .draws = 40, .seed = 5});
  const auto features = trees.inputs.as<float>();

  CHECK(trees.inputs.shape == Shape{80, 10, 2});
  CHECK(trees.graph.fan_out == std::vector<std::int64_t>{3, 2});
  CHECK_NOTHROW(zygos::io::check(trees));
  const auto node = [&](std::size_t sample, std::size_t place) {
    const std::size_t first = (sample * 10 + place) * 2;
    CHECK(features[first + 1] == features[first] + 1.0F);
    return static_cast<std::int32_t>(features[first] / 10.0F);
  };
  std::map<std::int32_t, int> children;
  for (std::size_t sample = 0; sample < 80; ++sample) {
    const std::int32_t root = node(sample, 0);
    CHECK(root == (sample % 2 == 0 ? 0 : 3));
    CHECK(trees.targets.as<std::int32_t>()[sample] == 1);
    for (std::size_t child = 1; child < 10; ++child) {
      const std::int32_t parent = node(sample, child < 4 ? 0 : 1 + (child - 4) / 2);
      const auto neighbours = graph.edges->of(parent);
      const std::int32_t here = node(sample, child);
      const bool alone = neighbours.empty() && here == parent;
      CHECK((alone || std::ranges::find(neighbours, here) != neighbours.end()));
      children[here] += root == 0 && child < 4 ? 1 : 0;
    }
  }
  // Of 120 children of node 0 about half are node 1, half node 2.
  CHECK(static_cast<double>(children[1]) == Approx(60.0).margin(20.0));
  CHECK(children[1] + children[2] == 120);
}

TEST_CASE("A tree depends on seed, node and draw alone") {
  const NodeGraph graph = tiny();
  const Dataset one = sampled_trees(graph, Nodes::test, {.fan_out = {4}, .draws = 9, .seed = 5});
  const Dataset few = sampled_trees(graph, Nodes::test, {.fan_out = {4}, .draws = 2, .seed = 5});
  const Dataset other = sampled_trees(graph, Nodes::test, {.fan_out = {4}, .draws = 9, .seed = 6});
  const auto values = one.inputs.as<float>();

  CHECK(std::ranges::equal(values.first(few.inputs.as<float>().size()), few.inputs.as<float>()));
  CHECK_FALSE(std::ranges::equal(values, other.inputs.as<float>()));
  const std::size_t draw = values.size() / 9;
  CHECK_FALSE(std::ranges::equal(values.first(draw), values.subspan(draw, draw)));
}

TEST_CASE("Nodes that nobody marked are named before anything is drawn") {
  NodeGraph graph = tiny();
  graph.training = {1, 1, 1, 1};

  CHECK_THROWS_WITH(whole_graph(graph, Nodes::test), ContainsSubstring("no node is left"));
  CHECK_THROWS_WITH(sampled_trees(tiny(), Nodes::training, {.fan_out = {2}, .draws = 0}),
                    ContainsSubstring("found 0 draws"));
  CHECK_THROWS_WITH(sampled_trees(tiny(), Nodes::training, {.fan_out = {}}),
                    ContainsSubstring("without a fan-out"));
}

TEST_CASE("A graph is read from an HDF5 file") {
  const zygos::test::TemporaryFolder folder("node-graph");
  GraphFile file(folder.path() / "graph.h5");
  const NodeGraph graph = fill(file).load();

  CHECK(graph.edges->rows == 3);
  CHECK(graph.edges->neighbours == std::vector<std::int32_t>{1, 0, 2, 1});
  CHECK(graph.classes == 4);
  CHECK(graph.training == std::vector<std::uint8_t>{1, 0, 1});
  CHECK(graph.features.as<double>()[3] == 4.0);
  CHECK(fill(file).load(5).classes == 5);
}

TEST_CASE("A bad graph in a file is refused with what is wrong and where") {
  const zygos::test::TemporaryFolder folder("node-graph");
  GraphFile file(folder.path() / "graph.h5");
  const auto refused = [&](const std::string& message) {
    CHECK_THROWS_AS(file.load(), DataError);
    CHECK_THROWS_WITH(file.load(), ContainsSubstring(message));
  };

  fill(file).whole("edges", {2, 2}, {0, 1, 2, 3});
  refused("data set 'edges', element 3: edge 1 has node 3; there are features of nodes 0 to 2");
  fill(file).whole("edges", {4}, {0, 1, 2, 0});
  refused("data set 'edges': found i64 [4]; edges are whole numbers (edges, 2)");
  fill(file).numbers("edges", {1, 2}, {0, 1});
  refused("data set 'edges': found f64 [1, 2]");
  fill(file).whole("labels", {2}, {0, 1});
  refused("data set 'labels': found i64 [2]; there must be a whole number for each of the 3 nodes");
  fill(file).whole("labels", {3}, {0, -1, 1});
  refused("data set 'labels', element 1: found label -1");
  fill(file).whole("training", {3}, {0, -1, 1});
  refused("data set 'training', element 1");
  fill(file).numbers("features", {3}, {1, 2, 3});
  refused("features are floating point numbers (nodes, features)");
  fill(file).numbers("features", {3, 1}, {1, std::nan(""), 3});
  refused("data set 'features', element 1: found NaN");
}

}  // namespace zygos::test_node_graph
