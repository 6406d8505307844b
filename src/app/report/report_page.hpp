// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The report as one HTML page: markup, style and script lie in src/app/report/page and are compiled
// in.
#pragma once

#include "app/report/report_data.hpp"

#include <string>
#include <string_view>

namespace zygos::app {

extern const std::string_view report_markup;
extern const std::string_view report_style;
extern const std::string_view report_script;

/// The whole page. Its policy (CSP) lets a browser run and style it with what is compiled in and
/// nothing else, whatever the names in a run say, and fetch nothing.
std::string report_page(const ReportData& data);

}  // namespace zygos::app
