// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The roofline model: what an op took beside the least that its work can take on a lane (Williams,
// Waterman and Patterson, "Roofline: an insightful visual performance model", 2009).
#pragma once

#include "zygos/nn/layer.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace zygos::plan {

/// Peak rates of a lane, as measured on it.
struct PeakRates {
  double flops_per_s = 0.0;  ///< of a large matrix product
  double bytes_per_s = 0.0;  ///< of a sum of vectors that no cache holds
};

enum class OpPass { forward, loss, backward, update };
std::string_view name_of(OpPass pass);

/// One layer in one direction, the loss or the update of a training step, and what it took.
struct OpTime {
  std::string name;  ///< of the layer; of the loss and the optimizer their keyword
  std::string type;  ///< keyword
  OpPass pass = OpPass::forward;
  nn::Cost cost;
  double seconds = 0.0;

  double flops_per_s() const;  ///< 0 where no time was measured
  double bytes_per_s() const;
};

/// Lower bound of the time of the work: its operations at the product's rate or its bytes at the
/// memory's, whichever is longer.
double min_seconds(const PeakRates& peak, const nn::Cost& cost);
/// Share of the peak that an op reaches: 1 is the peak itself. Above 1 where caches hold what it
/// reads. 0 where no time was measured.
double share_of_peak(const PeakRates& peak, const OpTime& op);

/// Ops of the same type and pass as one, named "dense (12)"; in the order of their first.
std::vector<OpTime> by_type(const std::vector<OpTime>& ops);

/// Work and time of all of them.
OpTime sum_of(const std::vector<OpTime>& ops);

}  // namespace zygos::plan
