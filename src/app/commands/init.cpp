// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.hpp"

#include "zygos/io/atomic_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string_view>

namespace zygos::app {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view mlp_deck =
    R"(# A starter deck for Zygos: a small network that learns drawn digits. It needs no file.
#
#   zygos check {0}     finds mistakes and shows shapes and memory
#   zygos plan {0}      tells whether splitting pays on this machine
#   zygos train {0}     trains; the same command again continues or starts anew
#   zygos explain KEY   explains any key, e.g. optimizer.learning_rate
deck_version: 1

data:
  format: glyphs          # drawn on the fly; format: idx or hdf5 reads files
  samples: 20000
  test_samples: 2000

model:                    # from the sample's shape to 10 classes
  layers:
    - {{type: dense, units: 128, activation: relu}}
    - {{type: dropout, rate: 0.1}}
    - {{type: dense, units: 10}}
  loss: cross_entropy

optimizer:
  type: adam
  learning_rate: 0.001

lanes:
  host:
    kind: host            # OpenMP; threads: auto takes the cores that are free
  device:
    kind: auto            # a GPU if there is one, an emulated device otherwise

policy:                   # how a batch is divided between the lanes
  type: coarse_split
  share: auto             # the host's share, measured; a number such as 0.4 fixes it

train:
  epochs: 5
  batch: 100

checkpoint:
  every: 1 epoch
  keep: 3
)";

fs::path deck_file(const std::string& name) {
  const fs::path path = name;
  if (path.extension() == ".yaml" || path.extension() == ".yml") {
    return path;
  }
  return path.string() + ".yaml";
}

}  // namespace

ExitCode run_init(const Invocation& invocation, Console& console) {
  const fs::path file = deck_file(invocation.target);
  if (fs::exists(fs::symlink_status(file))) {
    throw UsageError(fmt::format("{} is there already and is not overwritten; choose another name",
                                 file.string()));
  }
  io::write_file_atomically(file, fmt::format(fmt::runtime(mlp_deck), file.string()));
  console.say(fmt::format("wrote {}; train it with: zygos train {}", file.string(), file.string()));
  if (console.wants_json()) {
    console.json({{"deck", file.string()}});
  }
  return ExitCode::done;
}

}  // namespace zygos::app
