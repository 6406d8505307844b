// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/roofline.hpp"

#include <algorithm>

namespace zygos::plan {
namespace {

double rate(double work, double seconds) { return seconds > 0.0 ? work / seconds : 0.0; }

}  // namespace

std::string_view name_of(OpPass pass) {
  switch (pass) {
    case OpPass::forward:
      return "forward";
    case OpPass::loss:
      return "loss";
    case OpPass::backward:
      return "backward";
    case OpPass::update:
      return "update";
  }
  return "";
}

double OpTime::flops_per_s() const { return rate(cost.flops, seconds); }

double OpTime::bytes_per_s() const { return rate(cost.bytes, seconds); }

double min_seconds(const PeakRates& peak, const nn::Cost& cost) {
  return std::max(rate(cost.flops, peak.flops_per_s), rate(cost.bytes, peak.bytes_per_s));
}

double share_of_peak(const PeakRates& peak, const OpTime& op) {
  return rate(min_seconds(peak, op.cost), op.seconds);
}

std::vector<OpTime> by_type(const std::vector<OpTime>& ops) {
  std::vector<OpTime> groups;
  std::vector<int> counts;
  for (const OpTime& op : ops) {
    const auto found = std::ranges::find_if(groups, [&](const OpTime& group) {
      return group.type == op.type && group.pass == op.pass;
    });
    const auto index = static_cast<std::size_t>(found - groups.begin());
    if (found == groups.end()) {
      groups.push_back({op.name, op.type, op.pass, {}, 0.0});
      counts.push_back(0);
    }
    groups[index].cost += op.cost;
    groups[index].seconds += op.seconds;
    ++counts[index];
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i].name = groups[i].type + " (" + std::to_string(counts[i]) + ")";
  }
  return groups;
}

OpTime sum_of(const std::vector<OpTime>& ops) {
  OpTime sum;
  for (const OpTime& op : ops) {
    sum.cost += op.cost;
    sum.seconds += op.seconds;
  }
  return sum;
}

}  // namespace zygos::plan
