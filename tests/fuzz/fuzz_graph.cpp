// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_target.hpp"

#include "zygos/io/node_graph.hpp"

namespace zygos::fuzz {

/// The graph, and what is trained on of it.
void fuzz_graph(Bytes input) {
  const auto file = file_of(input, "input.h5");
  may_refuse([&] {
    const io::NodeGraph graph = io::load_node_graph(file);
    io::whole_graph(graph, io::Nodes::training);
    io::sampled_trees(graph, io::Nodes::training, {.fan_out = {2, 2}});
  });
}

}  // namespace zygos::fuzz
