// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints that are written piece by piece from wherever weights and states rest: bit for bit
// those that are written from a whole copy.
#include "policy_cases.hpp"
#include "ranks_run.hpp"
#include "small_run.hpp"
#include "support/temporary_folder.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/checkpoint_writer.hpp"
#include "zygos/train/trainer.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

namespace zygos::test_streamed_checkpoints {
namespace {

namespace fs = std::filesystem;
using schedule::Tier;
using test::SmallRun;

constexpr std::uint64_t steps = 4;

/// All tensors of a source, in pieces of so many bytes.
std::vector<io::StoredTensor> read_in_pieces(io::TensorSource& source, std::size_t piece) {
  std::vector<io::StoredTensor> tensors;
  for (std::size_t i = 0; i < source.tensors().size(); ++i) {
    const io::TensorRef& ref = source.tensors()[i];
    io::StoredTensor& tensor = tensors.emplace_back();
    tensor.name = ref.name;
    tensor.dtype = ref.dtype;
    tensor.shape = ref.shape;
    tensor.bytes.resize(static_cast<std::size_t>(ref.shape.size()) * size_of(ref.dtype));
    const std::span<std::byte> all(tensor.bytes);
    for (std::size_t begin = 0; begin < all.size(); begin += piece) {
      source.read(i, begin, all.subspan(begin, std::min(piece, all.size() - begin)));
    }
  }
  return tensors;
}

/// What a source gives is what a snapshot has, in pieces of an element and larger ones.
void check_source(train::Engine& engine) {
  const io::Checkpoint expected = test::saved_state(engine);
  const auto source = engine.state_source();
  for (const std::size_t piece : {8UL, 72UL, 1UL << 20}) {
    const auto found = read_in_pieces(*source, piece);
    REQUIRE(found.size() == expected.tensors.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      CAPTURE(piece, found[i].name);
      CHECK(found[i].name == expected.tensors[i].name);
      CHECK(found[i].dtype == expected.tensors[i].dtype);
      CHECK(found[i].shape == expected.tensors[i].shape);
      CHECK(found[i].bytes == expected.tensors[i].bytes);
    }
  }
}

void train_and_check(SmallRun& run, const train::PolicyPtr& policy) {
  const auto engine = run.engine(run.schedule_of(policy));
  check_source(*engine);
  for (std::uint64_t step = 1; step <= steps; ++step) {
    engine->step(run.batch(), step);
  }
  check_source(*engine);
  engine->restore(test::saved_state(*engine));
  check_source(*engine);
}

train::PolicyPtr offload(Tier states, Tier weights = Tier::lane) {
  return policies::zero_offload({.owner = "host",
                                 .bucket_bytes = 64,
                                 .weights = weights,
                                 .speculate = false,
                                 .states = states});
}

train::PolicyPtr shared(Tier states) {
  return policies::cotrain(
      {.owner = "host", .bucket_bytes = 64, .device_layers = 0.5, .states = states});
}

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Outcome {
  std::vector<std::int64_t> told;
  train::CheckpointCosts costs;
  std::string weights;
};

Outcome train_into(const fs::path& folder, const train::PolicyPtr& policy, bool streams) {
  SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.schedule_of(policy));
  io::CheckpointStore store(folder, 1000);
  train::TrainerOptions options;
  options.batch = 40;
  options.steps = 10;
  options.checkpoint = {.steps = 4, .epochs = {}, .seconds = {}};
  options.stream_checkpoints = streams;
  train::Trainer trainer(*engine, run.data, nullptr, &store, options);
  trainer.start();
  Outcome outcome;
  for (train::Event event = trainer.next(); event.kind != train::EventKind::finished;
       event = trainer.next()) {
    if (event.kind == train::EventKind::checkpointed) {
      CHECK(io::CheckpointStore::load(event.checkpoint).step == event.step);
      CHECK(event.written_s > 0.0);
      // Training waits for a streamed one.
      CHECK((!streams || trainer.step() == event.step));
      outcome.told.push_back(event.step);
    }
  }
  outcome.costs = trainer.checkpoint_costs();
  outcome.weights = engine->weights_hash();
  return outcome;
}

}  // namespace

TEST_CASE("Every policy's state is read piece by piece as a snapshot has it", "[train]") {
  const test::CutModel model = test::dense_model();
  for (const test::PolicyCase& one : test::synchronous_policies(model)) {
    CAPTURE(one.name);
    SmallRun run(test::workers(one.lanes));
    run.use(model.graph);
    train_and_check(run, one.policy);
  }
}

