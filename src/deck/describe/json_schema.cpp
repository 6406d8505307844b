// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/describe/describe.hpp"
#include "deck/read/text.hpp"

#include "zygos/deck/reference.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace zygos::deck {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* name_pattern = "^[A-Za-z][A-Za-z0-9_-]*$";

/// A text with ${name} may stand for a value of any type.
constexpr const char* variable_pattern = "[$][{]";

/// `json` of a scalar, or a text with variables: a pattern says nothing of values that are no text.
Json or_variable(Json json) {
  json["type"] = {json["type"], "string"};
  json["pattern"] = variable_pattern;
  return json;
}

Json one_of(const std::vector<std::string>& words) { return {{"enum", words}}; }

Json variable_json() { return {{"type", "string"}, {"pattern", variable_pattern}}; }

/// Ways to write the name of a schema, which editors complete and explain; names may be none.
Json names_or_variable(const std::vector<Schema>& schemas) {
  Json ways = Json::array();
  if (!schemas.empty()) {
    Json docs = Json::array();
    for (const Schema& schema : schemas) {
      docs.push_back(schema.doc());
    }
    ways.push_back({{"enum", schema_names(schemas)}, {"enumDescriptions", docs}});
  }
  ways.push_back(variable_json());
  return ways;
}

/// Whether a value is a section with this keyword.
Json keyword_is(const std::string& discriminator, const std::string& name) {
  return {{"type", "object"},
          {"required", {discriminator}},
          {"properties", {{discriminator, {{"const", name}}}}}};
}

Json number_json(const char* type, const Range& range) {
  Json json = {{"type", type}};
  if (range.least) {
    json[range.open_below ? "exclusiveMinimum" : "minimum"] = *range.least;
  }
  if (range.most) {
    json[range.open_above ? "exclusiveMaximum" : "maximum"] = *range.most;
  }
  return or_variable(std::move(json));
}

Json quantity_json(const std::vector<Unit>& units) {
  std::vector<std::string> words;
  for (const Unit unit : units) {
    for (const std::string_view word : words_of(unit)) {
      words.emplace_back(word);
    }
  }
  return {{"type", "string"},
          {"pattern", "^[+]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][-+]?[0-9]+)? *(" +
                          join(words, "|") + ")$|" + variable_pattern}};
}

Json list_json(const KeyFacts& facts, Json element) {
  Json json = {{"type", "array"}, {"items", element}};
  if (facts.shortest > 0) {
    json["minItems"] = facts.shortest;
  }
  if (facts.longest != std::numeric_limits<std::size_t>::max()) {
    json["maxItems"] = facts.longest;
  }
  if (facts.or_single) {
    return {{"anyOf", {std::move(json), std::move(element)}}};
  }
  return json;
}

/// The default as JSON where it is a plain number or truth value, else as it is written.
Json default_json(const KeyFacts& facts) {
  const bool literal =
      facts.type == Type::integer || facts.type == Type::real || facts.type == Type::boolean;
  const Json parsed = literal ? Json::parse(*facts.fallback, nullptr, false) : Json();
  return literal && !parsed.is_discarded() ? parsed : Json(*facts.fallback);
}

/// Writes sections of whole decks, or of decks that include others: these may lack any key outside
/// of lists, because a list replaces the included deck's.
class SectionWriter {
 public:
  explicit SectionWriter(bool whole) : whole_(whole) {}

  Json section_json(const Schema& schema, const KeyFacts* variant) const {
    Json required = Json::array();
    Json properties = Json::object();
    if (variant != nullptr) {
      required.push_back(variant->discriminator);
      properties[variant->discriminator] = {{"const", schema.name()},
                                            {"description", schema.doc()}};
    }
    for (const Key& key : schema.keys()) {
      properties[key.facts().name] = key_json(key.facts());
      if (is_required(key.facts())) {
        required.push_back(key.facts().name);
      }
    }
    return {{"type", "object"},
            {"description", schema.doc()},
            {"properties", properties},
            {"required", whole_ ? required : Json::array()},
            {"additionalProperties", false}};
  }

