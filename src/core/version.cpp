// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/version.hpp"

namespace zygos {
namespace {

#define ZYGOS_TEXT_OF(x) #x
#define ZYGOS_TEXT(x) ZYGOS_TEXT_OF(x)
constexpr std::string_view text = ZYGOS_TEXT(ZYGOS_VERSION_MAJOR) "." ZYGOS_TEXT(
    ZYGOS_VERSION_MINOR) "." ZYGOS_TEXT(ZYGOS_VERSION_PATCH);
#undef ZYGOS_TEXT
#undef ZYGOS_TEXT_OF

}  // namespace

std::string_view version() { return text; }

}  // namespace zygos