TEST_CASE("States in a file, sliced layers and errors of compression are read piece by piece",
          "[train]") {
  for (const DType dtype : {DType::f64, DType::bf16}) {
    for (const auto& policy :
         {offload(Tier::file), offload(Tier::file, Tier::host), shared(Tier::file)}) {
      CAPTURE(policy->keyword(), name_of(dtype));
      SmallRun run(test::host_and_device(), dtype);
      train_and_check(run, policy);
    }
  }
  {
    SmallRun run(test::host_and_device());
    graph::Graph graph(Shape{10}, nn::cross_entropy());
    graph.add("fc1", test::tanh_layer(17));
    graph.add("fc2", test::tanh_layer(9));
    graph.add("out", nn::dense({.units = 3}));
    run.use(graph);
    const schedule::Schedule sliced = run.schedule_of(policies::tensor_parallel({}));
    REQUIRE_FALSE(sliced.slices.empty());
    train_and_check(run, policies::tensor_parallel({}));
  }
  SmallRun run(test::workers(3), DType::f32);
  run.optimizer = nn::one_bit_adam({.freeze = 2});
  train_and_check(run, policies::one_bit_adam({.shares = {}, .bucket_bytes = 500}));
  const auto engine =
      run.engine(run.schedule_of(policies::one_bit_adam({.shares = {}, .bucket_bytes = 500})));
  const auto source = engine->state_source();
  CHECK(std::ranges::any_of(source->tensors(), [](const io::TensorRef& tensor) {
    return tensor.name.starts_with("compression_error/worker1/");
  }));
}

TEST_CASE("Streamed checkpoints are the files of whole ones", "[train][trainer]") {
  const std::vector<train::PolicyPtr> all{
      policies::single({.place = "host"}), policies::single({.place = "device"}),
      offload(Tier::file), offload(Tier::file, Tier::host), shared(Tier::file)};
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(i, all[i]->keyword());
    const test::TemporaryFolder folder("streamed-" + std::to_string(i));
    const Outcome whole = train_into(folder.path() / "whole", all[i], false);
    const Outcome streamed = train_into(folder.path() / "streamed", all[i], true);

    CHECK(streamed.told == std::vector<std::int64_t>{4, 8, 10});
    CHECK(streamed.weights == whole.weights);
    for (const char* step : {"step-000000", "step-000004", "step-000008", "step-000010"}) {
      for (const char* file : {"state.h5", "manifest.json", "SHA256SUMS"}) {
        CAPTURE(step, file);
        const std::string bytes = bytes_of(folder.path() / "streamed" / step / file);
        CHECK_FALSE(bytes.empty());
        CHECK(bytes == bytes_of(folder.path() / "whole" / step / file));
      }
    }
    CHECK(streamed.costs.committed == 4);
    CHECK(streamed.costs.stopped_s >= streamed.costs.writing_s);
    CHECK(streamed.costs.bytes == io::CheckpointWriter::staging_bytes);
  }
}

TEST_CASE("A streamed write that fails is told, and the next ones are tried anew",
          "[train][trainer]") {
  const test::TemporaryFolder folder("streamed-heals");
  const fs::path checkpoints = folder.path() / "checkpoints";
  SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.schedule_of(offload(Tier::file)));
  io::CheckpointStore store(checkpoints, 1000);
  train::TrainerOptions options;
  options.batch = 40;
  options.steps = 12;
  options.checkpoint = {.steps = 4, .epochs = {}, .seconds = {}};
  options.stream_checkpoints = true;
  train::Trainer trainer(*engine, run.data, nullptr, &store, options);
  trainer.start();
  fs::rename(checkpoints, folder.path() / "aside");
  std::ofstream(checkpoints) << "a file";
  std::vector<std::int64_t> failed;
  std::vector<std::int64_t> written;
  for (train::Event event = trainer.next(); event.kind != train::EventKind::finished;
       event = trainer.next()) {
    if (event.kind == train::EventKind::checkpoint_failed) {
      failed.push_back(event.step);
      CHECK_THAT(event.problem, Catch::Matchers::ContainsSubstring(checkpoints.string()));
      fs::remove(checkpoints);
    } else if (event.kind == train::EventKind::checkpointed) {
      written.push_back(event.step);
    }
  }
  CHECK(failed == std::vector<std::int64_t>{4});
  CHECK(written == std::vector<std::int64_t>{8, 12});
}

TEST_CASE("A weight that is not finite is not streamed over a good checkpoint", "[train]") {
  const test::TemporaryFolder folder("streamed-nan");
  SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.schedule_of(offload(Tier::file)));
  io::CheckpointStore store(folder.path(), 2);
  std::vector<std::byte> staging(256);
  store.write(1, *engine->state_source(), {}, staging);
  io::Checkpoint bad = test::saved_state(*engine);
  auto& last = *std::ranges::find(bad.tensors, "weights/fc2/bias", &io::StoredTensor::name);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::memcpy(last.bytes.data() + last.bytes.size() - sizeof(nan), &nan, sizeof(nan));
  engine->restore(bad);

  try {
    store.write(2, *engine->state_source(), {}, staging);
    FAIL("nobody has noticed");
  } catch (const NumericError& error) {
    CHECK_THAT(error.what(), Catch::Matchers::ContainsSubstring("weight 'fc2/bias'"));
  }
  CHECK(store.load_newest()->step == 1);
  CHECK_THROWS_AS(engine->weights_hash(), NumericError);
}

TEST_CASE("The state of several processes is not streamed", "[train]") {
  const auto failures = test::as_ranks(2, [](comm::Communicator& communicator) {
    test::RankRun run(test::equal_workers(2), communicator);
    const auto engine = run.engine(run.schedule_of(policies::data_parallel({})));
    static_cast<void>(engine->state_source());
  });
  REQUIRE(failures.size() == 2);
  for (const std::exception_ptr& failure : failures) {
    REQUIRE(failure != nullptr);
    CHECK_THROWS_AS(std::rethrow_exception(failure), UsageError);
  }
}

}  // namespace zygos::test_streamed_checkpoints
