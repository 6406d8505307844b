// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/run/memory_check.hpp"

#include "app/run/build_run.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/checkpoint_writer.hpp"
#include "zygos/memory/bytes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace zygos::app {

namespace {

/// One lane has all of the state in memory that checkpoints can be copied from; else it is gathered
/// first.
bool lies_in_one_memory(const RunSetup& setup, const std::vector<plan::LaneMemory>& memory) {
  std::size_t active = 0;
  bool at_hand = true;
  for (std::size_t lane = 0; lane < memory.size(); ++lane) {
    if (memory[lane].active) {
      ++active;
      at_hand = (*setup.lanes)[lane].spec().kind != lane::Kind::device &&
                memory[lane].file.usage()[memory::Category::optimizer_state] == 0;
    }
  }
  return active == 1 && at_hand;
}

RunNeeds run_needs(const RunSetup& setup, const std::vector<plan::LaneMemory>& memory) {
  RunNeeds needs;
  needs.data = setup.data_bytes();
  for (std::size_t lane = 0; lane < memory.size(); ++lane) {
    const lane::Kind kind = (*setup.lanes)[lane].spec().kind;
    const bool assumed = setup.assumed_card != nullptr && kind != lane::Kind::host;
    needs.lanes.push_back(plan::host_bytes(memory[lane], assumed ? lane::Kind::device : kind));
  }
  const auto tensors = 1 + setup.optimizer->state_names().size();
  needs.checkpoints = static_cast<std::uint64_t>(setup.graph->parameter_elements()) *
                      size_of(wide(setup.dtype)) * tensors;
  if (!setup.on_several_ranks() && !lies_in_one_memory(setup, memory)) {
    needs.checkpoints *= 2;
  }
  return needs;
}

}  // namespace

HostNeeds needs_of(const RunNeeds& run, const std::vector<int>& owners,
                   const std::vector<int>& ranks) {
  const auto is_here = [&](int rank) { return std::ranges::find(ranks, rank) != ranks.end(); };
  const bool several = !owners.empty();
  HostNeeds needs;
  needs.processes = several ? ranks.size() : 1;
  needs.data = run.data * needs.processes;
  for (std::size_t lane = 0; lane < run.lanes.size(); ++lane) {
    needs.lanes += !several || is_here(owners.at(lane)) ? run.lanes[lane] : 0;
  }
  needs.checkpoints = !several || is_here(0) ? run.checkpoints : 0;
  return needs;
}

bool streams_checkpoints(std::optional<bool> wanted, bool several_ranks, const HostNeeds& whole,
                         std::uint64_t usable) {
  return wanted.value_or(!several_ranks && whole.total() > usable);
}

bool streams_checkpoints(const RunSetup& setup, const std::vector<plan::LaneMemory>& memory,
                         std::uint64_t usable) {
  const HostNeeds whole = needs_of(run_needs(setup, memory), setup.owners, setup.on_this_host);
  return streams_checkpoints(setup.streams_checkpoints, setup.on_several_ranks(), whole, usable);
}

HostNeeds host_needs(const RunSetup& setup, const std::vector<plan::LaneMemory>& memory,
                     std::uint64_t usable) {
  RunNeeds run = run_needs(setup, memory);
  if (streams_checkpoints(setup, memory, usable)) {
    run.checkpoints = io::CheckpointWriter::staging_bytes;
  }
  HostNeeds needs = needs_of(run, setup.owners, setup.on_this_host);
  needs.may_stream = setup.streams_checkpoints == false && !setup.on_several_ranks();
  needs.reads_samples = setup.reads_samples();
  return needs;
}

void require_within_machine(const HostNeeds& needs, std::uint64_t usable) {
  if (needs.total() <= usable) {
    return;
  }
  const auto text = [](std::uint64_t bytes) {
    return memory::text_of_bytes(static_cast<std::size_t>(bytes));
  };
  const std::string who =
      needs.processes == 1
          ? "this process needs"
          : fmt::format("the {} processes of this run on one host need together", needs.processes);
  throw MemoryError(fmt::format(
      "{} {} of host memory ({} for data, {} for lanes, {} to write checkpoints "
      "from) and may use {}, the memory of this machine or of its control group; use a smaller "
      "batch or model, more micro-batches or another memory_plan, or read {}{}",
      who, text(needs.total()), text(needs.data), text(needs.lanes), text(needs.checkpoints),
      text(usable),
      needs.reads_samples ? "fewer batches ahead (data.prefetch)"
                          : "the data from a file (data.in_memory: false)",
      needs.may_stream ? ", or write checkpoints piece by piece (checkpoint.copy: streamed)" : ""));
}

void require_room(const RunSetup& setup, const std::vector<plan::LaneMemory>& memory) {
  for (std::size_t lane = 0; lane < memory.size(); ++lane) {
    const lane::LaneSpec& spec = (*setup.lanes)[lane].spec();
    memory[lane].lane.require_within(spec.budget_bytes, spec.name);
  }
  plan::require_host_budget(memory, setup.host_budget_bytes);
  require_within_machine(host_needs(setup, memory));
}

void require_within_machine(const RunSetup& setup, const schedule::Schedule& schedule,
                            std::uint64_t usable) {
  require_within_machine(host_needs(setup, memory_of(schedule, plan_subject(setup)), usable),
                         usable);
}

}  // namespace zygos::app
