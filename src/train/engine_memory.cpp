// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of all places, of other ranks included: allocated, and used by the tasks that have run.
#include "train/engine_impl.hpp"

namespace zygos::train {

void Engine::Impl::add_usage(std::size_t place, const plan::PlaceMemory& memory) {
  const std::string& name = lanes[place].name();
  usage.push_back({name, memory.lane.usage(), memory.lane.total()});
  if (memory.staging.total() > 0) {
    usage.push_back({name + "/staging", memory.staging.usage(), memory.staging.total()});
  }
}

bool Engine::Impl::is_to_measure(const StepInputs& round_inputs) {
  std::int64_t& most = measured_samples[round_inputs.trains() ? 1 : 0];
  const std::int64_t samples = round_inputs.batch->samples();
  const bool measures = samples > most;
  most = std::max(most, samples);
  return measures;
}

void Engine::Impl::measure_memory() {
  constexpr std::size_t categories = memory::all_categories.size();
  std::vector<double> used(usage.size() * categories, 0.0);  // exact: far below 2^53
  for (const std::size_t place : active) {
    states[place]->use.end();
    const std::string& name = lanes[place].name();
    for (std::size_t i = 0; i < usage.size(); ++i) {
      const bool staging = usage[i].lane == name + "/staging";
      if (staging || usage[i].lane == name) {
        const PlaceUse& use = states[place]->use;
        for (std::size_t k = 0; k < categories; ++k) {
          const auto category = memory::all_categories[k];
          used[i * categories + k] =
              static_cast<double>((staging ? use.staging() : use.lane())[category]);
        }
      }
    }
  }
  if (rank_messages != nullptr) {
    options.communicator->sum(used);  // each lane's bytes are those of one rank
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    usage[i / categories].used[memory::all_categories[i % categories]] =
        static_cast<std::size_t>(used[i]);
  }
}

}  // namespace zygos::train
