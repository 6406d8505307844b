// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/plan/placement.hpp"

#include "app/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace zygos::app {

namespace {

const std::string& node_name(const graph::Graph& graph, const schedule::Schedule& schedule,
                             std::int32_t node) {
  const auto index = static_cast<std::size_t>(node);
  return schedule.slices.empty() ? graph.nodes()[index].name : schedule.slices[index].name;
}

/// Layers of every stage and who has them, replicas side by side.
std::string stages_text(const graph::Graph& graph, const schedule::Schedule& schedule) {
  std::string text;
  schedule::Stage last = -1;
  for (const schedule::Place place : in_order_of_stages(schedule)) {
    const auto index = static_cast<std::size_t>(place);
    const schedule::Stage stage = schedule.stage_of[index];
    if (stage < 0) {
      text += fmt::format("updates on {}", schedule.places[index]);
      continue;
    }
    if (stage == last) {
      text += " and " + schedule.places[index];
      continue;
    }
    text +=
        fmt::format("{}{} on {}", text.empty() ? "" : " -> ",
                    layers_text(graph, schedule, schedule.stages[static_cast<std::size_t>(stage)]),
                    schedule.places[index]);
    last = stage;
  }
  return text;
}

std::string micro_batches_text(const schedule::Schedule& schedule) {
  const auto& all = schedule.micro_batches;
  const auto [least, most] =
      std::ranges::minmax(all, {}, [](schedule::SampleRange samples) { return samples.count(); });
  if (all.size() == 1) {
    return text_of_count(schedule.batch) + " samples at once";
  }
  return fmt::format("{} micro-batches of {}{} samples", all.size(), text_of_count(least.count()),
                     least.count() == most.count() ? "" : " to " + text_of_count(most.count()));
}

}  // namespace

std::string layers_text(const graph::Graph& graph, const schedule::Schedule& schedule,
                        schedule::NodeRange nodes) {
  const std::string& first = node_name(graph, schedule, nodes.begin);
  return nodes.count() == 1 ? first : first + " to " + node_name(graph, schedule, nodes.end - 1);
}

std::vector<schedule::Place> in_order_of_stages(const schedule::Schedule& schedule) {
  std::vector<schedule::Place> places = schedule.active_places();
  std::ranges::stable_sort(places, {}, [&](schedule::Place place) {
    return schedule.stage_of[static_cast<std::size_t>(place)];
  });
  return places;
}

std::string placement_text(const graph::Graph& graph, const schedule::Schedule& schedule) {
  if (schedule.stages.size() > 1) {
    return stages_text(graph, schedule) + ", " + micro_batches_text(schedule);
  }
  std::string text;
  const auto samples = schedule.lane_sample_counts();
  for (std::size_t place = 0; place < samples.size(); ++place) {
    if (samples[place] > 0) {
      text += fmt::format("{}{} {}", text.empty() ? "" : " + ", schedule.places[place],
                          text_of_count(samples[place]));
    }
  }
  text += fmt::format(" of {} samples", text_of_count(schedule.batch));
  for (const schedule::Place place : schedule.active_places()) {
    if (schedule.nodes_of(place).count() == 0) {
      text += ", updates on " + schedule.places[static_cast<std::size_t>(place)];
    }
  }
  return text;
}

nlohmann::json placement_json(const graph::Graph& graph, const schedule::Schedule& schedule) {
  nlohmann::json result = nlohmann::json::object();
  const auto samples = schedule.sample_counts();
  for (const schedule::Place place : schedule.active_places()) {
    const auto index = static_cast<std::size_t>(place);
    const schedule::NodeRange nodes = schedule.nodes_of(place);
    nlohmann::json layers = nlohmann::json::array();
    for (auto node = nodes.begin; node < nodes.end; ++node) {
      layers.push_back(node_name(graph, schedule, node));
    }
    result[schedule.places[index]] = {
        {"stage", schedule.stage_of[index]}, {"layers", layers}, {"samples", samples[index]}};
  }
  return result;
}

}  // namespace zygos::app
