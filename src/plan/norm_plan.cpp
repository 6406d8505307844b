// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/norm_plan.hpp"

#include <algorithm>

namespace zygos::plan {
namespace {

using schedule::ElementRange;

/// A piece is worth starting a thread for; a sum has no more than `most` of them, so that they are
/// soon summed.
constexpr std::int64_t shortest = 16384;
constexpr std::int64_t most = 1024;

void add_pieces(ElementRange elements, std::int64_t length, std::vector<ElementRange>& pieces) {
  for (std::int64_t begin = elements.begin; begin < elements.end; begin += length) {
    pieces.push_back({begin, std::min(elements.end, begin + length)});
  }
}

/// Of all elements of a sum but statistics, which are not trained.
void add_sum(const graph::Graph& graph, ElementRange sum, std::vector<ElementRange>& pieces) {
  const std::int64_t length = std::max(shortest, (sum.count() + most - 1) / most);
  std::int64_t begin = sum.begin;
  for (const graph::Parameter& parameter : graph.parameters()) {
    const ElementRange left_out{std::max(parameter.offset, begin),
                                std::min(parameter.offset + parameter.shape.size(), sum.end)};
    if (parameter.statistic && left_out.count() > 0) {
      add_pieces({begin, left_out.begin}, length, pieces);
      begin = left_out.end;
    }
  }
  add_pieces({begin, sum.end}, length, pieces);
}

}  // namespace

NormPlan norm_plan(const graph::Graph& graph, const schedule::TasksByPlace& tasks,
                   schedule::Place place) {
  NormPlan out;
  out.own = schedule::sums_of(tasks, place);
  if (out.own.count() == 0) {
    return out;
  }
  const auto sums = schedule::square_sums(tasks.schedule());
  out.sums = std::ssize(sums);
  for (std::int32_t sum = out.own.begin; sum < out.own.end; ++sum) {
    out.first.push_back(std::ssize(out.pieces));
    add_sum(graph, sums[static_cast<std::size_t>(sum)], out.pieces);
  }
  out.first.push_back(std::ssize(out.pieces));
  return out;
}

}  // namespace zygos::plan
