// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// HDF5 walks through a file by the addresses in it, and versions of it crash or loop on some files
// that are damaged or made to harm. What reads a file's structure for the first time does so in a
// child process, where that is a finding and no end of the run.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace zygos::io {

/// What a child process may take.
struct ChildLimits {
  int cpu_s = 30;
  int wall_s = 120;                           ///< waiting for a slow file system is no fault
  std::size_t memory = std::size_t{2} << 30;  ///< beyond what this process has
};

/// Runs `work` in a child process, without output; the child's memory and all it does to it is gone
/// afterwards. Returns how it ended if it did not return: "crashes (Segmentation fault)", "does not
/// end within 30 s of processor time". Empty if it returned or threw, if the wall clock ended it,
/// and if the system has no process for it.
std::string fault_in_child(const std::function<void()>& work, const ChildLimits& limits = {});

}  // namespace zygos::io
