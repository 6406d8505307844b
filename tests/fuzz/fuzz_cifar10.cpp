// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_target.hpp"

#include "zygos/io/cifar10.hpp"

#include <array>

namespace zygos::fuzz {

void fuzz_cifar10(Bytes input) {
  const std::array files{file_of(input, "data_batch_1.bin")};
  may_refuse([&] { io::load_cifar10(files); });
}

}  // namespace zygos::fuzz
