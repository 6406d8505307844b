// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/plan/device_graphs.hpp"

#include <catch2/catch_test_macros.hpp>

namespace zygos::app::test_device_graphs {

TEST_CASE("a run says on which lanes steps are captured, and that there are none") {
  CHECK(text_of(GraphLanes{}).empty());
  CHECK(text_of({{"gpu"}, {}}) == "steps captured on gpu (device_graphs)");
  CHECK(text_of({{"gpu", "other"}, {"host"}}) ==
        "steps captured on gpu, other; none on host (device_graphs)");
  CHECK(text_of({{}, {"host", "apu"}}) == "none: steps can be captured on none of host, apu");
}

}  // namespace zygos::app::test_device_graphs
