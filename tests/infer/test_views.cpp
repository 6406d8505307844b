// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Views of any layout, rank and element type.
#include "infer_samples.hpp"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>

namespace zygos::test_views {
using namespace zygos::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

template <class T>
using Columns = Kokkos::View<T**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

template <class To, class From>
void copy_values(const From& from, const To& to) {
  for (std::size_t i = 0; i < from.extent(0); ++i) {
    for (std::size_t k = 0; k < from.extent(1); ++k) {
      to(i, k) = static_cast<typename To::value_type>(from(i, k));
    }
  }
}

struct Expected {
  Trained trained{small_model()};
  infer::Model model = trained.model(16);
  Kokkos::OpenMP exec{2};
  Rows<float> inputs = inputs_of<float>(trained.run, 50);
  std::vector<double> outputs;

  Expected() {
    const auto rows = outputs_for<float>(trained.run.graph, 50);
    model.predict(exec, inputs, rows);
    outputs = values_of(rows);
  }
};

}  // namespace

TEST_CASE("Views of every layout give the same bits", "[infer]") {
  Expected expected;
  const Columns<float> left("zygos::test::left", 50, 10);
  copy_values(expected.inputs, left);
  const Columns<float> out_left("zygos::test::out_left", 50, 3);
  expected.model.predict(expected.exec, left, out_left);
  CHECK(values_of(out_left) == expected.outputs);

  // Every second row, features backwards in a wider array: strides that no layout has.
  const Rows<float> wide("zygos::test::wide", 100, 31);
  const auto strided = Kokkos::subview(wide, std::pair(0, 100), std::pair(4, 14));
  const Kokkos::View<float**, Kokkos::LayoutStride, Kokkos::HostSpace> every_second(
      strided.data(), Kokkos::LayoutStride(50, 62, 10, 1));
  copy_values(expected.inputs, every_second);
  const Kokkos::View<float**, Kokkos::LayoutStride, Kokkos::HostSpace> out_strided(
      wide.data() + 20, Kokkos::LayoutStride(50, 62, 3, 3));
  expected.model.predict(expected.exec, every_second, out_strided);
  CHECK(values_of(out_strided) == expected.outputs);
  CHECK(values_of(every_second) == values_of(expected.inputs));
}

TEST_CASE("Inputs and outputs are float, double or bf16, whatever the model computes in",
          "[infer]") {
  Expected expected;
  const auto doubles = inputs_of<double>(expected.trained.run, 50);
  const auto out_doubles = outputs_for<double>(expected.trained.run.graph, 50);
  expected.model.predict(expected.exec, doubles, out_doubles);
  CHECK(values_of(out_doubles) == expected.outputs);

  const auto out_bf16 = outputs_for<bf16>(expected.trained.run.graph, 50);
  expected.model.predict(expected.exec, expected.inputs, out_bf16);
  const auto rounded = values_of(out_bf16);
  for (std::size_t i = 0; i < rounded.size(); ++i) {
    CHECK(rounded[i] == static_cast<double>(bf16(expected.outputs[i])));
  }

  const auto short_inputs = inputs_of<bf16>(expected.trained.run, 50);
  const auto long_inputs = inputs_of<float>(expected.trained.run, 50);
  copy_values(short_inputs, long_inputs);
  const auto from_short = outputs_for<float>(expected.trained.run.graph, 50);
  const auto from_long = outputs_for<float>(expected.trained.run.graph, 50);
  expected.model.predict(expected.exec, short_inputs, from_short);
  expected.model.predict(expected.exec, long_inputs, from_long);
  CHECK(values_of(from_short) == values_of(from_long));
  CHECK(values_of(from_short) != expected.outputs);
}

TEST_CASE("A model's input may lie in several Views", "[infer]") {
  Expected expected;
  const Columns<double> positions("zygos::test::positions", 50, 3);
  const Kokkos::View<float*, Kokkos::HostSpace> mass("zygos::test::mass", 50);
  const Rows<float> rest("zygos::test::rest", 50, 6);
  for (std::size_t i = 0; i < 50; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      positions(i, k) = static_cast<double>(expected.inputs(i, k));
    }
    mass(i) = expected.inputs(i, 3);
    for (std::size_t k = 0; k < 6; ++k) {
      rest(i, k) = expected.inputs(i, 4 + k);
    }
  }
  const auto outputs = outputs_for<float>(expected.trained.run.graph, 50);
  expected.model.predict(expected.exec, std::tuple(positions, mass, rest), outputs);
  CHECK(values_of(outputs) == expected.outputs);

  CHECK_THROWS_MATCHES(expected.model.predict(expected.exec, std::tuple(positions, rest), outputs),
                       UsageError,
                       MessageMatches(ContainsSubstring("have 9 elements per sample together") &&
                                      ContainsSubstring("[10] has 10")));
}

