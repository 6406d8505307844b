// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/launcher.hpp"

#include "zygos/comm/in_process.hpp"
#include "zygos/comm/mpi_session.hpp"

#include <cstdlib>

namespace zygos::comm {

bool mpi_available() noexcept { return false; }

MpiSession::MpiSession() {
  const int processes = launched_processes([](const char* name) { return std::getenv(name); });
  if (processes > 1) {
    throw UsageError("started as one of " + std::to_string(processes) +
                     " processes, but this is a build without MPI: configure with "
                     "ZYGOS_ENABLE_MPI=ON, or start one process");
  }
}

MpiSession::~MpiSession() = default;

std::unique_ptr<Communicator> MpiSession::world(const Options& options) const {
  return std::move(in_process_group(1, options).front());
}

void MpiSession::kill(ExitCode) const noexcept {}

}  // namespace zygos::comm
