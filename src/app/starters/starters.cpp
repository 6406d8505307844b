// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/starters/starters.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/csv_dataset.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

namespace zygos::app {

namespace fs = std::filesystem;

namespace {

void replace_all(std::string& text, std::string_view mark, std::string_view by) {
  for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + by.size())) {
    text.replace(at, mark.size(), by);
  }
}

}  // namespace

std::span<const Starter> starters() {
  static const std::array<Starter, 7> all{{
      {"mlp", "classes: drawn digits", starter_mlp},
      {"regression", "numbers from numbers: a smooth function", starter_regression},
      {"images", "classes of images, with convolutions", starter_images},
      {"text", "the next token of a sequence, with attention", starter_text},
      {"graph", "classes of the nodes of a graph", starter_graph},
      {"csv", "your own table NAME.csv", starter_csv},
      {"hdf5", "your own arrays in HDF5 files", starter_hdf5},
  }};
  return all;
}

std::string starter_kinds() {
  std::string kinds;
  for (const Starter& starter : starters()) {
    kinds += (kinds.empty() ? "" : "|") + std::string(starter.kind);
  }
  return kinds;
}

fs::path table_of(const fs::path& deck) { return fs::path(deck).replace_extension(".csv"); }

TableTargets targets_in(const fs::path& table) {
  TableTargets targets;
  if (!fs::exists(table)) {
    return targets;
  }
  try {
    io::load_csv_dataset(table, {.inputs = {}, .targets = {}, .labels = false, .categories = {}});
    return targets;
  } catch (const Error&) {
    // Perhaps the targets are no numbers.
  }
  try {
    const io::Dataset data = io::load_csv_dataset(
        table, {.inputs = {}, .targets = {}, .labels = true, .categories = {}});
    return {.outputs = data.classes, .loss = "cross_entropy"};
  } catch (const Error&) {
    return targets;  // what is wrong with the table, `zygos check` tells
  }
}

std::string starter_deck(std::string_view kind, const fs::path& file) {
  const auto all = starters();
  const auto found = std::ranges::find(all, kind, &Starter::kind);
  ZYGOS_REQUIRE(found != all.end(), "the parser accepted an unknown kind of deck");
  std::string text = std::string(starter_head) + std::string(found->deck);
  replace_all(text, "@FILE@", file.string());
  if (kind == "csv") {
    const TableTargets targets = targets_in(table_of(file));
    replace_all(text, "@TABLE@", table_of(file).filename().string());
    replace_all(text, "@OUTPUTS@", std::to_string(targets.outputs));
    replace_all(text, "@LOSS@", targets.loss);
  }
  return text;
}

}  // namespace zygos::app
