// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/device/transposed_filters.hpp"
#include "support/conv_shapes.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::ops::test_transposed_filters {
namespace {

using testing::Buffer;
using testing::conv_shapes;
using testing::make_exec;
using testing::random_values;

/// Those of conv_shapes(), and more channels and filters than a block has, with kernels of every
/// length of a run.
std::vector<Conv2d> shapes() {
  std::vector<Conv2d> all = conv_shapes();
  for (const std::int64_t kernel : {1, 2, 3, 4, 5, 6}) {
    for (const std::int64_t stride : {1, 2}) {
      all.push_back({1, 35, 50, 1, {9, kernel, stride}, {9, kernel, stride}});
      all.push_back({1, 34, 40, 2, {9, kernel, stride}, {9, 2, 1}});
    }
  }
  return all;
}

/// By the definition: a tap after the other, of those whose rows and columns count.
template <class T>
void expect_turned(const ConvPhase& phase, const std::vector<T>& weights,
                   const std::vector<T>& transposed) {
  const Conv2d& c = phase.conv;
  const std::int64_t channels = c.channels / c.groups;
  const std::int64_t filters = c.filters / c.groups;
  std::size_t at = 0;
  std::int64_t wrong = 0;
  for (std::int64_t channel = 0; channel < c.channels; ++channel) {
    for (std::int64_t filter = 0; filter < filters; ++filter) {
      const std::int64_t row = channel / channels * filters + filter;
      for (std::int64_t i = 0; i < phase.y.taps; ++i) {
        for (std::int64_t j = 0; j < phase.x.taps; ++j) {
          const std::int64_t y = phase.first_y + i * phase.step_y;
          const std::int64_t x = phase.first_x + j * phase.step_x;
          const std::int64_t from =
              ((row * channels + channel % channels) * c.y.kernel + y) * c.x.kernel + x;
          wrong += transposed[at++] == weights[static_cast<std::size_t>(from)] ? 0 : 1;
        }
      }
    }
  }
  CHECK(wrong == 0);
  CHECK(at == transposed.size());
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("Transposed filters are those of each channel, of the taps that count", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const Conv2d& c : shapes()) {
    CAPTURE_CONV(c);
    const std::vector<double> values = random_values(testing::weights(c), 5);
    const Buffer<Exec, T> weights(values);
    for (std::int64_t index = 0; index < c.y.stride * c.x.stride; ++index) {
      const ConvPhase phase = input_phase(c, index);
      Buffer<Exec, T> transposed(static_cast<std::size_t>(phase.weights()));

      transpose_filters(exec, phase, weights.const_vector().data(), transposed.vector().data());
      exec.fence("zygos::test");

      expect_turned(phase, weights.values(), transposed.values());
      CHECK(transposed.guards_intact());
    }
  }
}

}  // namespace zygos::ops::test_transposed_filters
