// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/copy_samples.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include "zygos/core/bf16.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <string>
#include <vector>

namespace zygos::ops::test_copy_samples {

using testing::Buffer;
using testing::difference;
using testing::make_exec;
using testing::random_values;
using testing::rounded;

namespace {

struct Copy {
  std::string name;
  std::int64_t count;
  SampleLayout layout;
  std::int64_t from_stride, to_stride;
};

std::vector<Copy> copies() {
  return {{"no samples", 0, {1, {3}, {1}, {1}}, 3, 3},
          {"samples of one number", 5, {}, 1, 1},
          {"dense", 41, {3, {2, 3, 4}, {12, 4, 1}, {12, 4, 1}}, 24, 24},
          {"columns to rows", 33, {1, {7}, {33}, {1}}, 1, 7},
          {"rows to columns", 20000, {2, {1, 3}, {9, 1}, {1, 20000}}, 4, 1},
          {"images, channels last", 6, {3, {3, 5, 4}, {1, 12, 3}, {20, 4, 1}}, 60, 60},
          {"one wide sample", 1, {2, {300, 200}, {1, 300}, {200, 1}}, 0, 60000},
          {"a window of a larger array", 9, {2, {4, 5}, {40, 2}, {5, 1}}, 200, 20}};
}

/// One past the last element on a side.
std::size_t extent_of(const Copy& copy, std::int64_t stride,
                      const std::array<std::int64_t, SampleLayout::max_rank>& strides) {
  std::int64_t last = (copy.count - 1) * stride;
  for (std::size_t axis = 0; axis < copy.layout.rank; ++axis) {
    last += (copy.layout.dimensions[axis] - 1) * strides[axis];
  }
  return copy.count == 0 ? 0 : static_cast<std::size_t>(last + 1);
}

/// Element by element, with an index for every axis.
void copy_plainly(const Copy& copy, const std::vector<double>& from, std::vector<double>& to) {
  std::int64_t elements = 1;
  for (std::size_t axis = 0; axis < copy.layout.rank; ++axis) {
    elements *= copy.layout.dimensions[axis];
  }
  for (std::int64_t i = 0; i < copy.count * elements; ++i) {
    std::int64_t in = i / elements * copy.from_stride;
    std::int64_t out = i / elements * copy.to_stride;
    std::int64_t rest = i % elements;
    for (std::size_t axis = copy.layout.rank; axis-- > 0;) {
      in += rest % copy.layout.dimensions[axis] * copy.layout.from[axis];
      out += rest % copy.layout.dimensions[axis] * copy.layout.to[axis];
      rest /= copy.layout.dimensions[axis];
    }
    to[static_cast<std::size_t>(out)] = from[static_cast<std::size_t>(in)];
  }
}

template <class Exec, class From, class To>
void check_copies() {
  const Exec exec = make_exec<Exec>();
  for (const Copy& copy : copies()) {
    CAPTURE(copy.name);
    const auto source =
        rounded<From>(random_values(extent_of(copy, copy.from_stride, copy.layout.from), 3));
    auto expected = rounded<To>(random_values(extent_of(copy, copy.to_stride, copy.layout.to), 4));
    const Buffer<Exec, From> from(source);
    const Buffer<Exec, To> to(expected);
    copy_plainly(copy, source, expected);

    copy_samples<Exec, From, To>(exec, copy.count, copy.layout, from.data(), copy.from_stride,
                                 to.data(), copy.to_stride);
    exec.fence("zygos::test");

    CHECK(difference(to.values(), rounded<To>(expected), 0.0) == "");
    CHECK(to.guards_intact());
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("Samples of any layout are copied and converted, and nothing else changes",
                        "", testing::AllSpaces) {
  check_copies<TestType, float, float>();
  check_copies<TestType, float, double>();
  check_copies<TestType, float, bf16>();
  check_copies<TestType, double, float>();
  check_copies<TestType, double, double>();
  check_copies<TestType, double, bf16>();
  check_copies<TestType, bf16, float>();
  check_copies<TestType, bf16, double>();
  check_copies<TestType, bf16, bf16>();
}

TEST_CASE("Axes that follow each other on both sides are joined") {
  const SampleLayout dense = joined({3, {2, 3, 4}, {12, 4, 1}, {12, 4, 1}});
  CHECK(dense.rank == 1);
  CHECK(dense.dimensions[0] == 24);

  const SampleLayout window = joined({3, {2, 1, 4}, {12, 99, 1}, {4, 99, 1}});
  CHECK(window.rank == 2);
  CHECK(window.dimensions[0] == 2);
  CHECK(window.from[0] == 12);
  CHECK(window.to[0] == 4);

  CHECK(joined({}).rank == 1);
}

}  // namespace zygos::ops::test_copy_samples
