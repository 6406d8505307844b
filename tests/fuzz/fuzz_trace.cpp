// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/report/report_data.hpp"
#include "fuzz/fuzz_target.hpp"

namespace zygos::fuzz {

void fuzz_trace(Bytes input) {
  const auto file = file_of(input, "trace.json");
  may_refuse([&] {
    // What the page is made of has to be writable.
    static_cast<void>(app::gather_report(file.parent_path())
                          .page.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  });
}

}  // namespace zygos::fuzz
