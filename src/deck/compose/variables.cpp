// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/compose/variables.hpp"

#include "deck/read/text.hpp"

#include <algorithm>
#include <utility>

namespace zygos::deck {
namespace {

constexpr const char* variables_key = "variables";
constexpr std::string_view begin_mark = "${";
constexpr std::string_view plain_mark = "$${";
constexpr std::size_t max_place = 200;
/// Variables may hold variables: what could double with each of them ends here.
constexpr std::size_t max_text = std::size_t{1} << 16;

class Variables {
 public:
  Variables(const Node& section, Findings& findings) : findings_(findings) {
    for (const NodeEntry& entry : section.entries) {
      if (has_good_name(entry)) {
        all_.push_back({entry, State::fresh, false});
        refuse_all_but_scalars(all_.back().entry);
      }
    }
    for (Variable& variable : all_) {
      resolve(variable);
    }
  }

  /// In every scalar below.
  void put_into(Node& node) {
    if (node.is(Node::Kind::scalar)) {
      expand(node);
    }
    for (Node& item : node.items) {
      put_into(item);
    }
    for (NodeEntry& entry : node.entries) {
      put_into(entry.value);
    }
  }

  /// A variable that nothing uses is a slip, unless a file that is included offers it.
  void refuse_unused() {
    for (const Variable& variable : all_) {
      const Node& value = variable.entry.value;
      const bool overridden = value.position.origin == Origin::command_line &&
                              variable.entry.position.origin != Origin::command_line;
      const Position& position = overridden ? value.position : variable.entry.position;
      const bool offered = position.file != 0 || value.is(Node::Kind::broken);
      if (!variable.used && !offered) {
        findings_.error(position,
                        "nothing in the deck uses the variable " + in_quotes(variable.entry.key),
                        advice_for_unused(variable.entry.key));
      }
    }
  }

 private:
  enum class State { fresh, open, done };
  struct Variable {
    NodeEntry entry;
    State state;
    bool used;
  };

  bool has_good_name(const NodeEntry& entry) {
    if (!is_name(entry.key)) {
      findings_.error(entry.position, "the name " + in_quotes(entry.key) + " is not allowed",
                      "names are letters, digits, '_' and '-', beginning with a letter");
    }
    return is_name(entry.key);
  }

  void refuse_all_but_scalars(NodeEntry& entry) {
    Node& value = entry.value;
    if (!value.is(Node::Kind::scalar) && !value.is(Node::Kind::broken)) {
      findings_.error(value.position,
                      "the variable " + in_quotes(entry.key) +
                          " must be a number, a text, true or false, found " + found_text(value),
                      {});
      value.kind = Node::Kind::broken;
    }
  }

  void resolve(Variable& variable) {
    if (variable.state == State::fresh && variable.entry.value.is(Node::Kind::scalar)) {
      variable.state = State::open;
      expand(variable.entry.value);
      variable.state = State::done;
    }
  }

  /// The variable of this name, with its own variables put in; null, and a finding, if it has none.
  const Variable* find(const Node& user, const std::string& name) {
    const auto variable =
        std::ranges::find_if(all_, [&](const Variable& v) { return v.entry.key == name; });
    if (variable == all_.end()) {
      findings_.error(user.position, "unknown variable " + in_quotes(name), advice_for(name));
      return nullptr;
    }
    variable->used = true;
    if (variable->state == State::open) {
      findings_.error(user.position, "the variable " + in_quotes(name) + " is made of itself",
                      "give it a value that does not use it");
      return nullptr;
    }
    resolve(*variable);
    return variable->entry.value.is(Node::Kind::scalar) ? &*variable : nullptr;
  }

  void expand(Node& node) {
    if (node.text.find(begin_mark) == std::string::npos) {
      return;
    }
    const std::string text = std::exchange(node.text, {});
    bool good = true;
    for (std::size_t at = 0; at < text.size() && good;) {
      const std::string_view rest = std::string_view(text).substr(at);
      if (rest.starts_with(plain_mark)) {
        node.text += begin_mark;
        at += plain_mark.size();
      } else if (rest.starts_with(begin_mark)) {
        const std::size_t end = rest.find('}');
        good = insert(node, rest.substr(0, end == std::string_view::npos ? end : end + 1), text);
        at += end + 1;
      } else {
        node.text += text[at++];
      }
    }
    if (!good) {
      node.kind = Node::Kind::broken;
    }
  }

  /// Appends the value of "${name}", a part of the scalar's `text`.
  bool insert(Node& node, std::string_view written, std::string_view text) {
    const bool closed = written.ends_with('}');
    const std::string name(
        closed ? written.substr(begin_mark.size(), written.size() - begin_mark.size() - 1)
               : std::string_view());
    if (!is_name(name)) {
      findings_.error(node.position, in_quotes(written) + " is no variable",
                      "a variable is written ${name}; the characters '${' are written '$${'");
      return false;
    }
    const Variable* variable = find(node, name);
    if (variable == nullptr) {
      return false;
    }
    const Node& value = variable->entry.value;
    if (node.text.size() + value.text.size() > max_text) {
      findings_.error(node.position, "a text with variables is longer than 64 KiB", {});
      return false;
    }
    node.text += value.text;
    if (written.data() == text.data()) {
      node.quoted = written.size() == text.size() ? value.quoted : node.quoted;
      node.home = value.home.value_or(value.position.file);
    }
    node.via += (node.via.empty() ? "${" : ", ${") + name + "} is " + in_quotes(value.text) + " (" +
                shown(findings_.place_of(value.position), max_place) + ")";
    return true;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const Variable& variable : all_) {
      result.push_back(variable.entry.key);
    }
    return result;
  }

  std::string advice_for(const std::string& name) const {
    const std::vector<std::string> known = names();
    if (const auto near = nearest(name, known)) {
      return "did you mean '" + *near + "'?";
    }
    return known.empty() ? "the deck has no variables; give 'variables: {" + name + ": ...}'"
                         : "known: " + join(known) + "; others are given under 'variables'";
  }

  std::string advice_for_unused(const std::string& name) const {
    std::vector<std::string> others;
    for (const Variable& variable : all_) {
      if (variable.used) {
        others.push_back(variable.entry.key);
      }
    }
    if (const auto near = nearest(name, others)) {
      return "did you mean '" + *near + "'?";
    }
    return others.empty() ? "write ${" + name + "} where its value belongs, or take it out"
                          : "used are " + join(others);
  }

  std::vector<Variable> all_;
  Findings& findings_;
};

}  // namespace

void put_in_variables(Node& root, const Schema& schema, Findings& findings) {
  if (schema.find(variables_key) == nullptr) {
    return;
  }
  Node section;
  const auto entry = std::ranges::find(root.entries, variables_key, &NodeEntry::key);
  if (entry != root.entries.end()) {
    section = std::move(entry->value);
    root.entries.erase(entry);
  }
  if (!section.is(Node::Kind::map) && !section.is(Node::Kind::null)) {
    findings.error(
        section.position,
        "'variables' must be a section of names and values, found " + found_text(section),
        "write variables: {width: 128}");
  }
  Variables variables(section, findings);
  variables.put_into(root);
  variables.refuse_unused();
}

std::string without_variables(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    result +=
        text.substr(at).starts_with(begin_mark) ? std::string("$$") : std::string(1, text[at]);
  }
  return result;
}

}  // namespace zygos::deck
