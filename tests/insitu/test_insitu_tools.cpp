// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a profiler sees of a network that is trained inside a simulation.
#include "simulation.hpp"
#include "support/allocation_counter.hpp"
#include "support/tools_recorder.hpp"

#include "zygos/insitu/ensemble.hpp"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <filesystem>
#include <iterator>
#include <thread>

namespace zygos::test_insitu_tools {
using namespace zygos::test;
using namespace std::chrono_literals;
using zygos::testing::Event;
using zygos::testing::EventKind;
using zygos::testing::ToolsRecorder;

namespace {

/// A period of a simulation with a surrogate.
struct Coupled {
  explicit Coupled(const Kokkos::OpenMP& instance, std::size_t count = 600)
      : exec(instance),
        particles(count),
        predicted("zygos::test::predicted", count, 2),
        spread("zygos::test::spread", count),
        net(small_net(exec)),
        nets(insitu::Ensemble::mlp({.in = 6, .hidden = {24}, .out = 2}, exec, 2, {.batch = 32})),
        reservoir(net.reservoir({.capacity = 300})) {}

  void advance() {
    reservoir.add(exec, particles.inputs(), particles.f);
    net.train(reservoir, {.max_steps = 3});
    net.train(reservoir, {.budget = 100us});
    net.predict(exec, particles.inputs(), predicted);
    net.validate(reservoir);
    net.rollback();
    nets.train(reservoir, {.max_steps = 3});
    nets.predict(exec, particles.inputs(), predicted, spread);
    nets.validate(reservoir);
  }

  Kokkos::OpenMP exec;
  Particles<double, Kokkos::LayoutLeft> particles;
  Matrix<double> predicted;
  Kokkos::View<double*, Kokkos::HostSpace> spread;
  insitu::Surrogate net;
  insitu::Ensemble nets;
  insitu::Reservoir reservoir;
};

}  // namespace

TEST_CASE("After the first period nothing is allocated, copied or fenced", "[insitu][tools]") {
  Coupled coupled(Kokkos::OpenMP(2));
  coupled.advance();
  const ToolsRecorder recorder;

  for (int period = 0; period < 10; ++period) {
    coupled.advance();
  }

  CHECK(recorder.events(EventKind::allocation).empty());
  CHECK(recorder.events(EventKind::deallocation).empty());
  CHECK(recorder.events(EventKind::deep_copy).empty());
  CHECK(recorder.events(EventKind::fence).empty());
}

TEST_CASE("After the first period no allocator is called at all", "[insitu][tools]") {
  // Few enough samples that no kernel wakes a second thread: Kokkos makes a string of its label
  // then.
  Coupled coupled(Kokkos::OpenMP(1), 300);
  coupled.advance();
  const long before = testing::allocations();

  for (int period = 0; period < 10; ++period) {
    coupled.advance();
  }

  CHECK(testing::allocations() == before);
}

TEST_CASE("All kernels run on the caller's thread and instance, under our labels",
          "[insitu][tools]") {
  const Kokkos::OpenMP exec(2);
  const Particles<double> particles(20'000);
  const ToolsRecorder recorder;

  auto net = small_net(exec);
  auto reservoir = net.reservoir({.capacity = 300});
  reservoir.add(exec, particles.inputs(), particles.f);
  net.train(reservoir, {.max_steps = 3});
  net.predict(exec, particles.inputs(), particles.f);
  net.validate(reservoir);
  static_cast<void>(net.state());

  const auto kernels = recorder.events(EventKind::kernel);
  REQUIRE_FALSE(kernels.empty());
  for (const Event& kernel : kernels) {
    CHECK(kernel.thread == std::this_thread::get_id());
    CHECK(kernel.space() == "OpenMP");
  }
  for (const Event& event : recorder.foreign()) {
    CAPTURE(event.label);
    CHECK(event.label.starts_with("zygos::"));
  }
}

TEST_CASE("No thread is started, in OpenMP's pool or beside it", "[insitu][tools]") {
  const Kokkos::OpenMP exec(2);
  Kokkos::parallel_for("zygos::test::wake_pool", Kokkos::RangePolicy<Kokkos::OpenMP>(exec, 0, 100),
                       [](int) {});
  const auto threads = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  const auto before = threads();

  Coupled coupled(exec, 20'000);
  coupled.advance();

  CHECK(threads() == before);
}

}  // namespace zygos::test_insitu_tools
