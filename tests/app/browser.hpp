// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Chromium without a window, for pages that are files.
#pragma once

#include "process.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace zygos::test {

/// Its name in PATH; skips the test where there is none (support/skip.hpp: not in CI).
std::string chromium_or_skip();

/// The page's elements after its script has run, as HTML. `address`: what follows the page's name,
/// such as "#selfcheck". Fails unless Chromium ends well.
std::string dom_of(const std::filesystem::path& page, const std::string& address,
                   const std::vector<std::string>& options = {});

/// What the page found when it checked itself (src/app/report/page/selfcheck.js).
nlohmann::json selfcheck_of(const std::filesystem::path& page, const std::string& address = "",
                            const std::vector<std::string>& options = {});

/// The page printed, as the bytes of a PDF.
std::string pdf_of(const std::filesystem::path& page, const std::string& address = "");

}  // namespace zygos::test
