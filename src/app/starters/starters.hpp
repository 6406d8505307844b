// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Decks to begin with, one for every kind of problem: the YAML files of this folder, compiled in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace zygos::app {

extern const std::string_view starter_head;  ///< above every starter
extern const std::string_view starter_mlp;
extern const std::string_view starter_regression;
extern const std::string_view starter_images;
extern const std::string_view starter_text;
extern const std::string_view starter_graph;
extern const std::string_view starter_csv;
extern const std::string_view starter_hdf5;

struct Starter {
  std::string_view kind;
  std::string_view about;
  std::string_view deck;
};

std::span<const Starter> starters();
/// "mlp|regression|..."
std::string starter_kinds();
/// What is predicted from a table.
struct TableTargets {
  std::int64_t outputs = 1;
  std::string loss = "mse";
};

/// The table that a deck of kind csv is for: beside it, and of its name.
std::filesystem::path table_of(const std::filesystem::path& deck);
/// Classes where the last column of a table has texts, a number where it has numbers, and where
/// there is no such table.
TableTargets targets_in(const std::filesystem::path& table);
/// The deck for `file`, whose name it tells its reader. `kind` must be one of starters().
std::string starter_deck(std::string_view kind, const std::filesystem::path& file);

}  // namespace zygos::app
