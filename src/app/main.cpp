// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/app.hpp"

int main(int argc, char** argv) { return zygos::app::run(argc, argv); }
