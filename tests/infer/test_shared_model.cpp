// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "infer_samples.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <thread>

namespace zygos::test_shared_model {
using namespace zygos::test;

TEST_CASE("Threads predict at once, each with a model of its own, while weights are replaced",
          "[infer]") {
  Trained trained(small_model());
  infer::Model model = trained.model();
  const auto first = predicted(model, trained.run, 40);
  const auto old_weights = saved_state(*trained.engine);
  trained.run.ids.resize(40);
  trained.engine->step(trained.run.batch(), 4);
  const auto second = trained.evaluated(40);

  std::array<int, 2> wrong{};
  std::vector<std::thread> threads;
  for (std::size_t number = 0; number < wrong.size(); ++number) {
    threads.emplace_back([&, number, own = model.share()]() mutable {
      const Kokkos::Serial exec{Kokkos::NewInstance{}};
      const auto inputs = inputs_of<float>(trained.run, 40);
      const auto outputs = outputs_for<float>(trained.run.graph, 40);
      for (int round = 0; round < 300; ++round) {
        own.predict(exec, inputs, outputs);
        const auto found = values_of(outputs);
        wrong[number] += found != first && found != second ? 1 : 0;
      }
    });
  }
  const auto old = weights_of(old_weights);
  const auto fresh = weights_of(*trained.engine);
  for (int round = 0; round < 100; ++round) {
    model.assign(fresh);
    model.assign(old);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(wrong == std::array<int, 2>{});
  CHECK(predicted(model, trained.run, 40) == first);
}

}  // namespace zygos::test_shared_model
