// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/run/rank_lanes.hpp"

#include "zygos/core/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zygos::app {

namespace {

using nlohmann::json;

json json_of(const lane::LaneSpec& spec) {
  return {spec.name,         static_cast<int>(spec.kind),
          spec.threads,      static_cast<int>(spec.space),
          spec.budget_bytes, spec.link.bytes_per_second,
          spec.slowdown,     spec.link.latency_s,
          spec.device_id,    spec.unified};
}

lane::LaneSpec spec_from(const json& list) {
  lane::LaneSpec spec;
  spec.name = list[0].get<std::string>();
  spec.kind = static_cast<lane::Kind>(list[1].get<int>());
  spec.threads = list[2].get<int>();
  spec.space = static_cast<lane::HostSpace>(list[3].get<int>());
  spec.budget_bytes = list[4].get<std::size_t>();
  spec.link.bytes_per_second = list[5].get<double>();
  spec.slowdown = list[6].get<double>();
  spec.link.latency_s = list[7].get<double>();
  spec.device_id = list[8].get<int>();
  spec.unified = list[9].get<bool>();
  return spec;
}

}  // namespace

std::vector<int> deal_out(std::size_t lanes, int ranks) {
  if (static_cast<std::size_t>(ranks) > lanes) {
    throw UsageError(fmt::format(
        "found {} ranks and {} lane{}: every rank needs a lane of its own. Give the deck more "
        "lanes (a lane's key 'count' makes several of it), or start {}",
        ranks, lanes, lanes == 1 ? "" : "s",
        lanes == 1 ? "one process" : fmt::format("at most {} processes", lanes)));
  }
  std::vector<int> owners;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    owners.push_back(static_cast<int>(lane * static_cast<std::size_t>(ranks) / lanes));
  }
  return owners;
}

std::vector<lane::LaneSpec> agree_on_lanes(std::vector<lane::LaneSpec> mine,
                                           const std::vector<int>& owners, const Ranks& ranks) {
  if (ranks.alone()) {
    return mine;
  }
  json list = json::array();
  for (const lane::LaneSpec& spec : mine) {
    list.push_back(json_of(spec));
  }
  // Lanes are dealt out in blocks, so that the ranks' lists one after the other are the deck's.
  std::vector<lane::LaneSpec> all;
  for (const std::string& text : ranks.exchange(list.dump())) {
    for (const json& spec : json::parse(text)) {
      all.push_back(spec_from(spec));
    }
  }
  ZYGOS_REQUIRE(all.size() == owners.size(), "the ranks' lanes are not the deck's");
  return all;
}

std::unique_ptr<lane::LaneSet> make_lanes(const std::vector<lane::LaneSpec>& specs,
                                          const std::vector<int>& owners, int rank) {
  auto lanes = std::make_unique<lane::LaneSet>();
  for (std::size_t place = 0; place < specs.size(); ++place) {
    if (owners[place] == rank) {
      lanes->add(specs[place]);
    } else {
      lanes->add_remote(specs[place]);
    }
  }
  return lanes;
}

}  // namespace zygos::app
