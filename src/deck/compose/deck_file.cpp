// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/compose/deck_file.hpp"

#include "deck/read/reader.hpp"

#include "zygos/core/error.hpp"

#include <fstream>
#include <iostream>

namespace zygos::deck {
namespace {

namespace fs = std::filesystem;

std::string text_of(std::istream& stream) {
  std::string text(max_deck_bytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

}  // namespace

std::optional<std::string> reading_problem(const fs::path& file) {
  std::error_code error;
  if (fs::is_directory(file, error)) {
    return "it is a folder; give the YAML file";
  }
  if (!std::ifstream(file, std::ios::binary)) {
    return "there is no such file, or it may not be read";
  }
  return std::nullopt;
}

std::string deck_text(const fs::path& file) {
  if (file == "-") {
    return text_of(std::cin);
  }
  if (const auto problem = reading_problem(file)) {
    throw UsageError("can't read the deck " + file.string() + ": " + *problem);
  }
  std::ifstream stream(file, std::ios::binary);
  return text_of(stream);
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

}  // namespace zygos::deck
