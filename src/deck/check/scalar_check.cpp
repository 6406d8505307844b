// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/check/scalar_check.hpp"

#include "deck/describe/describe.hpp"
#include "deck/read/quantities.hpp"
#include "deck/read/text.hpp"

#include <algorithm>

namespace zygos::deck {
namespace {

bool outside(const Range& range, double number) {
  const bool below =
      range.least && (range.open_below ? number <= *range.least : number < *range.least);
  const bool above =
      range.most && (range.open_above ? number >= *range.most : number > *range.most);
  return below || above;
}

Complaint check_range(const KeyFacts& facts, double number, const Node& node) {
  if (!outside(facts.range, number)) {
    return {};
  }
  return {"must be " + range_text(facts.range) + ", found " + in_quotes(node.text), {}};
}

Complaint refuse_quotes(std::string_view wanted, const Node& node) {
  return {"must be " + std::string(wanted) + ", found the text \"" + shown(node.text) + "\"",
          "remove the quotes"};
}

Complaint read_integer_node(const KeyFacts& facts, const Node& node, detail::Value& value) {
  Reading<std::int64_t> reading = read_integer(node.text);
  if (!reading.value) {
    return {std::move(reading.problem), std::move(reading.advice)};
  }
  if (node.quoted) {
    return refuse_quotes("an integer", node);
  }
  value.integer = *reading.value;
  return check_range(facts, static_cast<double>(value.integer), node);
}

Complaint read_real_node(const KeyFacts& facts, const Node& node, detail::Value& value) {
  Reading<double> reading = read_real(node.text);
  if (!reading.value) {
    return {std::move(reading.problem), std::move(reading.advice)};
  }
  if (node.quoted) {
    return refuse_quotes("a number", node);
  }
  value.real = *reading.value;
  return check_range(facts, value.real, node);
}

Complaint read_boolean_node(const Node& node, detail::Value& value) {
  const bool known = node.text == "true" || node.text == "false";
  if (known && node.quoted) {
    return refuse_quotes("true or false", node);
  }
  if (known) {
    value.boolean = node.text == "true";
    return {};
  }
  std::string word = node.text;
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const auto among = [&](std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  std::string advice;
  if (among({"yes", "on", "y", "1", "true"})) {
    advice = "write true";
  } else if (among({"no", "off", "n", "0", "false"})) {
    advice = "write false";
  } else if (const auto near = nearest(word, {"true", "false"})) {
    advice = "did you mean '" + *near + "'?";
  }
  return {"must be true or false, found " + in_quotes(node.text), advice};
}

Complaint read_choice_node(const KeyFacts& facts, const Node& node, detail::Value& value) {
  const auto& choices = facts.choices;
  if (std::find(choices.begin(), choices.end(), node.text) == choices.end()) {
    const auto near = nearest(node.text, choices);
    return {"must be one of " + join(choices) + ", found " + in_quotes(node.text),
            near ? "did you mean '" + *near + "'?" : std::string()};
  }
  value.text = node.text;
  return {};
}

Complaint read_quantity_node(const KeyFacts& facts, const Node& node, detail::Value& value) {
  Reading<Quantity> reading = read_quantity(node.text, facts.units);
  if (!reading.value) {
    return {std::move(reading.problem), std::move(reading.advice)};
  }
  value.quantity = *reading.value;
  return check_range(facts, value.quantity.value, node);
}

Complaint read_path_node(const Node& node, const std::filesystem::path& folder,
                         detail::Value& value) {
  if (node.text.empty()) {
    return {"must be a path, found ''", {}};
  }
  value.text = node.text;
  value.path = (folder / node.text).lexically_normal();
  return {};
}

Complaint read_typed(const KeyFacts& facts, Type type, const Node& node,
                     const std::filesystem::path& folder, detail::Value& value) {
  switch (type) {
    case Type::integer:
      return read_integer_node(facts, node, value);
    case Type::real:
      return read_real_node(facts, node, value);
    case Type::boolean:
      return read_boolean_node(node, value);
    case Type::choice:
      return read_choice_node(facts, node, value);
    case Type::quantity:
      return read_quantity_node(facts, node, value);
    case Type::path:
      return read_path_node(node, folder, value);
    default:
      value.text = node.text;
      return {};
  }
}

}  // namespace

Complaint read_scalar(const KeyFacts& facts, Type type, const Node& node,
                      const std::filesystem::path& folder, detail::Value& value) {
  const auto& words = facts.words;
  if (!node.quoted && std::find(words.begin(), words.end(), node.text) != words.end()) {
    value.is_word = true;
    value.text = node.text;
    return {};
  }
  Complaint complaint = read_typed(facts, type, node, folder, value);
  if (!complaint.empty() && complaint.advice.empty() && !words.empty()) {
    const auto near = nearest(node.text, words);
    complaint.advice =
        near ? "did you mean '" + *near + "'?" : "'" + join(words, "' or '") + "' is allowed too";
  }
  return complaint;
}

}  // namespace zygos::deck
