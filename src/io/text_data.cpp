// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/io/text_data.hpp"

#include "io/byte_source.hpp"
#include "io/next_token.hpp"

#include "zygos/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <string_view>

namespace zygos::io {
namespace {

void require_options(const TextOptions& options) {
  if (options.sequence < 1 || options.stride < 0 || options.max_words < 2 ||
      !(options.validation >= 0.0 && options.validation < 1.0)) {
    throw UsageError(
        fmt::format("text: sequence {}, stride {}, most_words {} and validation {} were given; "
                    "allowed are at least 1, 0 and 2, and 0 up to but not 1",
                    options.sequence, options.stride, options.max_words, options.validation));
  }
}

std::string read_all(const std::filesystem::path& file) {
  ByteSource source(file, Contents::text);
  std::string text;
  std::array<std::byte, 1 << 16> part{};
  for (std::size_t got = source.read(part); got > 0; got = source.read(part)) {
    text.append(reinterpret_cast<const char*>(part.data()), got);
  }
  return text;
}

struct Tokens {
  std::vector<std::int32_t> ids;
  std::vector<std::string> vocabulary;
};

Tokens byte_tokens(std::string_view text) {
  Tokens tokens;
  tokens.ids.reserve(text.size());
  for (const char byte : text) {
    tokens.ids.push_back(static_cast<unsigned char>(byte));
  }
  for (int byte = 0; byte < 256; ++byte) {
    tokens.vocabulary.emplace_back(1, static_cast<char>(byte));
  }
  return tokens;
}

/// Bytes of the character of UTF-8 that begins here, 0 if none does.
std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length > text.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) {
      return 0;
    }
  }
  return length;
}

/// Calls `take` with the characters of the text, one after the other.
template <class Take>
void for_each_character(std::string_view text, const std::string& name, Take take) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text.substr(at));
    if (length == 0) {
      throw DataError(
          fmt::format("{}: byte {}: found no character of UTF-8; convert the text, or "
                      "take its bytes as tokens",
                      name, at));
    }
    take(text.substr(at, length));
    at += length;
  }
}

bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '\'' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// Calls `take` with words, marks and line ends; other white space parts them.
template <class Take>
void for_each_word(std::string_view text, Take take) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    while (is_of_word(text[at]) && end < text.size() && is_of_word(text[end])) {
      ++end;
    }
    if (text[at] != ' ' && text[at] != '\t' && text[at] != '\r') {
      take(text.substr(at, end - at));
    }
    at = end;
  }
}

Tokens character_tokens(std::string_view text, const std::string& name) {
  std::map<std::string_view, std::int32_t> known;  // UTF-8 sorts as its code points do
  std::size_t count = 0;
  for_each_character(text, name, [&](std::string_view piece) {
    known.emplace(piece, 0);
    ++count;
  });
  Tokens tokens;
  for (auto& [piece, id] : known) {
    id = static_cast<std::int32_t>(tokens.vocabulary.size());
    tokens.vocabulary.emplace_back(piece);
  }
  tokens.ids.reserve(count);
  for_each_character(text, name,
                     [&](std::string_view piece) { tokens.ids.push_back(known.at(piece)); });
  return tokens;
}

Tokens word_tokens(std::string_view text, std::int64_t max_words) {
  std::map<std::string_view, std::int64_t> counts;
  std::size_t count = 0;
  for_each_word(text, [&](std::string_view piece) {
    ++counts[piece];
    ++count;
  });
  std::vector<std::pair<std::string_view, std::int64_t>> words(counts.begin(), counts.end());
  std::ranges::stable_sort(words, [](const auto& a, const auto& b) { return a.second > b.second; });
  words.resize(std::min(words.size(), static_cast<std::size_t>(max_words - 1)));
  Tokens tokens;
  tokens.vocabulary.emplace_back();
  std::map<std::string_view, std::int32_t> known;
  for (const auto& [word, frequency] : words) {
    known.emplace(word, static_cast<std::int32_t>(tokens.vocabulary.size()));
    tokens.vocabulary.emplace_back(word);
  }
  tokens.ids.reserve(count);
  for_each_word(text, [&](std::string_view piece) {
    const auto found = known.find(piece);
    tokens.ids.push_back(found == known.end() ? 0 : found->second);  // 0: none of them
  });
  return tokens;
}

Tokens tokens_of(std::string_view text, const std::string& name, const TextOptions& options) {
  switch (options.unit) {
    case TextUnit::bytes:
      return byte_tokens(text);
    case TextUnit::characters:
      return character_tokens(text, name);
    case TextUnit::words:
      return word_tokens(text, options.max_words);
  }
  throw InternalError("a text of unknown units");
}

/// What is done with a part of the text, and how far apart its sequences begin.
struct Part {
  const char* use;
  std::int64_t stride;
};

/// Sequences, as many as have a label for each token.
Dataset windows(std::span<const std::int32_t> ids, const std::string& name, const Part& part,
                std::int64_t classes, const TextOptions& options) {
  const auto count = static_cast<std::int64_t>(ids.size());
  if (count <= options.sequence) {
    throw DataError(fmt::format(
        "{}: {} tokens are {}; sequences of {} need at least {}; take shorter sequences, or "
        "another text",
        name, count, part.use, options.sequence, options.sequence + 1));
  }
  const std::int64_t samples = (count - 1 - options.sequence) / part.stride + 1;
  return next_token_dataset(name, samples, options.sequence, classes,
                            [&](std::int64_t sample, std::span<std::int32_t> tokens) {
                              std::copy_n(ids.begin() + sample * part.stride, tokens.size(),
                                          tokens.begin());
                            });
}

}  // namespace

TextData load_text(const std::filesystem::path& file, const TextOptions& options) {
  require_options(options);
  const std::string name = file.string();
  const std::string text = read_all(file);
  Tokens tokens = tokens_of(text, name, options);
  const std::span<const std::int32_t> ids(tokens.ids);
  const auto classes = static_cast<std::int64_t>(tokens.vocabulary.size());
  const auto kept = static_cast<std::size_t>(
      std::llround(static_cast<double>(ids.size()) * (1.0 - options.validation)));
  const std::int64_t stride = options.stride == 0 ? options.sequence : options.stride;
  TextData data{windows(ids.first(kept), name, {"trained on", stride}, classes, options),
                std::nullopt, std::move(tokens.vocabulary)};
  if (options.validation > 0.0) {
    data.validation = windows(ids.subspan(kept), name, {"kept for validation", options.sequence},
                              classes, options);
  }
  return data;
}

}  // namespace zygos::io
