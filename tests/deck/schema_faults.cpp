// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schema_faults.hpp"

#include <algorithm>
#include <initializer_list>
#include <set>

namespace zygos::test {
namespace {

using nlohmann::json;

std::string path_below(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "/" + name;
}

/// Throws std::logic_error for a pattern that is no regular expression.
bool has_syntax(const json& pattern) {
  accepts({{"pattern", pattern}}, "");
  return true;
}

bool is_text_list(const json& rule) {
  return rule.is_array() &&
         std::all_of(rule.begin(), rule.end(), [](const json& text) { return text.is_string(); });
}

bool is_unique(const json& list) {
  return std::set<json>(list.begin(), list.end()).size() == list.size();
}

bool is_type(const json& rule) {
  const json types = rule.is_array() ? rule : json::array({rule});
  const std::set<json> known = {"null",   "boolean", "object", "array",
                                "number", "integer", "string"};
  return !types.empty() && is_unique(types) &&
         std::all_of(types.begin(), types.end(),
                     [&](const json& type) { return known.contains(type); });
}

/// Whether draft-07 allows what stands at a keyword that has no schemas in it.
bool is_rule(const std::string& keyword, const json& rule, const json& schema) {
  const auto is_any_of = [&](std::initializer_list<const char*> words) {
    return std::find(words.begin(), words.end(), keyword) != words.end();
  };
  if (is_any_of({"const", "default"})) {
    return true;
  }
  if (keyword == "$schema") {
    return rule == "http://json-schema.org/draft-07/schema#";
  }
  if (keyword == "type") {
    return is_type(rule);
  }
  if (keyword == "enum") {
    return rule.is_array() && !rule.empty() && is_unique(rule);
  }
  if (keyword == "enumDescriptions") {
    return is_text_list(rule) && schema.contains("enum") && rule.size() == schema["enum"].size();
  }
  if (keyword == "required") {
    return is_text_list(rule) && is_unique(rule);
  }
  if (is_any_of({"minItems", "maxItems"})) {
    return rule.is_number_unsigned();
  }
  if (is_any_of({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})) {
    return rule.is_number();
  }
  if (keyword == "pattern") {
    return rule.is_string() && has_syntax(rule);
  }
  return is_any_of({"title", "description"}) && rule.is_string();
}

void collect_faults(const json& schema, const std::string& path, Paths& faults) {
  if (schema.is_boolean()) {
    return;
  }
  if (!schema.is_object() ||
      (!schema.contains("if") && (schema.contains("then") || schema.contains("else")))) {
    faults.push_back(path);
    return;
  }
  const std::set<std::string> with_schemas = {
      "if",         "then",          "else",
      "items",      "allOf",         "anyOf",
      "properties", "propertyNames", "additionalProperties"};
  for (const auto& [keyword, rule] : schema.items()) {
    const std::string here = path_below(path, keyword);
    const bool list = keyword == "anyOf" || keyword == "allOf";
    if (!with_schemas.contains(keyword)) {
      if (!is_rule(keyword, rule, schema)) {
        faults.push_back(here);
      }
    } else if ((list && (!rule.is_array() || rule.empty())) ||
               (keyword == "properties" && !rule.is_object())) {
      faults.push_back(here);
    } else if (list || keyword == "properties") {
      for (const auto& [name, child] : rule.items()) {
        collect_faults(child, path_below(here, name), faults);
      }
    } else {
      collect_faults(rule, here, faults);
    }
  }
}

}  // namespace

Paths schema_faults(const json& schema) {
  Paths faults;
  collect_faults(schema, "", faults);
  return faults;
}

}  // namespace zygos::test