 private:
  /// The keyword decides by if and then which keys there are, so that a wrong key is wrong on its
  /// own; anyOf would refuse the whole section. A text is a keyword that needs no key.
  Json variant_json(const KeyFacts& facts) const {
    std::vector<Schema> bare;
    Json cases = Json::array();
    for (const Schema& schema : facts.schemas) {
      if (!has_required_key(schema)) {
        bare.push_back(schema);
      }
      cases.push_back({{"if", keyword_is(facts.discriminator, schema.name())},
                       {"then", section_json(schema, &facts)}});
    }
    if (!whole_) {
      cases.push_back(
          {{"if", {{"required", {facts.discriminator}}}}, {"else", merged_json(facts)}});
    }
    Json ways = names_or_variable(bare);
    ways.insert(ways.begin(), Json::object({{"type", "object"}}));
    const Json keyword = {{"description", facts.doc}, {"anyOf", names_or_variable(facts.schemas)}};
    return {{"anyOf", ways},
            {"required", whole_ ? Json::array({facts.discriminator}) : Json::array()},
            {"properties", {{facts.discriminator, keyword}}},
            {"allOf", cases}};
  }

  /// Any key of the table: the keyword that decides may stand in the included deck.
  Json merged_json(const KeyFacts& facts) const {
    Json properties = Json::object();
    for (const Schema& schema : facts.schemas) {
      for (const Key& key : schema.keys()) {
        Json& ways = properties[key.facts().name];
        const Json json = key_json(key.facts());
        if (std::find(ways.begin(), ways.end(), json) == ways.end()) {
          ways.push_back(json);
        }
      }
    }
    for (Json& ways : properties) {
      const Json all = std::move(ways);
      ways = all.size() == 1 ? all.front() : Json::object({{"anyOf", all}});
    }
    return {{"properties", properties}, {"additionalProperties", false}};
  }

  Json type_json(const KeyFacts& facts) const {
    switch (facts.type) {
      case Type::integer:
        return number_json("integer", facts.range);
      case Type::real:
        return number_json("number", facts.range);
      case Type::boolean:
        return or_variable({{"type", "boolean"}});
      case Type::text:
      case Type::path:
        return {{"type", "string"}};
      case Type::choice:
        return {{"anyOf", {one_of(facts.choices), variable_json()}}};
      case Type::quantity:
        return quantity_json(facts.units);
      case Type::integers:
        return list_json(facts, number_json("integer", facts.range));
      case Type::reals:
        return list_json(facts, number_json("number", facts.range));
      case Type::texts:
        return list_json(facts, {{"type", "string"}});
      case Type::scalars:
        return {{"type", "object"},
                {"propertyNames", {{"pattern", name_pattern}}},
                {"additionalProperties", {{"type", {"number", "string", "boolean"}}}}};
      case Type::section:
        return section_json(facts.schemas.front(), nullptr);
      case Type::named_sections:
        return {{"type", "object"},
                {"propertyNames", {{"pattern", name_pattern}}},
                {"additionalProperties", section_json(facts.schemas.front(), nullptr)}};
      case Type::sections:
        return list_json(facts, SectionWriter(true).section_json(facts.schemas.front(), nullptr));
      case Type::variant:
        return variant_json(facts);
      case Type::variants:
        return list_json(facts, SectionWriter(true).variant_json(facts));
    }
    return {};
  }

  Json key_json(const KeyFacts& facts) const {
    Json json = type_json(facts);
    if (!facts.words.empty()) {
      json = {{"anyOf", {json, one_of(facts.words)}}};
    }
    json["description"] = facts.doc;
    if (facts.fallback) {
      json["default"] = default_json(facts);
    }
    return json;
  }

  bool whole_;
};

}  // namespace

std::string json_schema(const Schema& schema) {
  Json json = {{"$schema", "http://json-schema.org/draft-07/schema#"},
               {"title", "Zygos " + schema.name()}};
  const Json whole = SectionWriter(true).section_json(schema, nullptr);
  if (schema.find("include") == nullptr) {
    json.update(whole);
  } else {
    json["if"] = {{"required", {"include"}}};
    json["then"] = SectionWriter(false).section_json(schema, nullptr);
    json["else"] = whole;
  }
  return json.dump(2) + "\n";
}

}  // namespace zygos::deck
