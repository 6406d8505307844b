// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/app.hpp"
#include "app/standard_streams.hpp"

int main(int argc, char** argv) {
  zygos::app::prepare_standard_streams();
  return zygos::app::run(argc, argv);
}
