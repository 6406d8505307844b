// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/comm/nccl.hpp"
#include "zygos/core/error.hpp"

namespace zygos::comm {

bool nccl_available() noexcept { return false; }

std::unique_ptr<NcclCommunicator> nccl_communicator(Communicator&, void*, const Options&) {
  throw UsageError(
      "communication over NCCL: this is a build without it; configure with ZYGOS_ENABLE_NCCL=ON "
      "and ZYGOS_DEVICE=cuda");
}

}  // namespace zygos::comm
