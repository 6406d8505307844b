// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/plan/tf32.hpp"

#include <catch2/catch_test_macros.hpp>

namespace zygos::app::test_tf32 {

TEST_CASE("only a device lane of a CUDA build has tf32") {
  CHECK(has_tf32(lane::Kind::device, "Cuda"));
  CHECK_FALSE(has_tf32(lane::Kind::device, "HIP"));
  CHECK_FALSE(has_tf32(lane::Kind::device, "SYCL"));
  CHECK_FALSE(has_tf32(lane::Kind::emulated, "Cuda"));
  CHECK_FALSE(has_tf32(lane::Kind::host, "Cuda"));
}

TEST_CASE("a run says which lanes have tf32 and which compute in f32") {
  const Tf32Lanes both{{"gpu"}, {"host", "other"}};
  CHECK(inexact_text(both) == "products of floats as tf32 on gpu (precision)");
  CHECK(exact_text(both) == "f32 on lanes without it: host, other");
  CHECK(exact_text({{"gpu"}, {}}).empty());
  CHECK(inexact_text({{}, {"host"}}).empty());
  CHECK(exact_text({}).empty());
}

}  // namespace zygos::app::test_tf32
