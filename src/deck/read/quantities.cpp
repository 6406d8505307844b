// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/read/quantities.hpp"

#include "deck/read/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace zygos::deck {
namespace {

struct UnitWord {
  std::string_view word;
  double factor;
};

using Words = std::span<const UnitWord>;

constexpr double kibi = 1024.0;
constexpr UnitWord byte_words[] = {{"B", 1.0},
                                   {"KiB", kibi},
                                   {"MiB", kibi* kibi},
                                   {"GiB", kibi* kibi* kibi},
                                   {"TiB", kibi* kibi* kibi* kibi},
                                   {"kB", 1e3},
                                   {"MB", 1e6},
                                   {"GB", 1e9},
                                   {"TB", 1e12}};
constexpr UnitWord second_words[] = {
    {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}, {"min", 60.0}, {"h", 3600.0}};
constexpr UnitWord bandwidth_words[] = {
    {"B/s", 1.0},  {"KiB/s", kibi}, {"MiB/s", kibi* kibi}, {"GiB/s", kibi* kibi* kibi},
    {"kB/s", 1e3}, {"MB/s", 1e6},   {"GB/s", 1e9}};
constexpr UnitWord step_words[] = {{"steps", 1.0}, {"step", 1.0}};
constexpr UnitWord epoch_words[] = {{"epochs", 1.0}, {"epoch", 1.0}};

Words table_of(Unit unit) {
  switch (unit) {
    case Unit::bytes:
      return byte_words;
    case Unit::seconds:
      return second_words;
    case Unit::bandwidth:
      return bandwidth_words;
    case Unit::steps:
      return step_words;
    case Unit::epochs:
      return epoch_words;
  }
  return {};
}

constexpr std::array all_units = {Unit::bytes, Unit::seconds, Unit::bandwidth, Unit::steps,
                                  Unit::epochs};

bool whole_only(Unit unit) { return unit == Unit::steps || unit == Unit::epochs; }

/// The unit and factor a word stands for.
std::optional<Quantity> unit_of(std::string_view word) {
  for (const Unit unit : all_units) {
    for (const UnitWord& entry : table_of(unit)) {
      if (entry.word == word) {
        return Quantity{entry.factor, unit};
      }
    }
  }
  return std::nullopt;
}

std::string_view noun_of(Unit unit) {
  switch (unit) {
    case Unit::bytes:
      return "size";
    case Unit::seconds:
      return "time";
    case Unit::bandwidth:
      return "bandwidth";
    case Unit::steps:
    case Unit::epochs:
      break;
  }
  return "count";
}

std::string usual_word(Unit unit) {
  switch (unit) {
    case Unit::bytes:
      return "MiB";
    case Unit::seconds:
      return "s";
    case Unit::bandwidth:
      return "GB/s";
    case Unit::steps:
      return "steps";
    case Unit::epochs:
      return "epochs";
  }
  return {};
}

/// Length of the number at the front: sign, digits, fraction, exponent.
std::size_t number_length(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t first = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
      ++at;
    }
    return at > first;
  };
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) {
    ++at;
  }
  bool any = digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    any = digits() || any;
  }
  if (!any) {
    return 0;
  }
  const std::size_t mantissa = at;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) {
      ++at;
    }
    if (!digits()) {
      at = mantissa;
    }
  }
  return at;
}

std::string_view without_plus(std::string_view text) {
  return text.starts_with('+') ? text.substr(1) : text;
}

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string advice_for_integer(std::string_view text) {
  const std::string_view digits = text.substr(text.find_first_of("+-") == 0 ? 1 : 0);
  if (digits.starts_with("0x") || digits.starts_with("0o") || digits.starts_with("0b")) {
    return "write it as a decimal number";
  }
  std::string plain;
  std::copy_if(text.begin(), text.end(), std::back_inserter(plain),
               [](char c) { return c != '_' && c != ','; });
  if (plain != text && all_digits(plain)) {
    return "write " + plain;
  }
  if (number_length(text) == text.size() && !text.empty()) {
    const Reading<double> real = read_real(text);
    if (real.value && std::abs(*real.value) < 1e15 && std::floor(*real.value) == *real.value) {
      return "write " + std::to_string(static_cast<std::int64_t>(*real.value));
    }
  }
  return {};
}

std::string unknown_unit(std::string_view word, std::string_view text,
                         std::span<const Unit> allowed, std::string& advice) {
  std::vector<std::string> words;
  for (const Unit unit : allowed) {
    for (const UnitWord& entry : table_of(unit)) {
      words.emplace_back(entry.word);
    }
  }
  advice = suggestion(word, words);
  return "has the unknown unit " + in_quotes(word) + " in " + in_quotes(text);
}

}  // namespace

std::string_view name_of(Unit unit) {
  switch (unit) {
    case Unit::bytes:
      return "bytes";
    case Unit::seconds:
      return "time";
    case Unit::bandwidth:
      return "bandwidth";
    case Unit::steps:
      return "steps";
    case Unit::epochs:
      return "epochs";
  }
  return {};
}

std::vector<std::string_view> words_of(Unit unit) {
  std::vector<std::string_view> words;
  for (const UnitWord& entry : table_of(unit)) {
    words.push_back(entry.word);
  }
  return words;
}

