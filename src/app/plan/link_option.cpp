// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/plan/link_option.hpp"

#include "deck/read/quantities.hpp"
#include "deck/read/text.hpp"

#include "zygos/core/error.hpp"
#include "zygos/deck/units.hpp"

#include <fmt/format.h>

#include <array>

namespace zygos::app {

namespace {

double part_from(const std::string& text, deck::Unit unit, const std::string& whole) {
  const std::array allowed{unit};
  const auto reading = deck::read_quantity(text, allowed);
  if (!reading.value || reading.value->value < 0.0) {
    throw UsageError(
        fmt::format("--link is '{}'; '{}' is not {}. Give bandwidth and latency, like "
                    "--link '12 GB/s,5 us'",
                    whole, text, deck::description_of(allowed)));
  }
  return reading.value->value;
}

}  // namespace

std::optional<lane::Link> link_from(const std::string& text) {
  if (text.empty()) {
    return std::nullopt;
  }
  const auto comma = text.find(',');
  const std::string bandwidth(deck::trimmed(text.substr(0, comma)));
  const std::string latency =
      comma == std::string::npos ? "0 s" : std::string(deck::trimmed(text.substr(comma + 1)));
  return lane::Link{part_from(bandwidth, deck::Unit::bandwidth, text),
                    part_from(latency, deck::Unit::seconds, text)};
}

}  // namespace zygos::app
