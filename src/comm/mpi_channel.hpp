// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/comm/communicator.hpp"

#include <mpi.h>

#include <functional>
#include <memory>

namespace zygos::comm {

/// A channel of persistent requests. A message is cut into whole parts of Options::part_bytes and a
/// last part that is always shorter, if only an empty one: so a receiver of another size meets a
/// part of another size, in each case, and notices. `pause` is called when there was nothing to do.
std::unique_ptr<Channel> mpi_channel(Communicator& owner, const Message& message, void* buffer,
                                     MPI_Comm communicator, std::function<void()> pause);

}  // namespace zygos::comm
