// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a report asks of the command line, without the rest of that.
#include "app/build_facts.hpp"

namespace zygos::app {

std::string zygos_version() { return "of fuzzers"; }

}  // namespace zygos::app
