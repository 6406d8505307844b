// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/load/data_facts.hpp"

#include "zygos/core/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace zygos::load {
namespace {

using Json = nlohmann::json;

constexpr const char* input_names = "input_names";
constexpr const char* class_names = "class_names";
constexpr const char* input_standards = "input_standards";
constexpr const char* target_standards = "target_standards";
constexpr const char* shift = "shift";
constexpr const char* scale = "scale";

Standards standards_in(const Json& object) {
  Standards standards{object.at(shift).get<std::vector<double>>(),
                      object.at(scale).get<std::vector<double>>()};
  const auto is_bad = [](double value) { return !std::isfinite(value); };
  if (standards.shift.size() != standards.scale.size() ||
      std::ranges::any_of(standards.shift, is_bad) ||
      std::ranges::any_of(standards.scale, [&](double s) { return is_bad(s) || s == 0.0; })) {
    throw CheckpointError(fmt::format(
        "fact '{}': shifts and scales of data are not finite numbers in pairs", data_fact));
  }
  return standards;
}

}  // namespace

void add_data_facts(const io::Dataset& training, io::Facts& facts) {
  Json object = Json::object();
  if (!training.input_names.empty()) {
    object[input_names] = training.input_names;
  }
  if (!training.class_names.empty()) {
    object[class_names] = training.class_names;
  }
  const auto add = [&](const char* key, const std::shared_ptr<const Standards>& standards) {
    if (standards != nullptr) {
      object[key] = {{shift, standards->shift}, {scale, standards->scale}};
    }
  };
  add(input_standards, training.input_standards);
  add(target_standards, training.target_standards);
  if (!object.empty()) {
    facts[data_fact] = object.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
}

DataFacts data_facts_in(const io::Facts& facts) {
  DataFacts out;
  const auto found = facts.find(data_fact);
  if (found == facts.end()) {
    return out;
  }
  try {
    const Json object = Json::parse(found->second);
    out.input_names = object.value(input_names, out.input_names);
    out.class_names = object.value(class_names, out.class_names);
    if (object.contains(input_standards)) {
      out.inputs = standards_in(object.at(input_standards));
    }
    if (object.contains(target_standards)) {
      out.targets = standards_in(object.at(target_standards));
    }
  } catch (const Json::exception& problem) {
    throw CheckpointError(fmt::format("fact '{}' is damaged: {}", data_fact, problem.what()));
  }
  return out;
}

}  // namespace zygos::load
