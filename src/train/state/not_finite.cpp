// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/state/not_finite.hpp"

#include "zygos/tensor/convert.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace zygos::train {
namespace {

/// `found` of a place is its first node, or -1: the first of all, in the order of nodes if
/// `onward` and else against it. "'fc1' on lane 'host'", or nothing.
template <class Found>
std::string first_of_all(const Places& places, const graph::Graph& graph, bool onward,
                         Found&& found) {
  // Nodes in their order or against it, then places: the largest distance to the end is the first
  // of all ranks.
  const auto count_of_places = static_cast<std::int64_t>(places.count());
  const auto count = std::ssize(graph.nodes());
  const auto turned = [&](std::int64_t node) { return onward ? node : count - 1 - node; };
  std::array<std::int64_t, 1> before_end{0};
  for (const std::size_t place : places.active) {
    const std::int64_t node = found(place);
    if (node >= 0) {
      before_end[0] = std::max(before_end[0], (count - turned(node)) * count_of_places -
                                                  static_cast<std::int64_t>(place));
    }
  }
  if (places.ranks != nullptr) {
    places.ranks->max(before_end);
  }
  if (before_end[0] == 0) {
    return {};
  }
  const std::int64_t first = count * count_of_places - before_end[0];
  return "'" + graph.nodes()[static_cast<std::size_t>(turned(first / count_of_places))].name +
         "' on lane '" + places.lane(static_cast<std::size_t>(first % count_of_places)).name() +
         "'";
}

/// The place's last node that has a gradient which is not finite, or -1.
std::int32_t last_bad_gradient(const Places& places, std::size_t place) {
  const PlaceState& state = *places.here[place];
  const std::vector<Elements> held = state.buffers.held(gradient_kind(state));
  const schedule::NodeRange nodes =
      state.setup.schedule().nodes_of(static_cast<schedule::Place>(place));
  for (auto node = nodes.end; node-- > nodes.begin;) {
    for (const graph::Parameter& parameter : state.setup.graph.parameters_of(node)) {
      const schedule::ElementRange elements{parameter.offset,
                                            parameter.offset + parameter.shape.size()};
      const auto found = std::ranges::find_if(held, [&](const Elements& one) {
        return one.range.begin <= elements.begin && elements.end <= one.range.end;
      });
      if (found != held.end()) {
        const Tensor gradient = found->part(elements);
        std::vector<std::byte> host = to_host(places, place, gradient);
        if (first_not_finite(gradient.dtype(), host.data(), gradient.size())) {
          return node;
        }
      }
    }
  }
  return -1;
}

}  // namespace

std::string first_bad_output(const Places& places, const graph::Graph& graph) {
  const std::string found = first_of_all(
      places, graph, true, [&](std::size_t place) { return places.here[place]->first_bad; });
  return found.empty() ? "; every layer's output is finite, so it arose in the loss"
                       : "; the first layer with a value that is not finite is " + found;
}

std::string first_bad_gradient(const Places& places, const graph::Graph& graph) {
  const std::string found = first_of_all(
      places, graph, false, [&](std::size_t place) { return last_bad_gradient(places, place); });
  return found.empty() ? ", but the gradient of an update was not finite"
                       : ", but a gradient is not finite; going back through the layers, the first "
                         "with such a one is " +
                             found;
}

}  // namespace zygos::train
