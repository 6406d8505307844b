// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Like glyphs.cpp: only operations whose every bit IEEE 754 fixes, compiled without contraction.
#include "zygos/synthetic/power_law_graph.hpp"

#include "synthetic/sample_random.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace zygos::synthetic {
namespace {

/// Streams of RngPurpose::data.
constexpr std::uint32_t edges_stream = 1;
constexpr std::uint32_t nodes_stream = 2;

void require_option(bool holds, const std::string& option, const std::string& found,
                    const std::string& allowed) {
  if (!holds) {
    throw UsageError("power_law_graph: " + option + " is " + found + "; it must be " + allowed);
  }
}

void require_options(const PowerLawGraphOptions& options) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const auto require_number = [](const char* option, std::int64_t value, std::int64_t least,
                                 std::int64_t max_allowed) {
    require_option(value >= least && value <= max_allowed, option, std::to_string(value),
                   "from " + std::to_string(least) + " to " + std::to_string(max_allowed));
  };
  require_number("nodes", options.nodes, 2, most);
  require_number("classes", options.classes, 2, options.nodes);
  require_number("features", options.features, 1, 65536);
  require_option(options.mean_degree > 0.0 && options.mean_degree <= 1000.0, "mean_degree",
                 std::to_string(options.mean_degree), "above 0 and at most 1000");
  require_option(
      options.mean_degree * static_cast<double>(options.nodes) <= static_cast<double>(most),
      "mean_degree", std::to_string(options.mean_degree),
      "so small that there are no more than 2^31 - 1 ends of edges");
  require_option(options.homophily >= 0.0 && options.homophily <= 1.0, "homophily",
                 std::to_string(options.homophily), "in [0, 1]");
  require_option(options.noise >= 0.0 && options.noise <= 100.0, "noise",
                 std::to_string(options.noise), "from 0 to 100");
  require_option(options.training > 0.0 && options.training < 1.0, "training",
                 std::to_string(options.training), "above 0 and below 1");
}

/// Draws nodes `first`, `first + stride` and so on, each as often as its weight says.
class WeightedNodes {
 public:
  WeightedNodes(std::int64_t nodes, std::int64_t first, std::int64_t stride)
      : first_(first), stride_(stride) {
    double sum = 0.0;
    for (std::int64_t node = first; node < nodes; node += stride) {
      sum += 1.0 / std::sqrt(static_cast<double>(node + 1));
      sums_.push_back(sum);
    }
  }

  std::int32_t at(double uniform) const {
    const auto found = std::ranges::upper_bound(sums_, uniform * sums_.back());
    const auto index = std::min<std::ptrdiff_t>(found - sums_.begin(),
                                                static_cast<std::ptrdiff_t>(sums_.size()) - 1);
    return static_cast<std::int32_t>(first_ + stride_ * index);
  }

 private:
  std::int64_t first_;
  std::int64_t stride_;
  std::vector<double> sums_;
};

std::vector<std::int32_t> drawn_edges(const PowerLawGraphOptions& options) {
  const WeightedNodes all(options.nodes, 0, 1);
  std::vector<WeightedNodes> communities;
  for (std::int64_t label = 0; label < options.classes; ++label) {
    communities.emplace_back(options.nodes, label, options.classes);
  }
  const RngKey key{options.seed, RngPurpose::data, edges_stream};
  const auto count =
      static_cast<std::uint64_t>(options.mean_degree * static_cast<double>(options.nodes) / 2.0);
  std::vector<std::int32_t> edges;
  for (std::uint64_t edge = 0; edge < count; ++edge) {
    const PhiloxBlock ends = random_block(key, edge, 0);
    const PhiloxBlock kind = random_block(key, edge, 1);
    const std::int32_t one = all.at(uniform_double(ends.v[0], ends.v[1]));
    const bool within = uniform_double(kind.v[0], kind.v[1]) < options.homophily;
    const auto label = static_cast<std::size_t>(one % options.classes);
    const WeightedNodes& others = within ? communities[label] : all;
    edges.push_back(one);
    edges.push_back(others.at(uniform_double(ends.v[2], ends.v[3])));
  }
  return edges;
}

/// Points of the communities, then every node's own.
io::Array drawn_features(const PowerLawGraphOptions& options) {
  const auto width = static_cast<std::size_t>(options.features);
  std::vector<float> points;
  for (std::int64_t label = 0; label < options.classes; ++label) {
    SampleRandom random(options.seed, RngPurpose::data, static_cast<std::uint64_t>(label));
    for (std::size_t feature = 0; feature < width; ++feature) {
      points.push_back(random.around(1.0F));
    }
  }
  const Shape shape{options.nodes, options.features};
  auto bytes = io::allocate_bytes(static_cast<std::size_t>(shape.size()) * sizeof(float),
                                  "the features of a power_law_graph");
  auto* features = reinterpret_cast<float*>(bytes.get());
  const auto noise = static_cast<float>(options.noise);
  for (std::int64_t node = 0; node < options.nodes; ++node) {
    SampleRandom random(options.seed, RngPurpose::noise, static_cast<std::uint64_t>(node));
    const float* point = points.data() + static_cast<std::size_t>(node % options.classes) * width;
    for (std::size_t feature = 0; feature < width; ++feature) {
      float sum = point[feature];
      for (int i = 0; i < 4; ++i) {
        sum += random.around(noise);
      }
      *features++ = sum;
    }
  }
  return {DType::f32, shape, std::move(bytes)};
}

}  // namespace

io::NodeGraph make_power_law_graph(const PowerLawGraphOptions& options) {
  require_options(options);
  io::NodeGraph graph;
  graph.name = "power_law_graph";
  graph.classes = options.classes;
  graph.edges =
      std::make_shared<const Adjacency>(graph_of_edges(options.nodes, drawn_edges(options)));
  graph.features = drawn_features(options);
  std::vector<std::int32_t> labels;
  const RngKey key{options.seed, RngPurpose::data, nodes_stream};
  for (std::int64_t node = 0; node < options.nodes; ++node) {
    labels.push_back(static_cast<std::int32_t>(node % options.classes));
    const PhiloxBlock block = random_block(key, static_cast<std::uint64_t>(node), 0);
    graph.training.push_back(uniform_double(block.v[0], block.v[1]) < options.training ? 1 : 0);
  }
  graph.labels = io::make_array<std::int32_t>(Shape{options.nodes}, labels);
  return graph;
}

}  // namespace zygos::synthetic
