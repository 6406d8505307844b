// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/comm/communicator.hpp"

#include <memory>
#include <vector>

namespace zygos::comm {

/// `size` ranks that are threads of this process: element r is rank r's communicator, to be moved
/// to that rank's thread. They may be destroyed in any order; a rank that is gone makes the waits
/// of the others throw. Sends wait for their receive, as the largest messages of MPI do. Throws
/// UsageError if size < 1.
std::vector<std::unique_ptr<Communicator>> in_process_group(int size, const Options& options = {});

}  // namespace zygos::comm
