// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/layer_costs.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace zygos::measure {
namespace {

using schedule::TaskKind;

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// What each task has beside its kernels; the point with the least is the one with the least noise.
double fixed_part(const std::vector<PassTimes>& points) {
  double least = std::numeric_limits<double>::infinity();
  for (const PassTimes& point : points) {
    const auto others = static_cast<double>(point.node_s.size()) - 1.0;
    const double extra = others > 0.0 ? (sum(point.node_s) - point.whole_s) / others : 0.0;
    least = std::min({least, std::max(0.0, extra), 0.5 * point.whole_s});
  }
  return points.empty() ? 0.0 : least;
}

std::vector<plan::Curve> curves_of(const std::vector<PassTimes>& points, double fixed_s) {
  std::vector<plan::Curve> curves;
  for (const PassTimes& point : points) {
    curves.resize(point.node_s.size());
    std::vector<double> kernels;
    for (const double seconds : point.node_s) {
      kernels.push_back(std::max(0.0, seconds - fixed_s));
    }
    const double all_s = sum(kernels);
    const double to_share_s = std::max(0.0, point.whole_s - fixed_s);
    for (std::size_t node = 0; node < kernels.size(); ++node) {
      const double part =
          all_s > 0.0 ? kernels[node] / all_s : 1.0 / static_cast<double>(kernels.size());
      curves[node].set(point.samples, to_share_s * part);
    }
  }
  return curves;
}

}  // namespace

void set_passes(plan::PlaceCosts& costs, const std::vector<PassTimes>& forward,
                const std::vector<PassTimes>& backward) {
  costs.pass_s = std::min(fixed_part(forward), fixed_part(backward));
  costs.forward = curves_of(forward, costs.pass_s);
  costs.backward = curves_of(backward, costs.pass_s);
}

void share_out(double seconds, schedule::NodeRange nodes, std::int64_t samples,
               const std::vector<plan::Curve>& curves, std::vector<double>& by_node) {
  by_node.resize(curves.size(), 0.0);
  double all_s = 0.0;
  for (auto node = nodes.begin; node < nodes.end; ++node) {
    all_s += curves.at(static_cast<std::size_t>(node)).at(samples);
  }
  for (auto node = nodes.begin; node < nodes.end && all_s > 0.0; ++node) {
    const auto index = static_cast<std::size_t>(node);
    by_node[index] = seconds * curves[index].at(samples) / all_s;
  }
}

void set_whole_pass(plan::PlaceCosts& costs, const plan::PlaceCosts& base, TaskKind kind,
                    std::int64_t samples, double seconds) {
  const auto& from = base.of(kind);
  auto& to = costs.of(kind);
  const schedule::NodeRange all{0, static_cast<std::int32_t>(from.size())};
  std::vector<double> by_node;
  share_out(std::max(0.0, seconds - base.pass_s), all, samples, from, by_node);
  costs.pass_s = base.pass_s;
  to.resize(from.size());
  for (std::size_t node = 0; node < by_node.size(); ++node) {
    to[node].set(samples, by_node[node]);
  }
}

void raise_pass(plan::PlaceCosts& costs, TaskKind kind, std::int64_t samples, double seconds) {
  auto& curves = costs.of(kind);
  const schedule::NodeRange all{0, static_cast<std::int32_t>(curves.size())};
  if (all.count() == 0) {
    return;
  }
  std::vector<double> by_node;
  const double more_s = std::max(0.0, seconds - costs.pass_seconds(kind, all, samples));
  share_out(more_s, all, samples, curves, by_node);
  for (std::size_t node = 0; node < curves.size(); ++node) {
    curves[node] = curves[node].raised(by_node[node]);
  }
}

void anchor(plan::PlaceCosts& costs) {
  for (auto& [kind, curve] : costs.others) {
    if (kind != TaskKind::loss && curve.points().size() == 1 && curve.points()[0].first > 0) {
      curve.add(0, std::min(costs.pass_s, curve.points()[0].second));
    }
  }
}

}  // namespace zygos::measure
