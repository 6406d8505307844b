// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// GPUs by their data sheets: what a split with a card would be worth, before anyone has the card.
#pragma once

#include "zygos/plan/problem.hpp"
#include "zygos/plan/profile.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace zygos::plan {

/// Peak rates as the vendor states them: of dense products without sparsity and without tensor
/// cores.
struct Card {
  std::string_view keyword;
  std::string_view name;
  double f32_flops_per_s;
  double f64_flops_per_s;
  double bytes_per_s;  ///< of its memory
  double memory_bytes;
  double link_bytes_per_s;  ///< to the host, one direction

  /// One line: name, rates, memory.
  std::string text() const;
};
std::span<const Card> cards();
/// "a100, h100, ...".
std::string card_keywords();
/// Throws UsageError that lists the keywords.
const Card& card_of(std::string_view keyword);

/// What is assumed of every card, on the safe side of what large kernels reach.
inline constexpr double assumed_share_of_peak = 0.6;
inline constexpr double assumed_launch_s = 5e-6;         ///< of a kernel
inline constexpr double assumed_link_latency_s = 10e-6;  ///< of a message

/// Costs of a place that is such a card, by rooflines: a layer takes the launches of its kernels
/// and the longer of its operations at the assumed share of the peak rate and its bytes at the
/// memory's (Williams, Waterman and Patterson, "Roofline", 2009). Nothing of it was measured.
PlaceProfile profile_of_card(const Card& card, const Problem& problem);

}  // namespace zygos::plan
