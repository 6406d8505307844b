// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// MPI for a program that owns main() and has no MPI of its own. Exists in every build.
#pragma once

#include "zygos/comm/communicator.hpp"
#include "zygos/core/error.hpp"

#include <memory>

namespace zygos::comm {

/// Whether this build has MPI (ZYGOS_ENABLE_MPI).
bool mpi_available() noexcept;

/// Initialises MPI if this process was started by mpirun, srun or the like, which its environment
/// tells, and finalises what it initialised. A program started plainly pays nothing. One at a time,
/// made and destroyed by the thread that communicates.
class MpiSession {
 public:
  /// Throws UsageError if a launcher started several processes and this build has no MPI, or MPI
  /// does not see the others: they would all do the same work, unaware of each other.
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  /// Whether MPI is in use.
  bool active() const noexcept { return active_; }
  /// Collective. All processes that were started together; a group of one (in-process) if MPI is
  /// not in use. Must be destroyed before the session.
  std::unique_ptr<Communicator> world(const Options& options = {}) const;
  /// Ends all processes that were started together with this exit code, at once; does nothing if
  /// MPI is not in use. For a rank that has failed and has said why: finalising would wait for the
  /// rest.
  void kill(ExitCode code) const noexcept;

 private:
  bool active_ = false;
  bool initialised_here_ = false;
};

}  // namespace zygos::comm
