// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// HDF5 walks through a file by the addresses and lengths in it, and versions of it crash, loop or
// take gigabytes on some files that are damaged or made to harm. What reads a file's structure for
// the first time does so in a child process, where that is a finding and no end of the run.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace zygos::io {

/// What a child process may take.
struct ChildLimits {
  int cpu_s = 30;
  int wall_s = 120;                           ///< waiting for a slow file system is no fault
  std::size_t memory = std::size_t{1} << 30;  ///< beyond what this process has
};

/// Of a child that reads what describes the contents of a file, which takes less than the file.
inline ChildLimits limits_for_file(std::size_t bytes) {
  return {.memory = (std::size_t{256} << 20) + bytes};
}

struct ChildOutcome {
  /// How it ended if it did not return: "crashes (Segmentation fault)", "does not end within 30 s
  /// of processor time". Empty as well if the wall clock ended it, and if there is no process.
  std::string fault;
  std::string said;  ///< what the work returned
};

/// Runs `work` in a child process, without output; all that it does to memory is gone afterwards.
/// What it throws counts as an empty text.
ChildOutcome run_in_child(const std::function<std::string()>& work, const ChildLimits& limits = {});

}  // namespace zygos::io
