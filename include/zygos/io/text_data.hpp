// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Text as sequences of token ids, each with the sequence one token further on as its labels.
#pragma once

#include "zygos/io/dataset.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace zygos::io {

/// What a token is.
enum class TextUnit {
  bytes,       ///< 256 ids
  characters,  ///< the code points of UTF-8 that occur, in their order
  words,       ///< words, marks and line ends, the most frequent first, behind 0 for all others
};

struct TextOptions {
  std::int64_t sequence = 128;  ///< tokens of a sample
  /// From one training sample's first token to the next one's; 0: `sequence`, as in validation.
  std::int64_t stride = 0;
  TextUnit unit = TextUnit::characters;
  std::int64_t max_words = 10'000;  ///< ids of words, with that of all others
  double validation = 0.1;  ///< part of the text, at its end, that is not trained on; below 1
};

struct TextData {
  Dataset training;
  std::optional<Dataset> validation;    ///< none if the options want none
  std::vector<std::string> vocabulary;  ///< by id; empty for the unknown word
};

/// Reads a text, plain or gzip. Throws UsageError for options out of range, DataError for a text
/// that is too short for one sample of each part, or characters that are not UTF-8.
TextData load_text(const std::filesystem::path& file, const TextOptions& options);

}  // namespace zygos::io
