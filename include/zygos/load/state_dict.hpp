// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Weights under the names and in the layouts of PyTorch: "fc1.weight" (outputs, inputs) for the
// parameter "fc1/kernel" (inputs, outputs). docs/exchange.md has the table.
#pragma once

#include "zygos/graph/graph.hpp"
#include "zygos/infer/weight.hpp"
#include "zygos/io/stored_tensor.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace zygos::load {

/// A model's weights as the state_dict of the same model in PyTorch, whose modules are called as
/// the layers. Throws UsageError for a weight that is missing.
std::vector<io::StoredTensor> state_dict_of(const graph::Graph& graph,
                                            std::span<const infer::Weight> weights);

/// Tensors whose name begins with `from`, up to a '.' or '/', are of the layer `to`.
struct Renaming {
  std::string from;
  std::string to;
};

enum class MatchBy : std::uint8_t {
  names,  ///< "fc1.weight" is of the layer fc1
  /// The first module of the file is the first layer with parameters, and so on: modules in the
  /// order of their names, numbers in these by value, as torch.nn.Sequential counts them.
  order
};

struct MatchOptions {
  MatchBy match = MatchBy::names;
  std::vector<Renaming> renamings{};  ///< of names in the file, before they are matched
  /// Layers that the file has nothing for are left out, and so are tensors that are of no layer.
  bool partial = false;
};

struct MatchedWeights {
  /// By the names of parameters, in their shapes, f32 or f64.
  std::vector<io::StoredTensor> weights;
  std::vector<std::string> missing;  ///< parameters that the file has nothing for
  std::vector<std::string> unused;   ///< tensors of the file that are of no layer
};

/// The model's weights among tensors that have names and layouts of PyTorch, or Zygos' own
/// ("fc1/kernel") if any is called so. Tensors that count batches (num_batches_tracked) are passed
/// over. `source` is what messages call the tensors. Throws UsageError that lists what is missing,
/// of no layer, or of another shape or type, NumericError for a value that is not finite.
MatchedWeights match_weights(const graph::Graph& graph, std::span<const io::StoredTensor> tensors,
                             const std::string& source, const MatchOptions& options = {});

}  // namespace zygos::load
