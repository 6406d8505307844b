// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// From a deck to the objects of a run. Whatever is wrong with the deck, the shapes of its layers
// included, is found here and reported at the line it stands in.
#pragma once

#include "app/command_line.hpp"
#include "app/plan/plan_report.hpp"
#include "app/run/ranks.hpp"
#include "app/run/run_setup.hpp"

#include "zygos/load/deck_file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace zygos::app {

/// What the command line adds to a deck.
struct BuildOptions {
  std::optional<int> threads;  ///< of the host lane
  std::vector<std::string> kokkos_arguments;
  std::int64_t max_batches = 0;  ///< unless 0: enough training samples for so many, no test set
  bool evaluates_test =
      false;  ///< data.test is evaluated, if there is one, and not data.validation
};
BuildOptions build_options(const Invocation& invocation);

/// Initialises Kokkos, reads the data, builds model, lanes, optimizer and policy.
RunSetup build_run(const load::CheckedDeck& checked, const BuildOptions& options);
/// Collective: the same, with the deck's lanes dealt out to the ranks. Requires the same deck and
/// the same data everywhere.
RunSetup build_run(const load::CheckedDeck& checked, const BuildOptions& options,
                   const Ranks& ranks);

/// For reports about a run.
PlanSubject plan_subject(const RunSetup& setup);

}  // namespace zygos::app
