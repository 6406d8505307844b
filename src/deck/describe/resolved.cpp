// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/describe/resolved.hpp"

#include "deck/compose/variables.hpp"
#include "deck/read/quantities.hpp"
#include "deck/read/text.hpp"

#include <algorithm>
#include <array>

namespace zygos::deck {
namespace {

using detail::Value;

constexpr std::size_t longest_name = 200;

/// "deck:12", "common/base.yaml:3, ${width} is '8' (command line)", "default"
std::string origin_text(const Value& value, const Findings& files) {
  const Position& position = value.position;
  const std::string via = value.via.empty() ? "" : ", " + value.via;
  switch (position.origin) {
    case Origin::deck:
      return (position.file == 0 ? "deck:" + std::to_string(position.line)
                                 : shown(files.place_of(position), longest_name)) +
             via;
    case Origin::command_line:
      return "command line" + via;
    case Origin::fallback:
      break;
  }
  return "default";
}

std::string scalar_text(const Value& value) {
  if (value.is_word) {
    return value.text;
  }
  switch (value.type) {
    case Type::integer:
      return std::to_string(value.integer);
    case Type::real:
      return text_of(value.real);
    case Type::boolean:
      return value.boolean ? "true" : "false";
    case Type::quantity:
      return text_of(value.quantity);
    case Type::path:
      return yaml_scalar(
          without_variables(std::filesystem::absolute(value.path).lexically_normal().string()));
    default:
      return yaml_scalar(without_variables(value.text));
  }
}

std::string list_text(const Value& list) {
  std::string text;
  for (const auto& element : list.children) {
    text += (text.empty() ? "" : ", ") + scalar_text(*element);
  }
  return "[" + text + "]";
}

bool is_flow_list(const Value& value) {
  return value.type == Type::integers || value.type == Type::reals || value.type == Type::texts;
}

bool is_block(const Value& value) {
  return value.type == Type::section || value.type == Type::variant ||
         value.type == Type::named_sections || value.type == Type::sections ||
         value.type == Type::variants;
}

void write_keys(const Value& section, const Findings& files, std::size_t indent, std::string& text);

void write_value(const Value& value, const Findings& files, std::size_t indent, std::string& text) {
  if (!is_block(value)) {
    const bool list = is_flow_list(value) && !value.is_word;
    text += " " + (list ? list_text(value) : scalar_text(value)) + "  # " +
            origin_text(value, files) + "\n";
    return;
  }
  const bool elements = value.type == Type::sections || value.type == Type::variants;
  if (value.children.empty()) {
    text += elements ? " []\n" : " {}\n";
    return;
  }
  text += "\n";
  if (!elements) {
    write_keys(value, files, indent + 2, text);
    return;
  }
  for (const auto& element : value.children) {
    const std::size_t begin = text.size();
    write_keys(*element, files, indent + 4, text);
    text.replace(begin + indent + 2, 1, "-");
  }
}

void write_keys(const Value& section, const Findings& files, std::size_t indent,
                std::string& text) {
  for (const auto& child : section.children) {
    text += std::string(indent, ' ') + child->name + ":";
    write_value(*child, files, indent, text);
  }
}

bool is_plain_word(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == '/';
  };
  const bool begins = !text.empty() && plain(text[0]) && text[0] != '-' && text[0] != '.' &&
                      !(text[0] >= '0' && text[0] <= '9');
  return begins && std::all_of(text.begin(), text.end(), plain);
}

bool has_meaning_in_yaml(std::string_view text) {
  constexpr std::array words = {"true", "false", "null", "yes", "no", "on",
                                "off",  "y",     "n",    "inf", "nan"};
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return std::find(words.begin(), words.end(), lower) != words.end();
}

}  // namespace

std::string yaml_scalar(std::string_view text) {
  if (is_plain_word(text) && !has_meaning_in_yaml(text)) {
    return std::string(text);
  }
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      constexpr std::string_view digits = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      result += std::string("\\x") + digits[byte / 16] + digits[byte % 16];
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string resolved_text(const Value& root, const Findings& files) {
  std::string text = "# Written by zygos: every value, and where it came from.\n";
  write_keys(root, files, 0, text);
  return text;
}

}  // namespace zygos::deck