TEST_CASE("Images are given in their shape, flat, or with their channels in two Views", "[infer]") {
  Trained trained(image_model().graph);
  infer::Model model = trained.model();
  const Kokkos::OpenMP exec(2);
  const auto flat = inputs_of<float>(trained.run, 20);
  const auto expected = outputs_for<float>(trained.run.graph, 20);
  model.predict(exec, flat, expected);

  const Kokkos::View<float****, Kokkos::LayoutLeft, Kokkos::HostSpace> images("zygos::test::images",
                                                                              20, 2, 6, 5);
  const Kokkos::View<float****, Kokkos::LayoutLeft, Kokkos::HostSpace> first("zygos::test::first",
                                                                             20, 1, 6, 5);
  const Kokkos::View<double****, Kokkos::LayoutRight, Kokkos::HostSpace> second(
      "zygos::test::second", 20, 1, 6, 5);
  for (std::size_t i = 0; i < 20; ++i) {
    for (std::size_t k = 0; k < 60; ++k) {
      const std::size_t y = k % 30 / 5, x = k % 5;
      images(i, k / 30, y, x) = flat(i, k);
      if (k < 30) {
        first(i, 0, y, x) = flat(i, k);
      } else {
        second(i, 0, y, x) = static_cast<double>(flat(i, k));
      }
    }
  }
  const auto outputs = outputs_for<float>(trained.run.graph, 20);
  model.predict(exec, images, outputs);
  CHECK(values_of(outputs) == values_of(expected));
  Kokkos::deep_copy(exec, outputs, 0.0F);
  model.predict(exec, std::tuple(first, second), outputs);
  CHECK(values_of(outputs) == values_of(expected));

  const Kokkos::View<float****, Kokkos::LayoutRight, Kokkos::HostSpace> turned(
      "zygos::test::turned", 20, 2, 5, 6);
  CHECK_THROWS_MATCHES(model.predict(exec, turned, outputs), UsageError,
                       MessageMatches(ContainsSubstring("[2, 5, 6]") &&
                                      ContainsSubstring("allowed are [20, 2, 6, 5] or [20, 60]")));
}

TEST_CASE("A View may be input and output at once", "[infer]") {
  constexpr std::int64_t width = 700;  // several tiles of a product
  graph::Graph graph(Shape{width}, nn::mean_squared_error());
  graph.add("back", nn::dense({.units = width}));
  std::vector<float> kernel(width * width);
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    kernel[i] = 0.001F * static_cast<float>(i % 37) - 0.01F;
  }
  const std::vector<infer::Weight> weights{
      {"back/kernel", DType::f32, Shape{width, width}, kernel.data()},
      {"back/bias", DType::f32, Shape{width}, kernel.data()}};
  infer::Model model(graph, weights, {.block = 100});
  const Rows<float> state("zygos::test::state", 250, width);
  const Rows<float> next("zygos::test::next", 250, width);
  for (std::size_t i = 0; i < 250; ++i) {
    for (std::size_t k = 0; k < width; ++k) {
      state(i, k) = 0.1F * static_cast<float>(i % 7) - 0.2F * static_cast<float>(k % 5);
    }
  }
  const Kokkos::OpenMP exec(1);
  model.predict(exec, state, next);
  model.predict(exec, state, state);
  CHECK(values_of(state) == values_of(next));
}

TEST_CASE("Views that do not fit the model are refused before anything is computed", "[infer]") {
  Expected expected;
  const auto& graph = expected.trained.run.graph;
  const auto outputs = outputs_for<float>(graph, 50);
  const Rows<float> narrow("zygos::test::narrow", 50, 7);
  CHECK_THROWS_MATCHES(
      expected.model.predict(expected.exec, narrow, outputs), UsageError,
      MessageMatches(ContainsSubstring("a sample of the input View has the shape [7], the model's "
                                       "input has [10]") &&
                     ContainsSubstring("[50, 10]")));
  const auto fewer = outputs_for<float>(graph, 49);
  CHECK_THROWS_MATCHES(
      expected.model.predict(expected.exec, expected.inputs, fewer), UsageError,
      MessageMatches(ContainsSubstring("the inputs have 50 samples and the outputs 49")));
  const Rows<float> flat_out("zygos::test::flat_out", 50, 4);
  CHECK_THROWS_MATCHES(expected.model.predict(expected.exec, expected.inputs, flat_out), UsageError,
                       MessageMatches(ContainsSubstring("output View has the shape [4]")));
  const auto none = inputs_of<float>(expected.trained.run, 0);
  expected.model.predict(expected.exec, none, outputs_for<float>(graph, 0));
}

}  // namespace zygos::test_views
