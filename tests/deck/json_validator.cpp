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

/// One keyword of a schema, and the value that it checks.
struct Case {
  const std::string& keyword;
  const json& rule;
  const json& schema;
  const json& value;
  const std::string& path;

  bool is_one_of(std::initializer_list<const char*> words) const {
    return std::find(words.begin(), words.end(), keyword) != words.end();
  }
};

void validate(const json& schema, const json& value, const std::string& path, Paths& wrong);

std::string below(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "/" + name;
}

bool number_fits(const std::string& keyword, const json& limit, double value) {
  const double number = limit.get<double>();
  return (keyword == "minimum" && value >= number) || (keyword == "maximum" && value <= number) ||
         (keyword == "exclusiveMinimum" && value > number) ||
         (keyword == "exclusiveMaximum" && value < number);
}

void validate_list(const Case& now, Paths& wrong) {
  if (now.keyword == "items") {
    for (std::size_t i = 0; i < now.value.size(); ++i) {
      validate(now.rule, now.value[i], below(now.path, std::to_string(i)), wrong);
    }
    return;
  }
  const auto limit = now.rule.get<std::size_t>();
  const std::size_t size = now.value.size();
  if (now.keyword == "minItems" ? size < limit : size > limit) {
    wrong.push_back(now.path);
  }
}

void validate_entry(const Case& now, const std::string& name, const json& child, Paths& wrong) {
  const std::string path = below(now.path, name);
  const bool known =
      now.schema.contains("properties") && now.schema.at("properties").contains(name);
  if (now.keyword == "properties" && known) {
    validate(now.rule.at(name), child, path, wrong);
  } else if (now.keyword == "propertyNames" && !accepts(now.rule, name)) {
    wrong.push_back(path);
  } else if (now.keyword == "additionalProperties" && !known) {
    if (now.rule.is_object()) {
      validate(now.rule, child, path, wrong);
    } else if (!now.rule.get<bool>()) {
      wrong.push_back(path);
    }
  }
}

void validate_object(const Case& now, Paths& wrong) {
  if (now.keyword == "required") {
    for (const json& name : now.rule) {
      if (!now.value.contains(name.get<std::string>())) {
        wrong.push_back(now.path);
      }
    }
    return;
  }
  for (const auto& [name, child] : now.value.items()) {
    validate_entry(now, name, child, wrong);
  }
}

/// Keywords whose fault is the value itself.
bool fits(const Case& now) {
  const std::string& keyword = now.keyword;
  const json& rule = now.rule;
  const json& value = now.value;
  if (keyword == "type") {
    const json types = rule.is_array() ? rule : json::array({rule});
    return std::any_of(types.begin(), types.end(),
                       [&](const json& type) { return has_type(value, type.get<std::string>()); });
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
  if (now.is_one_of({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})) {
    return !value.is_number() || number_fits(keyword, rule, value.get<double>());
  }
  throw std::logic_error("this test does not know the keyword " + keyword);
}

void validate_keyword(const Case& now, Paths& wrong) {
  if (now.is_one_of({"$schema", "title", "description", "default", "examples", "enumDescriptions",
                     "then", "else"})) {
    return;
  }
  if (now.keyword == "if") {
    const char* branch = accepts(now.rule, now.value) ? "then" : "else";
    if (now.schema.contains(branch)) {
      validate(now.schema.at(branch), now.value, now.path, wrong);
    }
  } else if (now.keyword == "allOf") {
    for (const json& part : now.rule) {
      validate(part, now.value, now.path, wrong);
    }
  } else if (now.is_one_of({"items", "minItems", "maxItems"})) {
    if (now.value.is_array()) {
      validate_list(now, wrong);
    }
  } else if (now.is_one_of({"properties", "propertyNames", "additionalProperties", "required"})) {
    if (now.value.is_object()) {
      validate_object(now, wrong);
    }
  } else if (!fits(now)) {
    wrong.push_back(now.path);
  }
}

void validate(const json& schema, const json& value, const std::string& path, Paths& wrong) {
  for (const auto& [keyword, rule] : schema.items()) {
    validate_keyword({keyword, rule, schema, value, path}, wrong);
  }
}

}  // namespace

json json_of_yaml(std::string_view text) { return json_of(YAML::Load(std::string(text))); }

bool accepts(const json& schema, const json& value) { return wrong_paths(schema, value).empty(); }

Paths wrong_paths(const json& schema, const json& value) {
  Paths wrong;
  validate(schema, value, "", wrong);
  return wrong;
}

}  // namespace zygos::test
