// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/cards.hpp"

#include "zygos/core/error.hpp"
#include "zygos/schedule/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace zygos::plan {
namespace {

using schedule::CostFamily;

constexpr std::array table{
    Card{"a100", "NVIDIA A100 SXM 80 GB", 19.5e12, 9.7e12, 2.04e12, 80e9, 32e9},
    Card{"h100", "NVIDIA H100 SXM", 67e12, 34e12, 3.35e12, 80e9, 64e9},
    Card{"h200", "NVIDIA H200 SXM", 67e12, 34e12, 4.8e12, 141e9, 64e9},
    Card{"l40s", "NVIDIA L40S", 91.6e12, 1.43e12, 0.864e12, 48e9, 32e9},
    Card{"mi300x", "AMD Instinct MI300X", 163.4e12, 81.7e12, 5.3e12, 192e9, 64e9},
    Card{"rtx4090", "NVIDIA GeForce RTX 4090", 82.6e12, 1.29e12, 1.01e12, 24e9, 32e9},
    Card{"v100", "NVIDIA V100 SXM2 32 GB", 15.7e12, 7.8e12, 0.9e12, 32e9, 16e9},
};

/// What a card does with a model.
class CardCosts {
 public:
  CardCosts(const Card& card, const Problem& problem) : card_(card), problem_(problem) {}

  PlaceCosts costs() const {
    PlaceCosts costs;
    for (const schedule::NodeOutline& node : problem_.model.nodes) {
      costs.forward.push_back(pass(node, 1.0));
      // A backward pass has two products where a forward pass has one: of weights and of inputs.
      costs.backward.push_back(pass(node, 2.0));
    }
    for (const schedule::TaskTraits& kind : schedule::all_task_kinds()) {
      if (kind.cost != CostFamily::pass && kind.cost != CostFamily::in_pass &&
          kind.queue != schedule::Queue::file) {
        costs.others.emplace(kind.kind, other(kind.cost));
      }
    }
    return costs;
  }

 private:
  double flops_per_s() const {
    return assumed_share_of_peak *
           (problem_.model.element_bytes == 8 ? card_.f64_flops_per_s : card_.f32_flops_per_s);
  }

  /// `products`: of the layer's three, in a training step.
  Curve pass(const schedule::NodeOutline& node, double products) const {
    const auto bytes = static_cast<double>(sample_bytes(node));
    const double sample_s =
        std::max(products * node.flops / 3.0 / flops_per_s(), products * bytes / card_.bytes_per_s);
    const auto weights =
        static_cast<double>(node.parameters.count() * problem_.model.element_bytes);
    return straight_line(products * (assumed_launch_s + weights / card_.bytes_per_s), sample_s);
  }

  /// Read and written for a sample: inputs, output, what is kept for backward.
  std::int64_t sample_bytes(const schedule::NodeOutline& node) const {
    std::int64_t bytes = node.output_bytes + node.kept_bytes;
    for (const std::int32_t input : node.inputs) {
      bytes += input < 0 ? problem_.model.input_bytes
                         : problem_.model.nodes[static_cast<std::size_t>(input)].output_bytes;
    }
    return bytes;
  }

  Curve other(CostFamily family) const {
    const auto element = static_cast<double>(problem_.model.element_bytes);
    switch (family) {
      case CostFamily::samples:  // the loss
        return straight_line(2.0 * assumed_launch_s,
                             2.0 * static_cast<double>(problem_.model.nodes.back().output_bytes) /
                                 card_.bytes_per_s);
      case CostFamily::elements: {  // an update reads and writes weights and states, reads a
                                    // gradient
        const double streams = 3.0 + 2.0 * static_cast<double>(problem_.optimizer_states);
        return straight_line(assumed_launch_s, streams * element / card_.bytes_per_s);
      }
      case CostFamily::duplicate:
        return straight_line(assumed_launch_s, 2.0 / card_.bytes_per_s);
      case CostFamily::staging:
      case CostFamily::transfer:
      case CostFamily::pass:
      case CostFamily::in_pass:
        break;
    }
    return curve_of(lane::Link{.bytes_per_second = card_.link_bytes_per_s,
                               .latency_s = assumed_link_latency_s});
  }

  const Card& card_;
  const Problem& problem_;
};

}  // namespace

std::string Card::text() const {
  return fmt::format(
      "{}: {:g} TFLOP/s float, {:g} double, memory {:g} GB at {:g} TB/s, link {:g} GB/s", name,
      f32_flops_per_s / 1e12, f64_flops_per_s / 1e12, memory_bytes / 1e9, bytes_per_s / 1e12,
      link_bytes_per_s / 1e9);
}

std::span<const Card> cards() { return table; }

std::string card_keywords() {
  std::string known;
  for (const Card& card : table) {
    known += (known.empty() ? "" : ", ") + std::string(card.keyword);
  }
  return known;
}

const Card& card_of(std::string_view keyword) {
  const auto found = std::ranges::find(table, keyword, &Card::keyword);
  if (found == table.end()) {
    throw UsageError(
        fmt::format("no data sheet of '{}' is known; there are: {}", keyword, card_keywords()));
  }
  return *found;
}

PlaceProfile profile_of_card(const Card& card, const Problem& problem) {
  const PlaceCosts costs = CardCosts(card, problem).costs();
  return {.alone = costs, .together = costs};
}

}  // namespace zygos::plan
