// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/error.hpp"
#include "zygos/plan/slots.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::plan::test_slots {
namespace {

TEST_CASE("A slot is found by its name, in whatever order the slots were laid out") {
  const SlotTable slots({{{Role::sample_ids}, 0, 40},
                         {{Role::kept_workspace, 3, 1, 0}, 256, 8},
                         {{Role::model_input}, 512, 100}});

  CHECK(slots.at({Role::model_input}).offset == 512);
  CHECK(slots.at({Role::kept_workspace, 3, 1, 0}).offset == 256);
  CHECK(slots.find({Role::kept_workspace, 3, 1, 1}) == nullptr);
  CHECK(slots.used_bytes() == 612);
}

TEST_CASE("A slot that was not planned is named, as is one that was planned twice") {
  using Catch::Matchers::ContainsSubstring;
  using Catch::Matchers::MessageMatches;

  CHECK_THROWS_MATCHES(SlotTable().at({Role::scratch_workspace, 4, 1, 2}), InternalError,
                       MessageMatches(ContainsSubstring("scratch_workspace 1 of node 4, slice 2")));
  CHECK_THROWS_MATCHES(SlotTable({{{Role::target}, 0, 4}, {{Role::target}, 256, 4}}), InternalError,
                       MessageMatches(ContainsSubstring("two slots 'target'")));
}

}  // namespace
}  // namespace zygos::plan::test_slots
