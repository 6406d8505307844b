// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/launcher.hpp"

#include <algorithm>
#include <cstdlib>

namespace zygos::comm {
namespace {

/// The variable's value if it is a number from 0 on, else -1.
int number(const Environment& environment, const char* name) {
  const char* const text = environment(name);
  if (text == nullptr || *text == '\0') {
    return -1;
  }
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  return *end == '\0' && value >= 0 && value < 1 << 30 ? static_cast<int>(value) : -1;
}

}  // namespace

int launched_processes(const Environment& environment) {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const int size = number(environment, name);
    if (size > 0) {
      return size;
    }
  }
  const int rank = number(environment, "PMIX_RANK");
  // PMIx tells ranks only. Slurm's own count is trusted only where PMIx is in use: an allocation's
  // shell has it, too.
  return rank < 0 ? 0 : std::max(rank + 1, number(environment, "SLURM_STEP_NUM_TASKS"));
}

}  // namespace zygos::comm
