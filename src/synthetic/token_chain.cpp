// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/synthetic/token_chain.hpp"

#include "io/next_token.hpp"

#include "zygos/core/error.hpp"
#include "zygos/core/philox.hpp"

#include <array>
#include <string>

namespace zygos::synthetic {
namespace {

/// Streams of the chain itself and of the walks along it.
constexpr std::uint32_t successors_stream = 1;
constexpr std::uint32_t walk_stream = 2;

void require(bool holds, const char* option, std::int64_t found, const char* allowed) {
  if (!holds) {
    throw UsageError(std::string("tokens: ") + option + " is " + std::to_string(found) +
                     "; it must be " + allowed);
  }
}

/// One of `bound` numbers from 32 random bits.
std::int32_t below(std::int64_t bound, std::uint32_t word) {
  return static_cast<std::int32_t>((std::uint64_t{word} * static_cast<std::uint64_t>(bound)) >> 32);
}

/// Which of four with probabilities 1/2, 1/4, 1/8 and 1/8.
std::size_t choice(std::uint32_t word) {
  constexpr std::array<std::size_t, 8> of_eighth{0, 0, 0, 0, 1, 1, 2, 3};
  return of_eighth[word >> 29];
}

}  // namespace

io::Dataset make_token_chain(const TokenChainOptions& options) {
  constexpr std::int64_t max_tokens = std::int64_t{1} << 24;
  require(options.samples >= 1, "samples", options.samples, "at least 1");
  require(options.first >= 0, "first", options.first, "at least 0");
  require(options.sequence >= 1 && options.sequence < max_tokens, "sequence", options.sequence,
          "from 1 to 16777215");
  require(options.vocabulary >= 2 && options.vocabulary <= max_tokens, "vocabulary",
          options.vocabulary, "from 2 to 16777216");
  const RngKey successors{options.seed, RngPurpose::data, successors_stream};
  const RngKey walk{options.seed, RngPurpose::data, walk_stream};
  return io::next_token_dataset(
      "tokens", options.samples, options.sequence, options.vocabulary,
      [&](std::int64_t sample, std::span<std::int32_t> tokens) {
        const auto id = static_cast<std::uint64_t>(options.first + sample);
        std::int32_t token = 0;
        for (std::size_t i = 0; i < tokens.size(); ++i) {
          const std::uint32_t word = random_block(walk, id, static_cast<std::uint32_t>(i)).v[0];
          const PhiloxBlock next = random_block(successors, static_cast<std::uint64_t>(token), 0);
          token = below(options.vocabulary, i == 0 ? word : next.v[choice(word)]);
          tokens[i] = token;
        }
      });
}

}  // namespace zygos::synthetic
