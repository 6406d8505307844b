// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/device/finish.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::ops::test_finish {

using testing::Buffer;
using testing::difference;
using testing::make_exec;
using testing::random_values;
using testing::rounded;

TEMPLATE_LIST_TEST_CASE("A bias is added to columns, or to the planes of images", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const std::size_t rows = 15;
  for (const std::size_t columns : {0U, 1U, 7U, 301U}) {
    for (const std::uint32_t planes : {0U, 1U, 5U}) {
      for (const bool has_bias : {false, true}) {
        CAPTURE(columns, planes, has_bias);
        const auto values = rounded<T>(random_values(rows * columns, 1));
        const auto bias_values = rounded<T>(random_values(planes == 0 ? columns : planes, 2));
        std::vector<double> expected(values);
        for (std::size_t i = 0; i < expected.size(); ++i) {
          const std::size_t at = planes == 0 ? i % columns : i / columns % planes;
          expected[i] = std::max(expected[i] + (has_bias ? bias_values[at] : 0.0), 0.0);
        }
        Buffer<Exec, T> c(values);
        const Buffer<Exec, T> bias(bias_values);
        Epilogue<Exec, T> epilogue{{}, Activation::relu};
        if (has_bias) {
          epilogue.bias = bias.const_vector();
        }

        finish_rows("zygos::test::finish", exec, rows, columns, c.data(), epilogue, planes);
        exec.fence("zygos::test");

        CHECK(difference(c.values(), expected, 4.0) == "");
        CHECK(c.guards_intact());
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("A result without bias and activation is left alone", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const auto values = rounded<T>(random_values(12, 1));
  Buffer<Exec, T> c(values);

  finish_rows("zygos::test::finish", exec, 3, 4, c.data(), Epilogue<Exec, T>{});
  exec.fence("zygos::test");

  CHECK(difference(c.values(), values, 1.0) == "");
}

}  // namespace zygos::ops::test_finish
