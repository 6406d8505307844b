// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/memory_time.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace zygos::plan {
namespace {

using schedule::Tier;

void add_lasting(const memory::ArenaLayout& layout, const std::set<std::size_t>& of_the_step,
                 memory::Usage& usage) {
  for (std::size_t piece = 0; piece < layout.pieces().size(); ++piece) {
    if (!of_the_step.contains(piece)) {
      // A layout charges a piece's padding to it.
      constexpr std::size_t unit = memory::ArenaLayout::alignment;
      const memory::Piece& lasting = layout.pieces()[piece];
      usage[lasting.category] += (lasting.bytes + unit - 1) / unit * unit;
    }
  }
}

/// Pieces of a tier without those that buffers of a step share.
memory::Usage lasting_usage(const PlaceMemory& place, Tier tier) {
  std::set<std::size_t> of_the_step;
  for (const auto& [buffer, planned] : place.buffers) {
    if (planned.lifetime == schedule::Lifetime::step && planned.bytes > 0 && planned.tier == tier) {
      of_the_step.insert(planned.piece);
    }
  }
  memory::Usage usage;
  add_lasting(place.layout(tier), of_the_step, usage);
  return usage;
}

/// Bytes that begin (above 0) or cease to be needed.
struct Change {
  double time_s = 0.0;
  memory::Category category = memory::Category::activations;
  std::ptrdiff_t bytes = 0;
};

std::vector<Change> changes_of(const PlaceMemory& place, Tier tier,
                               std::span<const TaskTime> times) {
  const auto time_of = [&](schedule::TaskId task) { return times[static_cast<std::size_t>(task)]; };
  std::vector<Change> changes;
  for (const auto& [buffer, planned] : place.buffers) {
    const auto bytes = static_cast<std::ptrdiff_t>(planned.bytes);
    if (bytes == 0 || planned.tier != tier || planned.lifetime != schedule::Lifetime::step) {
      continue;
    }
    changes.push_back({time_of(planned.first).start_s, planned.category, bytes});
    double end_s = time_of(planned.first).end_s;
    for (const schedule::TaskId task : planned.last) {
      end_s = std::max(end_s, time_of(task).end_s);
    }
    if (!planned.pinned) {
      changes.push_back({end_s, planned.category, -bytes});
    }
  }
  std::ranges::stable_sort(changes, {}, &Change::time_s);
  return changes;
}

/// One tier of a place from `begin_s` to `end_s`.
void add_tier(const PlaceMemory& memory, MemorySample sample, double end_s,
              std::span<const TaskTime> times, std::vector<MemorySample>& out) {
  sample.usage = lasting_usage(memory, sample.tier);
  out.push_back(sample);
  for (const Change& change : changes_of(memory, sample.tier, times)) {
    if (change.time_s > out.back().time_s) {
      sample.time_s = change.time_s;
      out.push_back(sample);
    }
    auto& bytes = sample.usage[change.category];
    bytes = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(bytes) + change.bytes);
    out.back().usage = sample.usage;
  }
  if (out.back().time_s < end_s) {
    sample.time_s = end_s;
    out.push_back(sample);
  }
}

}  // namespace

std::vector<MemorySample> memory_over_time(const std::vector<PlaceMemory>& memory,
                                           std::span<const TaskTime> times) {
  if (times.empty()) {
    return {};
  }
  const double begin_s = std::ranges::min(times, {}, &TaskTime::start_s).start_s;
  const double end_s = std::ranges::max(times, {}, &TaskTime::end_s).end_s;
  std::vector<MemorySample> samples;
  for (std::size_t index = 0; index < memory.size(); ++index) {
    for (const Tier tier : {Tier::lane, Tier::host, Tier::file}) {
      if (memory[index].active && (tier == Tier::lane || memory[index].layout(tier).total() > 0)) {
        add_tier(memory[index], {static_cast<schedule::Place>(index), tier, begin_s, {}}, end_s,
                 times, samples);
      }
    }
  }
  return samples;
}

}  // namespace zygos::plan
