// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/place/memory_report.hpp"

#include <algorithm>

namespace zygos::train {

void add_lane(MemoryReport &report, const std::string &lane, const plan::LaneMemory &memory) {
  report.usage.push_back({lane, memory.lane.usage(), memory.lane.total()});
  if (memory.staging.total() > 0) {
    report.usage.push_back({lane + "/staging", memory.staging.usage(), memory.staging.total()});
  }
  if (memory.file.total() > 0) {
    report.usage.push_back({lane + "/file", memory.file.usage(), memory.file.total()});
  }
}

bool is_to_measure(MemoryReport &report, const StepInputs &inputs) {
  std::int64_t &most = report.measured_samples[inputs.trains() ? 1 : 0];
  const std::int64_t samples = inputs.batch->samples();
  const bool measures = samples > most;
  most = std::max(most, samples);
  return measures;
}

void measure_memory(MemoryReport &report, const Places &places) {
  std::vector<LaneUsage> &usage = report.usage;
  constexpr std::size_t categories = memory::all_categories.size();
  std::vector<double> used(usage.size() * categories,
                           0.0);  // exact: far below 2^53
  for (const std::size_t place : places.active) {
    PlaceUse &use = places.here[place]->use;
    use.end();
    const memory::Usage in_file = used_of_file(places.here[place]->spills);
    const std::string &name = places.lane(place).name();
    for (std::size_t i = 0; i < usage.size(); ++i) {
      const memory::Usage *of_tier = usage[i].lane == name                ? &use.lane()
                                     : usage[i].lane == name + "/staging" ? &use.staging()
                                     : usage[i].lane == name + "/file"    ? &in_file
                                                                          : nullptr;
      for (std::size_t k = 0; of_tier != nullptr && k < categories; ++k) {
        used[i * categories + k] += static_cast<double>((*of_tier)[memory::all_categories[k]]);
      }
    }
  }
  if (places.ranks != nullptr) {
    places.ranks->sum(used);  // each lane's bytes are those of one rank
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    usage[i / categories].used[memory::all_categories[i % categories]] =
        static_cast<std::size_t>(used[i]);
  }
}

}  // namespace zygos::train
