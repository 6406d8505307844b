// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/console.hpp"
#include "app/shell/command_facts.hpp"

#include "zygos/core/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zygos::app {

/// What the user asked for, as plain values. Options that a command does not have keep defaults.
struct Invocation {
  std::string command;
  std::string target;                  ///< deck, run folder, checkpoint, key or name
  std::vector<std::string> overrides;  ///< "key.path=value"; compare: other decks, too
  std::optional<int> threads;          ///< of the host lane
  std::string run_dir;
  bool fresh = false;
  bool best = false;                     ///< eval, predict, export, inspect
  bool fresh_profile = false;            ///< train, resume, plan, compare, simulate,
                                         ///< schedule
  bool unmeasured = false;               ///< train, resume, sweep
  std::string assume;                    ///< plan: keyword of a card
  std::optional<std::int64_t> trials{};  ///< plan; empty: what the deck's policy says
  bool measured = false;                 ///< schedule
  std::string policies;                  ///< compare
  std::optional<std::int64_t> steps{};   ///< bench, compare, find-rate
  std::int64_t warmup = 10;              ///< bench
  bool forward = false;                  ///< bench
  bool ops = false;                      ///< bench
  std::int64_t workers = 8;              ///< simulate
  std::int64_t seeds = 1;                ///< sweep
  std::int64_t jobs = 1;                 ///< sweep
  std::string runs_dir;                  ///< sweep; empty: runs/<deck name>_sweep
  double from = 1e-6;                    ///< find-rate
  double to = 10.0;                      ///< find-rate
  std::string link;                      ///< simulate: "bandwidth,latency"; empty: as measured
  std::string kind = "mlp";              ///< init
  std::vector<std::string> words;        ///< explain: behind the first
  bool markdown = false;                 ///< schema
  std::string output;                    ///< report, predict, export, import, schedule
  std::vector<std::string> beside;       ///< report: folders of other runs
  std::string input;                     ///< predict; empty: the test set
  std::string dataset;                   ///< predict: in an HDF5 file; empty: as the deck
  std::optional<std::int64_t> batch{};   ///< predict
  bool classes = false;                  ///< predict
  bool probabilities = false;            ///< predict
  ConsoleOptions console;
  std::vector<std::string> kokkos_arguments;  ///< "--kokkos-...", for Kokkos itself
};

/// "key.path=value"
bool is_override(const std::string& word);
/// What every command takes.
std::vector<CommandFacts> described_commands();

/// Either an invocation to run, or text to print (help, version, a refusal) with its exit code.
struct Parsed {
  std::optional<Invocation> invocation;
  std::string text;
  ExitCode code = ExitCode::done;
  bool has_layout = false;  ///< text that is printed as it is, even if refused
  bool json = false;        ///< known even when the rest was refused
};

/// Never throws for anything a user may type.
Parsed parse_command_line(int argc, const char* const* argv);

}  // namespace zygos::app