std::string text_of(double value) {
  std::array<char, 64> buffer{};
  const double size = std::abs(value);
  const bool plain = size == 0.0 || (size >= 1e-5 && size < 1e15);
  const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format).ptr;
  return {buffer.data(), end};
}

std::string text_of(const Quantity& quantity) {
  if (quantity.unit == Unit::steps || quantity.unit == Unit::epochs) {
    const std::string word(table_of(quantity.unit)[quantity.value == 1.0 ? 1 : 0].word);
    return text_of(quantity.value) + " " + word;
  }
  std::string best;
  std::size_t best_cost = 0;
  for (const UnitWord& entry : table_of(quantity.unit)) {
    const std::string number = text_of(quantity.value / entry.factor);
    const Reading<double> again = read_real(number);
    const bool exact = again.value && *again.value * entry.factor == quantity.value;
    // Exponents are for machines; a plain number in another unit reads better.
    const std::size_t cost = number.size() + (number.find('e') == std::string::npos ? 0 : 100);
    const bool base_unit = entry.factor == 1.0;  // exact by definition
    if ((exact || base_unit) && (best.empty() || cost < best_cost)) {
      best = number + " " + std::string(entry.word);
      best_cost = cost;
    }
  }
  return best;
}

Reading<std::int64_t> read_integer(std::string_view text) {
  const std::string_view plain = without_plus(text);
  const std::string_view digits = plain.starts_with('-') ? plain.substr(1) : plain;
  if (!all_digits(digits) || text.starts_with("+-")) {
    return {{}, "must be an integer, found " + in_quotes(text), advice_for_integer(text)};
  }
  if (digits.size() > 1 && digits[0] == '0') {
    const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
    return {{},
            "must be an integer without leading zeros, found " + in_quotes(text),
            "some readers take such numbers as octal; write " + shown(digits.substr(first))};
  }
  std::int64_t value = 0;
  const auto result = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (result.ec != std::errc()) {
    return {{}, "must be an integer of 64 bits, found " + in_quotes(text), {}};
  }
  return {value, {}, {}};
}

Reading<double> read_real(std::string_view text) {
  const std::string_view plain = without_plus(text);
  if (text.empty() || number_length(text) != text.size()) {
    return {{}, "must be a number, found " + in_quotes(text), {}};
  }
  double value = 0.0;
  const auto result = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (result.ec != std::errc() || !std::isfinite(value)) {
    return {{}, "must be a number that fits 64-bit floating point, found " + in_quotes(text), {}};
  }
  return {value, {}, {}};
}

Reading<Quantity> read_quantity(std::string_view text, std::span<const Unit> allowed) {
  const std::size_t length = number_length(text);
  if (length == 0) {
    return {{}, "must be " + description_of(allowed) + ", found " + in_quotes(text), {}};
  }
  const std::string_view number = text.substr(0, length);
  const std::string_view word = trimmed(text.substr(length));
  if (word.empty()) {
    return {{}, "needs a unit, found " + in_quotes(text), "write " + samples_of(number, allowed)};
  }
  const std::optional<Quantity> unit = unit_of(word);
  if (!unit) {
    std::string advice;
    std::string problem = unknown_unit(word, text, allowed, advice);
    return {{}, std::move(problem), std::move(advice)};
  }
  if (std::find(allowed.begin(), allowed.end(), unit->unit) == allowed.end()) {
    return {{},
            "must be " + description_of(allowed) + ", found the " +
                std::string(noun_of(unit->unit)) + " " + in_quotes(text),
            {}};
  }
  Reading<double> factor = read_real(number);
  if (!factor.value) {
    return {{}, factor.problem, {}};
  }
  const double exact = *factor.value * unit->value;
  const double value = unit->unit == Unit::bytes ? std::floor(exact) : exact;
  if (whole_only(unit->unit) && std::floor(value) != value) {
    return {{},
            "must be a whole number of " + std::string(name_of(unit->unit)) + ", found " +
                in_quotes(text),
            {}};
  }
  if (value < 0.0 || !(value < 9e18)) {
    return {{}, "is out of range: " + in_quotes(text), "it can't be negative or above 9e18"};
  }
  return {Quantity{value, unit->unit}, {}, {}};
}

std::string description_of(std::span<const Unit> units) {
  std::vector<std::string> parts;
  for (const Unit unit : units) {
    switch (unit) {
      case Unit::bytes:
        parts.emplace_back("a size like '2 GiB'");
        break;
      case Unit::seconds:
        parts.emplace_back("a time like '10 min'");
        break;
      case Unit::bandwidth:
        parts.emplace_back("a bandwidth like '12 GB/s'");
        break;
      case Unit::steps:
        parts.emplace_back("a count like '500 steps'");
        break;
      case Unit::epochs:
        parts.emplace_back("a count like '2 epochs'");
        break;
    }
  }
  return join(parts, " or ");
}

std::string samples_of(std::string_view number, std::span<const Unit> units) {
  std::vector<std::string> samples;
  for (const Unit unit : units) {
    samples.push_back("'" + shown(number) + " " + usual_word(unit) + "'");
  }
  return join(samples, " or ");
}

}  // namespace zygos::deck
