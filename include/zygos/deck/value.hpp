// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Checked values. A Section exists only after the schema was checked, so the getters need no error
// handling: asking for a key that the schema does not have, or for the wrong type, is an
// InternalError of the caller.
#pragma once

#include "zygos/deck/findings.hpp"
#include "zygos/deck/units.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::deck {

namespace detail {
struct Value;
}  // namespace detail

/// A checked section with its defaults filled in. Cheap to copy; keeps the deck's values alive.
class Section {
 public:
  /// A section without keys, for callers that need one before a deck is read.
  Section();
  explicit Section(std::shared_ptr<const detail::Value> value);

  /// Whether the key has a value, be it from the deck, the command line or a default.
  bool has(std::string_view key) const;
  /// Whether the value is one of the key's words, e.g. is_word("share", "auto").
  bool is_word(std::string_view key, std::string_view word) const;

  std::int64_t integer(std::string_view key) const;
  /// An integer counts as a real.
  double real(std::string_view key) const;
  bool boolean(std::string_view key) const;
  /// Texts, choices, words and the discriminator of a variant.
  const std::string& text(std::string_view key) const;
  /// Absolute, or relative to the working directory if the deck's name was.
  std::filesystem::path path(std::string_view key) const;
  Quantity quantity(std::string_view key) const;
  std::size_t bytes(std::string_view key) const;
  double seconds(std::string_view key) const;
  double bytes_per_second(std::string_view key) const;
  std::vector<std::int64_t> integers(std::string_view key) const;
  std::vector<double> reals(std::string_view key) const;
  std::vector<std::string> texts(std::string_view key) const;
  /// A section or a variant.
  Section section(std::string_view key) const;
  /// The elements of a list of sections or variants, or the named sections in the deck's order.
  std::vector<Section> sections(std::string_view key) const;

  /// What this section is called: its key, the user's name of a named section, or the name of a
  /// list's element.
  const std::string& name() const;
  /// Of the section: its key, or its first character in a list.
  const Position& position() const;
  /// Of a key's value; of the section if the value is absent.
  const Position& position(std::string_view key) const;
  Origin origin(std::string_view key) const { return position(key).origin; }

 private:
  const detail::Value& at(std::string_view key) const;

  std::shared_ptr<const detail::Value> value_;
};

}  // namespace zygos::deck
