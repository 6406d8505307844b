// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a schedule needs to know of a model: who feeds whom, and how big things are. No layers.
#pragma once

#include "zygos/core/slice.hpp"
#include "zygos/schedule/task.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace zygos::schedule {

/// How a layer can be cut in one way.
struct AxisOutline {
  ShardForm form{};                              ///< no units: it cannot be
  std::vector<std::int64_t> parameters{};        ///< elements of each, for one unit
  std::vector<std::int64_t> fixed_parameters{};  ///< those that the first slice has whole
};

/// How a layer can be cut for tensor parallelism.
struct ShardOutline {
  AxisOutline outputs{};
  AxisOutline inputs{};
  AxisOutline elements{};
  bool has_epilogue = false;  ///< partial sums: an activation follows their sum
};

/// One node of the graph. Sizes are bytes of one sample.
struct NodeOutline {
  std::string name;
  std::vector<std::int32_t> inputs;  ///< nodes that feed it; -1: the model's input
  ElementRange parameters;           ///< of the flat parameter buffer, padding included
  std::int64_t output_bytes = 0;
  std::int64_t kept_bytes = 0;  ///< what the layer keeps for backward beside its output
  double flops = 0.0;  ///< of forward and backward; a guess at their time where none is measured
  bool has_backward = true;  ///< false if nothing is trained in it or before it
  /// Numbers that it has to know of all samples of an update before it can work on one of them,
  /// and as many before backward; 0: it needs none.
  std::int64_t statistics = 0;
  ShardOutline shards{};
};

/// What goes with a sample beside its input and target: its number, for randomness of its own.
constexpr std::int64_t sample_id_bytes = 4;

struct ModelOutline {
  std::vector<NodeOutline> nodes;
  std::int64_t input_bytes = 0;
  std::int64_t target_bytes = 0;
  std::int64_t element_bytes = 4;     ///< of a parameter
  std::int64_t activation_bytes = 4;  ///< of an element of an output or its gradient
  /// Samples that some layer must see in one call.
  std::int64_t samples_together = 1;

  std::int32_t node_count() const { return static_cast<std::int32_t>(nodes.size()); }
  NodeRange all_nodes() const { return {0, node_count()}; }
  /// Parameters of a range of nodes: contiguous, because they are laid out in the nodes' order.
  ElementRange parameters_of(NodeRange nodes) const;
  /// True if a node of the range reads the model's input.
  bool reads_input(NodeRange nodes) const;
};

/// By node: the last node that reads it, or itself.
std::vector<std::int32_t> last_readers(const ModelOutline& model);

/// Tensors that go from one stage to another.
struct StageLink {
  Stage from = 0;
  Stage to = 0;
  std::vector<std::int32_t> tensors;  ///< nodes whose outputs (or gradients of these) travel
  std::int32_t first_reader = 0;      ///< of the nodes that read these outputs there
};

/// Outputs go from their stage straight to every later stage that reads them.
std::vector<StageLink> activation_links(const ModelOutline& model,
                                        const std::vector<NodeRange>& stages);
/// Gradients go from a reading stage to the one before it that reads the same output, and from the
/// first of these to where the output was made. Each adds its own readers' gradients on the way, so
/// that sums have the same order, last reader first, as without any cut.
std::vector<StageLink> gradient_links(const ModelOutline& model,
                                      const std::vector<NodeRange>& stages);
/// Bytes of the tensors of a link, of one sample.
std::int64_t bytes_of(const ModelOutline& model, const StageLink& link);

}  // namespace zygos::schedule
