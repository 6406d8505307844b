// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// For programs that have an MPI communicator of their own; only installed with builds that have
// MPI. `zygos/comm/mpi_session.hpp` needs no mpi.h.
#pragma once

#include "zygos/comm/communicator.hpp"

#include <mpi.h>

#include <memory>

namespace zygos::comm {

/// Ranks of `communicator`, on a duplicate of it, so that no message meets one of the caller's.
/// Collective over `communicator`; MPI must be initialised (MPI_THREAD_FUNNELED or more) and stay
/// so until the result is destroyed, which is collective, too: it waits up to 10 s for the other
/// ranks, unless one has failed, so that the duplicate is freed on all or on none. All calls, this
/// one included, come from one thread. Buffers are host memory. Throws UsageError if MPI is not
/// initialised.
std::unique_ptr<Communicator> mpi_communicator(MPI_Comm communicator, const Options& options = {});

}  // namespace zygos::comm
