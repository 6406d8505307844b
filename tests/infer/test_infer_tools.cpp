// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a profiler sees of predictions.
#include "infer_samples.hpp"
#include "support/allocation_counter.hpp"
#include "support/tools_recorder.hpp"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <thread>

namespace zygos::test_infer_tools {
using namespace zygos::test;
using zygos::testing::Event;
using zygos::testing::EventKind;
using zygos::testing::ToolsRecorder;

TEST_CASE("After the first prediction nothing is allocated, copied or fenced", "[infer][tools]") {
  for (const CutModel& one : cut_models()) {
    Trained trained(one.graph);
    infer::Model model = trained.model();
    const Kokkos::OpenMP exec(2);
    const auto inputs = inputs_of<double>(trained.run, 40);
    const auto outputs = outputs_for<double>(one.graph, 40);
    model.predict(exec, inputs, outputs);
    const ToolsRecorder recorder;

    for (const std::size_t count : {40U, 7U, 40U, 1U, 23U, 39U, 2U, 40U}) {
      const auto part = std::pair(std::size_t{0}, count);
      model.predict(exec, Kokkos::subview(inputs, part, Kokkos::ALL),
                    Kokkos::subview(outputs, part, Kokkos::ALL));
    }

    CAPTURE(one.name);
    CHECK(recorder.events(EventKind::allocation).empty());
    CHECK(recorder.events(EventKind::deallocation).empty());
    CHECK(recorder.events(EventKind::deep_copy).empty());
    CHECK(recorder.events(EventKind::fence).empty());
  }
}

TEST_CASE("A prediction of as many samples as one before calls no allocator at all",
          "[infer][tools]") {
  Trained trained(small_model());
  infer::Model model = trained.model(32);
  const Kokkos::OpenMP exec(1);
  const auto inputs = inputs_of<float>(trained.run, 32);
  const auto outputs = outputs_for<float>(trained.run.graph, 32);
  const auto one = std::pair(3, 4);
  const auto input = Kokkos::subview(inputs, one, Kokkos::ALL);
  const auto output = Kokkos::subview(outputs, one, Kokkos::ALL);
  model.predict(exec, inputs, outputs);
  model.predict(exec, input, output);
  const long before = testing::allocations();

  for (int round = 0; round < 10; ++round) {
    model.predict(exec, inputs, outputs);
    model.predict(exec, input, output);
  }

  CHECK(testing::allocations() == before);
}

TEST_CASE("prepare() leaves nothing to allocate for the first prediction", "[infer][tools]") {
  Trained trained(small_model());
  infer::Model model = trained.model();
  const Kokkos::OpenMP exec(2);
  const auto inputs = inputs_of<float>(trained.run, 40);
  const auto outputs = outputs_for<float>(trained.run.graph, 40);
  model.prepare(exec, 40);
  const ToolsRecorder recorder;

  model.predict(exec, inputs, outputs);

  CHECK(recorder.events(EventKind::allocation).empty());
}

TEST_CASE("Kernels of a prediction run on the caller's thread and instance, under our labels",
          "[infer][tools]") {
  Trained trained(wide_model(), DType::f32, 150);
  infer::Model model = trained.model();
  const auto inputs = inputs_of<double>(trained.run, 150);
  const auto outputs = outputs_for<double>(trained.run.graph, 150);
  const Kokkos::OpenMP exec(2);
  const ToolsRecorder recorder;

  model.predict(exec, inputs, outputs);

  const auto kernels = recorder.events(EventKind::kernel);
  REQUIRE_FALSE(kernels.empty());
  for (const Event& kernel : kernels) {
    CHECK(kernel.thread == std::this_thread::get_id());
    CHECK(kernel.space() == "OpenMP");
  }
  for (const Event& event : recorder.foreign()) {
    CAPTURE(event.label);
    CHECK(false);
  }
  recorder.events(EventKind::allocation);
  for (const Event& event : recorder.events(EventKind::allocation)) {
    CHECK(event.label == "zygos::infer::workspace");
  }
}

}  // namespace zygos::test_infer_tools
