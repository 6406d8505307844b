// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Host memory of a checkpoint: a streamed one takes what pieces pass through, however large the
// state is. Counts allocations, in a program of its own.
#include "small_run.hpp"
#include "support/allocation_counter.hpp"
#include "support/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <vector>

namespace zygos::test_streamed_memory {

TEST_CASE("A streamed checkpoint allocates far less than the state has bytes", "[train][memory]") {
  constexpr int layers = 8;
  constexpr std::int64_t units = 300;
  test::SmallRun run(test::host_and_device());
  graph::Graph graph(Shape{units}, nn::cross_entropy());
  for (int i = 0; i < layers; ++i) {
    graph.add("fc" + std::to_string(i), test::tanh_layer(units));
  }
  run.use(graph);
  const auto engine = run.engine(run.schedule_of(policies::zero_offload(
      {.owner = "host", .bucket_bytes = 64, .states = schedule::Tier::file})));
  engine->step(run.batch(), 1);
  // Weights and Adam's two moments.
  constexpr std::size_t state = 3UL * layers * units * (units + 1) * sizeof(double);
  const test::TemporaryFolder folder("streamed-memory");
  io::CheckpointStore store(folder.path(), 1);
  std::vector<std::byte> staging(std::size_t{64} << 10);
  const auto source = engine->state_source();

  const std::size_t before = testing::allocated_bytes();
  store.write(1, *source, {}, staging);
  const std::size_t streamed = testing::allocated_bytes() - before;
  const std::size_t between = testing::allocated_bytes();
  const auto snapshot = engine->snapshot();
  const std::size_t whole = testing::allocated_bytes() - between;

  CHECK(whole >= state);
  // The chunk of a spill file, and what HDF5 has written beside the tensors.
  CHECK(streamed < state / 4);
  CHECK(store.load_newest()->tensors.size() == snapshot.size());
}

}  // namespace zygos::test_streamed_memory
