// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Surrogates of several ranks that learn as one. Nothing else in zygos::insitu sends a message: a
// rank trains, predicts, or skips both, when it likes. The functions here are collective: every
// rank of the communicator calls them, in the same order. Link zygos::insitu_ranks.
//
//   const auto ranks = comm::mpi_communicator(MPI_COMM_WORLD);
//   insitu::share_standards(net, samples, *ranks);        // once, when samples are there
//   net.train(samples, {.budget = 500us});                // on each rank, on its own samples
//   insitu::average(net, *ranks, report.steps);           // now and then
#pragma once

#include "zygos/comm/communicator.hpp"
#include "zygos/insitu/surrogate.hpp"

namespace zygos::insitu {

/// Standardises every rank's samples by mean and deviation of the samples that all ranks have seen.
/// Moments are merged in rank order (count, mean and squared deviations as Chan, Golub and LeVeque,
/// 1979), so all ranks get the same bits.
void share_standards(Surrogate& net, const Reservoir& reservoir, comm::Communicator& ranks);

/// Weights and optimizer states become their mean over the ranks, each counted with its weight, 0
/// or more, such as the steps that it made since the last time; the same bits everywhere. With
/// weights of 0 on all ranks nothing changes. (Local SGD: Stich, ICLR 2019.) Everything passes
/// through host memory. Throws UsageError, on all ranks, if their standards, networks or weights do
/// not allow it.
void average(Surrogate& net, comm::Communicator& ranks, double weight = 1.0);

}  // namespace zygos::insitu
