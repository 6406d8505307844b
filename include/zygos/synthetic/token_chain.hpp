// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Synthetic sequences of tokens, a twin of text that needs no file: a Markov chain in which four
// tokens may follow each, with probabilities 1/2, 1/4, 1/8 and 1/8. No model's loss is below the
// chain's entropy, 1.75 bits or 1.213 nats per token (a little less where two of the four are the
// same). Sequence i is a pure function of (seed, i), so that a test set is the same stream further
// on.
#pragma once

#include "zygos/io/dataset.hpp"

#include <cstdint>

namespace zygos::synthetic {

struct TokenChainOptions {
  std::int64_t samples = 10'000;  ///< at least 1
  std::int64_t first = 0;         ///< number of the first sequence in the stream; at least 0
  std::int64_t sequence = 128;    ///< tokens of a sequence; at least 1
  std::int64_t vocabulary = 64;   ///< number of tokens; 2 to 2^24
  std::uint64_t seed = 1;
};

/// Each sequence with the next tokens as its labels. Throws UsageError for options out of range.
io::Dataset make_token_chain(const TokenChainOptions& options);

}  // namespace zygos::synthetic
