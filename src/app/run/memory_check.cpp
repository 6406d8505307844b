// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/run/memory_check.hpp"

#include "app/run/build_run.hpp"

#include "zygos/comm/communicator.hpp"
#include "zygos/core/error.hpp"
#include "zygos/memory/bytes.hpp"

#include <fmt/format.h>

namespace zygos::app {

namespace {

std::uint64_t bytes_in_memory(const io::Dataset& data) {
  return data.source == nullptr ? data.inputs.bytes() + data.targets.bytes() : 0;
}

bool is_here(const RunSetup& setup, std::size_t lane) {
  return !setup.on_several_ranks() || setup.owners[lane] == setup.communicator->rank();
}

}  // namespace

HostNeeds host_needs(const RunSetup& setup, const std::vector<plan::LaneMemory>& memory) {
  HostNeeds needs;
  needs.data = bytes_in_memory(setup.training) + (setup.test ? bytes_in_memory(*setup.test) : 0);
  for (std::size_t lane = 0; lane < memory.size(); ++lane) {
    if (is_here(setup, lane)) {
      const bool device = (*setup.lanes)[lane].spec().kind == lane::Kind::device;
      needs.lanes += memory[lane].staging.total() + (device ? 0 : memory[lane].lane.total());
    }
  }
  if (!setup.on_several_ranks() || setup.communicator->rank() == 0) {
    const auto tensors = 1 + setup.optimizer->state_names().size();
    needs.checkpoints = static_cast<std::uint64_t>(setup.graph->parameter_elements()) *
                        size_of(wide(setup.dtype)) * tensors;
  }
  return needs;
}

void require_within_machine(const HostNeeds& needs, std::uint64_t usable) {
  if (needs.total() <= usable) {
    return;
  }
  const auto text = [](std::uint64_t bytes) {
    return memory::text_of_bytes(static_cast<std::size_t>(bytes));
  };
  throw MemoryError(fmt::format(
      "this process needs {} of host memory ({} for data, {} for lanes, {} to write checkpoints "
      "from) and may use {}, the memory of this machine or of its control group; use a smaller "
      "batch or model, more micro-batches or another memory_plan, or read the data from a file "
      "(data.in_memory: false)",
      text(needs.total()), text(needs.data), text(needs.lanes), text(needs.checkpoints),
      text(usable)));
}

}  // namespace zygos::app
