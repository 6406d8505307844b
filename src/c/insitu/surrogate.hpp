// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "c/in_use.hpp"
#include "c/session.hpp"

#include "zygos/core/dtype.hpp"
#include "zygos/infer/samples.hpp"
#include "zygos/insitu/deck.hpp"
#include "zygos/insitu/ensemble.hpp"
#include "zygos/insitu/surrogate.hpp"
#include "zygos/lane/spaces.hpp"
#include "zygos/zygos_insitu.h"

#include <atomic>
#include <cstdint>
#include <variant>
#include <vector>

/// A network or several, their samples, and the instance on which both work.
struct zygos_surrogate {
  /// What an input file says of training, without anything if there is none.
  using Limits = zygos::insitu::TrainOptions;

  using Net = std::variant<zygos::insitu::Surrogate, zygos::insitu::Ensemble>;

  /// Throws UsageError for options that make no sense, MemoryError.
  zygos_surrogate(zygos_session& session, const zygos::insitu::SurrogateSpec& spec, int threads);

  /// The surrogate for the length of a call. Throws UsageError while another thread has it, and
  /// for one of several threads within a parallel region of the caller.
  zygos::c::InUse use();
  const zygos::graph::Graph& graph() const;

  const zygos::c::Registration registration;  // first: leaves the session last
  const int threads;
  const zygos::lane::Execution execution;
  const zygos::DType dtype;  ///< of activations
  const Limits limits;
  Net net;
  zygos::insitu::Reservoir samples;
  std::atomic_flag in_use = ATOMIC_FLAG_INIT;
  std::vector<zygos::infer::Samples> from{};  ///< of the last call: memory for the next
  std::vector<zygos::infer::Samples> to{};
};
