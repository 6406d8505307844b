// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "json_validator.hpp"

#include <regex.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace zygos::test {
namespace {

using nlohmann::json;

/// POSIX extended: std::regex trips the warnings of gcc 12 under the sanitizers.
bool matches(const std::string& text, const std::string& pattern) {
  regex_t compiled{};
  if (regcomp(&compiled, pattern.c_str(), REG_EXTENDED | REG_NOSUB) != 0) {
    throw std::logic_error("no regular expression: " + pattern);
  }
  const bool found = regexec(&compiled, text.c_str(), 0, nullptr, 0) == 0;
  regfree(&compiled);
  return found;
}

json json_of_scalar(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  const bool quoted = node.Tag() == "!";
  if (quoted) {
    return text;
  }
  if (matches(text, "^(true|True|TRUE|false|False|FALSE)$")) {
    return text[0] == 't' || text[0] == 'T';
  }
  if (matches(text, "^[-+]?[0-9]+$") && text.size() < 19) {
    return std::stoll(text);
  }
  const bool real = matches(text, "^[-+]?([.][0-9]+|[0-9]+([.][0-9]*)?)([eE][-+]?[0-9]+)?$");
  return real ? json(std::stod(text)) : json(text);
}

json json_of(const YAML::Node& node) {
  json result;
  if (node.IsMap()) {
    result = json::object();
    for (const auto& entry : node) {
      result[entry.first.as<std::string>()] = json_of(entry.second);
    }
  } else if (node.IsSequence()) {
    result = json::array();
    for (const auto& item : node) {
      result.push_back(json_of(item));
    }
  } else if (node.IsScalar()) {
    result = json_of_scalar(node);
  }
  return result;
}

bool has_type(const json& value, const std::string& type) {
  const bool whole =
      value.is_number_integer() ||
      (value.is_number_float() && std::trunc(value.get<double>()) == value.get<double>());
  return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
         (type == "string" && value.is_string()) || (type == "boolean" && value.is_boolean()) ||
         (type == "number" && value.is_number()) || (type == "integer" && whole);
}

bool keyword_for_number(const std::string& keyword, const json& limit, double value) {
  const double number = limit.get<double>();
  return (keyword == "minimum" && value >= number) || (keyword == "maximum" && value <= number) ||
         (keyword == "exclusiveMinimum" && value > number) ||
         (keyword == "exclusiveMaximum" && value < number);
}

bool keyword_for_list(const std::string& keyword, const json& rule, const json& value) {
  if (keyword == "items") {
    return std::all_of(value.begin(), value.end(),
                       [&](const json& item) { return accepts(rule, item); });
  }
  const std::size_t limit = rule.get<std::size_t>();
  return keyword == "minItems" ? value.size() >= limit : value.size() <= limit;
}

bool keyword_for_object(const std::string& keyword, const json& rule, const json& schema,
                        const json& value) {
  const json properties = schema.value("properties", json::object());
  const json anything = {{"description", ""}};
  for (const auto& [name, child] : value.items()) {
    const bool known = properties.contains(name);
    const bool fits = keyword == "properties"      ? !known || accepts(rule[name], child)
                      : keyword == "propertyNames" ? accepts(rule, name)
                      : keyword == "additionalProperties"
                          ? known || (rule.is_boolean() ? rule.get<bool>() : accepts(rule, child))
                          : true;
    if (!fits) {
      return false;
    }
  }
  const auto is_there = [&](const json& name) { return value.contains(name.get<std::string>()); };
  return keyword != "required" || std::all_of(rule.begin(), rule.end(), is_there);
}

bool keyword_accepts(const std::string& keyword, const json& rule, const json& schema,
                     const json& value) {
  const auto is_any_of = [&](std::initializer_list<const char*> words) {
    return std::find(words.begin(), words.end(), keyword) != words.end();
  };
  if (is_any_of({"$schema", "title", "description", "default", "examples", "then", "else"})) {
    return true;
  }
  if (keyword == "type") {
    const json types = rule.is_array() ? rule : json::array({rule});
    return std::any_of(types.begin(), types.end(),
                       [&](const json& type) { return has_type(value, type.get<std::string>()); });
  }
  if (keyword == "if") {
    return accepts(schema.at(accepts(rule, value) ? "then" : "else"), value);
  }
  if (keyword == "const") {
    return value == rule;
  }
  if (keyword == "enum") {
    return std::find(rule.begin(), rule.end(), value) != rule.end();
  }
  if (keyword == "anyOf") {
    return std::any_of(rule.begin(), rule.end(),
                       [&](const json& way) { return accepts(way, value); });
  }
  if (keyword == "pattern") {
    return !value.is_string() || matches(value.get<std::string>(), rule.get<std::string>());
  }
  if (is_any_of({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})) {
    return !value.is_number() || keyword_for_number(keyword, rule, value.get<double>());
  }
  if (is_any_of({"items", "minItems", "maxItems"})) {
    return !value.is_array() || keyword_for_list(keyword, rule, value);
  }
  if (is_any_of({"properties", "propertyNames", "additionalProperties", "required"})) {
    return !value.is_object() || keyword_for_object(keyword, rule, schema, value);
  }
  throw std::logic_error("this test does not know the keyword " + keyword);
}

}  // namespace

json json_of_yaml(std::string_view text) { return json_of(YAML::Load(std::string(text))); }

bool accepts(const json& schema, const json& value) {
  const auto entries = schema.items();
  return std::all_of(entries.begin(), entries.end(), [&](const auto& entry) {
    return keyword_accepts(entry.key(), entry.value(), schema, value);
  });
}

}  // namespace zygos::test
