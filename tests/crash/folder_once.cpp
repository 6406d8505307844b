// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The folder of a run, for powercut.py to cut off. A run here is a checkpoint in its folder:
//   folder_once write DIR STEP    opens DIR/run, sets it aside if there was a run, commits STEP in
//   it folder_once recover -         for each DIR that stdin names: the steps of the newest
//   checkpoints
//                                 of all runs, how many have wrong bytes, whether the next run can
//                                 be opened and loses none
#include "app/run/run_folder.hpp"
#include "support/checkpoint_samples.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/checkpoint_store.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <string>

namespace {

using namespace zygos;
namespace fs = std::filesystem;

struct Found {
  std::set<std::int64_t> steps{};
  int wrong = 0;
};

void write(const fs::path& directory, std::int64_t step) {
  app::RunFolder run(directory / "run");
  if (run.used()) {
    run.set_aside();
  }
  const test::Samples samples = test::small_samples(step);
  io::CheckpointStore(run.checkpoints(), 2).write(step, samples.refs(), test::small_facts(step));
}

/// Of the newest checkpoint of a run.
void look_into(const fs::path& checkpoints, Found& found) {
  try {
    if (const auto newest = io::CheckpointStore(checkpoints, 2).load_newest()) {
      found.steps.insert(newest->step);
      found.wrong += !test::small_samples(newest->step).equal(*newest);
    }
  } catch (const CheckpointError&) {
    ++found.wrong;
  }
}

/// Both names of a folder may have survived a rename: its step counts once.
Found look(const fs::path& directory) {
  Found found;
  if (fs::exists(directory)) {
    for (const auto& run : fs::directory_iterator(directory)) {
      if (fs::exists(run.path() / "checkpoints")) {
        look_into(run.path() / "checkpoints", found);
      }
    }
  }
  return found;
}

bool goes_on(const fs::path& directory, Found before) {
  constexpr std::int64_t next = 7;
  write(directory, next);
  before.steps.insert(next);
  return look(directory).steps == before.steps;
}

int recover() {
  for (std::string directory; std::getline(std::cin, directory);) {
    const Found found = look(directory);
    std::string steps;
    for (const std::int64_t step : found.steps) {
      steps += (steps.empty() ? "" : " and ") + std::to_string(step);
    }
    std::printf("%s, %d wrong, %s\n", steps.empty() ? "none" : steps.c_str(), found.wrong,
                goes_on(directory, found) ? "goes on" : "does not go on");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    return 2;
  }
  try {
    if (argv[1] == std::string("recover")) {
      return recover();
    }
    write(argv[2], std::atol(argv[3]));
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
}
