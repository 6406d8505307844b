// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/comm/mpi_session.hpp"

#include "comm/launcher.hpp"
#include "comm/mpi_calls.hpp"

#include "zygos/comm/in_process.hpp"
#include "zygos/comm/mpi.hpp"

#include <cstdlib>

namespace zygos::comm {
namespace {

/// MPI started as many processes as the launcher did; else the two do not belong together.
void require_company(int launched) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (launched > 1 && size == 1) {
    MPI_Finalize();
    throw UsageError("a launcher started " + std::to_string(launched) +
                     " processes, but MPI sees only this one: use the mpirun of the MPI that "
                     "Zygos was built with");
  }
}

}  // namespace

bool mpi_available() noexcept { return true; }

MpiSession::MpiSession() {
  if (mpi_is_initialised()) {
    active_ = true;
    return;
  }
  const int launched = launched_processes([](const char* name) { return std::getenv(name); });
  if (launched == 0) {
    return;
  }
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  require_company(launched);
  active_ = true;
  initialised_here_ = true;
}

MpiSession::~MpiSession() {
  if (initialised_here_) {
    MPI_Finalize();
  }
}

std::unique_ptr<Communicator> MpiSession::world(const Options& options) const {
  return active_ ? mpi_communicator(MPI_COMM_WORLD, options)
                 : std::move(in_process_group(1, options).front());
}

void MpiSession::kill(ExitCode code) const noexcept {
  if (active_) {
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(code));
  }
}

}  // namespace zygos::comm
