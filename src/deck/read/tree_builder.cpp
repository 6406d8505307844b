// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/read/tree_builder.hpp"

#include "deck/read/text.hpp"

#include <algorithm>

namespace zygos::deck {
namespace {

/// Bytes of the scalar that begins `line`, as far as this line shows it.
/// 0 if it begins with a quote that this line does not close.
std::size_t scalar_bytes(std::string_view line, const std::string& value) {
  if (line.empty() || (line[0] != '"' && line[0] != '\'')) {
    return !value.empty() && line.starts_with(value) ? value.size() : 1;
  }
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[0] == '"' && line[i] == '\\') {
      ++i;
    } else if (line[i] == line[0]) {
      return i + 1;
    }
  }
  return 0;
}

std::string with_braces(std::string text) {
  std::replace(text.begin(), text.end(), hidden_open, '{');
  std::replace(text.begin(), text.end(), hidden_close, '}');
  return text;
}

}  // namespace

Locator::Locator(std::string_view text, TextPlace place)
    : lines_(split_lines(text)), place_(place) {}

Position Locator::at(const YAML::Mark& mark, std::size_t bytes) {
  Position position;
  position.origin = place_.origin;
  position.file = place_.file;
  position.in_overrides = place_.origin == Origin::command_line;
  const std::size_t last = lines_.size() - 1;
  const std::size_t line = mark.is_null() ? last : static_cast<std::size_t>(mark.line);
  if (line > last) {
    position.line = last + 1;
    position.column = place_.column + count_characters(lines_[last]);
    return position;
  }
  const std::string_view text = lines_[line];
  const std::size_t byte =
      mark.is_null() ? text.size() : std::min(static_cast<std::size_t>(mark.column), text.size());
  if (line != line_ || byte < byte_) {
    line_ = line;
    byte_ = 0;
    characters_ = 0;
  }
  characters_ += count_characters(text.substr(byte_, byte - byte_));
  byte_ = byte;
  position.line = line + 1;
  position.column = characters_ + (line == 0 ? place_.column : 1);
  position.length = std::max<std::size_t>(1, count_characters(text.substr(byte, bytes)));
  return position;
}

std::string_view Locator::rest_of_line(const YAML::Mark& mark) const {
  const auto line = static_cast<std::size_t>(std::max(mark.line, 0));
  if (mark.is_null() || line >= lines_.size()) {
    return {};
  }
  const auto column = static_cast<std::size_t>(std::max(mark.column, 0));
  return lines_[line].substr(std::min(column, lines_[line].size()));
}

std::optional<Position> TreeBuilder::open_bracket() const {
  const auto frame =
      std::find_if(frames_.rbegin(), frames_.rend(), [](const Frame& f) { return f.flow; });
  return frame == frames_.rend() ? std::nullopt : std::optional(frame->node.position);
}

void TreeBuilder::OnDocumentStart(const YAML::Mark& mark) {
  if (++documents_ > 1) {
    findings_.error(locator_.at(mark), "a second document begins here",
                    "a deck is one document; remove the '---' or '...' before it");
    throw ReadingStopped();
  }
}

void TreeBuilder::refuse_extras(const YAML::Mark& mark, const std::string& tag,
                                YAML::anchor_t anchor) {
  const std::string_view line = locator_.rest_of_line(mark);
  const bool tagged = (tag != "?" && tag != "!" && !tag.empty()) || line.starts_with('!');
  if (tagged) {
    findings_.error(locator_.at(mark), "YAML tags are not allowed in a deck",
                    "remove the word that begins with '!'");
  }
  if (anchor != 0) {
    findings_.error(locator_.at(mark), "YAML anchors are not allowed in a deck",
                    "remove the word that begins with '&' and write values out where they belong");
  }
}

void TreeBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  refuse_extras(mark, {}, anchor);
  Node node;
  node.position = locator_.at(mark);
  const std::string_view line = locator_.rest_of_line(mark);
  const bool written = line.starts_with('~') || line.starts_with("null") ||
                       line.starts_with("Null") || line.starts_with("NULL");
  // The parser puts a value that is not there at the next thing it finds.
  if (written) {
    node.text = written_null;
  } else if (!frames_.empty()) {
    const Frame& frame = frames_.back();
    node.position = frame.has_key ? frame.key_position : frame.node.position;
  }
  deliver(std::move(node));
}

void TreeBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t) {
  findings_.error(locator_.at(mark), "YAML aliases are not allowed in a deck",
                  "write the value out here");
  Node node;
  node.kind = Node::Kind::broken;
  node.position = locator_.at(mark);
  deliver(std::move(node));
}

void TreeBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                           const std::string& value) {
  refuse_extras(mark, tag, anchor);
  const bool quotes = tag == "!";
  const std::string text = with_braces(value);
  const std::size_t bytes = scalar_bytes(locator_.rest_of_line(mark), text);
  if (bytes == 0) {
    findings_.error(locator_.at(mark), "this quote is not closed on its line",
                    "put the other quote where the text ends; a text has one line");
    throw ReadingStopped();
  }
  Node node = scalar_node(text, locator_.at(mark, bytes));
  node.quoted = quotes;
  deliver(std::move(node));
}

void TreeBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                                  YAML::anchor_t anchor, YAML::EmitterStyle::value style) {
  refuse_extras(mark, tag, anchor);
  open(Node::Kind::sequence, mark, tag, style == YAML::EmitterStyle::Flow);
}

void TreeBuilder::OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                             YAML::EmitterStyle::value style) {
  refuse_extras(mark, tag, anchor);
  open(Node::Kind::map, mark, tag, style == YAML::EmitterStyle::Flow);
}

void TreeBuilder::open(Node::Kind kind, const YAML::Mark& mark, const std::string&, bool flow) {
  Frame frame;
  frame.node.kind = kind;
  frame.node.position = locator_.at(mark);
  frame.flow = flow;
  if (frames_.size() >= max_depth) {
    findings_.error(frame.node.position,
                    "the deck is nested deeper than " + std::to_string(max_depth) + " levels");
    throw ReadingStopped();
  }
  count_node(frame.node.position);
  frames_.push_back(std::move(frame));
}

void TreeBuilder::close() {
  Node node = std::move(frames_.back().node);
  frames_.pop_back();
  deliver(std::move(node));
}

void TreeBuilder::count_node(const Position& position) {
  if (++nodes_ > max_nodes) {
    findings_.error(position,
                    "the deck has more than " + std::to_string(max_nodes) + " values and keys");
    throw ReadingStopped();
  }
}

void TreeBuilder::deliver(Node node) {
  count_node(node.position);
  if (frames_.empty()) {
    root_ = std::move(node);
    return;
  }
  Frame& frame = frames_.back();
  if (frame.node.is(Node::Kind::sequence)) {
    frame.node.items.push_back(std::move(node));
  } else if (!frame.has_key) {
    take_key(frame, std::move(node));
  } else {
    frame.has_key = false;
    const auto [seen, first] = frame.lines.emplace(frame.key, frame.key_position.line);
    if (first) {
      frame.node.entries.push_back({frame.key, frame.key_position, std::move(node)});
    } else {
      findings_.error(frame.key_position, "duplicate key " + in_quotes(frame.key),
                      "first given in line " + std::to_string(seen->second) + "; keep one of them");
    }
  }
}

void TreeBuilder::take_key(Frame& frame, Node node) {
  if (!node.is(Node::Kind::scalar)) {
    findings_.error(node.position, "a key must be a word, found " + found_text(node));
    throw ReadingStopped();
  }
  frame.key = std::move(node.text);
  frame.key_position = node.position;
  frame.has_key = true;
}

}  // namespace zygos::deck
