// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_target.hpp"

#include "zygos/io/text_data.hpp"

namespace zygos::fuzz {

void fuzz_text(Bytes input) {
  const auto file = file_of(input, "input.txt");
  for (const auto unit : {io::TextUnit::bytes, io::TextUnit::characters, io::TextUnit::words}) {
    may_refuse([&] { io::load_text(file, {.sequence = 4, .unit = unit, .validation = 0.2}); });
  }
}

}  // namespace zygos::fuzz
