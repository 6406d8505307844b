// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_target.hpp"
#include "io/checkpoint/checkpoint_manifest.hpp"

namespace zygos::fuzz {

/// What is accepted has to be accepted again when it is written out.
void fuzz_checkpoint_manifest(Bytes input) {
  may_refuse([&] {
    const io::Manifest read = io::parse_manifest(text_of(input));
    const std::string text = io::manifest_text(read);
    try {
      ZYGOS_REQUIRE(io::manifest_text(io::parse_manifest(text)) == text,
                    "a manifest differs from what it was written as");
    } catch (const CheckpointError& error) {
      throw InternalError(std::string("a manifest that was written is refused: ") + error.what());
    }
  });
}

}  // namespace zygos::fuzz
