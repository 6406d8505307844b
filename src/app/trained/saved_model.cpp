// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/trained/saved_model.hpp"

#include "app/run/resume_rules.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/weight_file.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace zygos::app {

namespace fs = std::filesystem;

namespace {

/// A run's folder, a checkpoint or an exported file; of a deck, the folder of its run.
fs::path place_of(const Invocation& invocation) {
  const fs::path target = invocation.target;
  if (fs::is_directory(target) || io::is_weight_file(target)) {
    return target;
  }
  return folder_of(load::load_deck(target, invocation.overrides), invocation.run_dir);
}

}  // namespace

load::SavedModel saved_model(const Invocation& invocation, Console& console) {
  const fs::path place = place_of(invocation);
  if (!fs::exists(place) && !io::is_weight_file(place)) {
    throw CheckpointError(fmt::format("{} holds no checkpoint; train first", place.string()));
  }
  return load::load_saved_model(place, invocation.best, invocation.overrides, console.sink());
}

}  // namespace zygos::app
