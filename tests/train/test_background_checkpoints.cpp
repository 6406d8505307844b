// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints that are written while training goes on: same bytes, told of when they are complete.
#include "io/hdf5/hdf5_handles.hpp"
#include "small_run.hpp"
#include "support/temporary_folder.hpp"

#include "zygos/train/trainer.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace zygos::test_background_checkpoints {
namespace {

using train::Event;
using train::EventKind;
namespace fs = std::filesystem;

train::TrainerOptions options_for(std::int64_t epochs) {
  train::TrainerOptions options;
  options.batch = 40;
  options.epochs = epochs;
  options.seed = 11;
  options.report.steps = 1;
  options.checkpoint = {.steps = 4, .epochs = {}, .seconds = {}};
  return options;
}

struct Outcome {
  std::vector<std::int64_t> told;   ///< steps whose checkpoints were reported
  std::vector<std::int64_t> found;  ///< in the store, oldest first
  std::string weights;
  train::CheckpointCosts costs;
};

bool ends(const Event& event) {
  return event.kind == EventKind::finished || event.kind == EventKind::stopped;
}

std::vector<std::int64_t> steps_in(const io::CheckpointStore& store) {
  std::vector<std::int64_t> steps;
  std::ranges::transform(store.list(), std::back_inserter(steps), &io::CheckpointSummary::step);
  std::ranges::reverse(steps);
  return steps;
}

/// Trains to the end, and checks of every checkpoint that it is there when it is reported.
Outcome train_into(const fs::path& folder, const train::TrainerOptions& options) {
  test::SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.split(20));
  io::CheckpointStore store(folder, 1000);
  train::Trainer trainer(*engine, run.data, &run.data, &store, options);
  trainer.start();
  Outcome outcome;
  for (Event event = trainer.next(); !ends(event); event = trainer.next()) {
    if (event.kind == EventKind::checkpointed) {
      CHECK(io::CheckpointStore::load(event.checkpoint).step == event.step);
      CHECK(event.written_s > 0.0);
      CHECK(event.verified_s > event.written_s);
      outcome.told.push_back(event.step);
    }
  }
  outcome.found = steps_in(store);
  outcome.weights = engine->weights_hash();
  outcome.costs = trainer.checkpoint_costs();
  return outcome;
}

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("Checkpoints written while training goes on are those of a run that stands still",
          "[train][trainer]") {
  const test::TemporaryFolder folder("background-same");
  auto options = options_for(6);
  const Outcome beside = train_into(folder.path() / "beside", options);
  options.background = false;
  const Outcome still = train_into(folder.path() / "still", options);

  const std::vector<std::int64_t> steps{4, 8, 12, 16, 20, 24, 28, 30};
  CHECK(beside.told == steps);
  CHECK(still.told == steps);
  CHECK(beside.weights == still.weights);
  for (const std::int64_t step : beside.found) {
    const std::string name = (step < 10 ? "step-00000" : "step-0000") + std::to_string(step);
    for (const char* file : {"state.h5", "manifest.json", "SHA256SUMS"}) {
      CAPTURE(name, file);
      const std::string bytes = bytes_of(folder.path() / "beside" / name / file);
      CHECK_FALSE(bytes.empty());
      CHECK(bytes == bytes_of(folder.path() / "still" / name / file));
    }
  }
  CHECK(beside.costs.committed == 9);  // with that of step 0
  CHECK(beside.costs.bytes > 0);
  CHECK(still.costs.stopped_s >= still.costs.writing_s);
}

TEST_CASE("Training goes on while a checkpoint is written, which is reported when it is complete",
          "[train][trainer]") {
  const test::TemporaryFolder folder("background-beside");
  test::SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.split(20));
  io::CheckpointStore store(folder.path(), 1000);
  train::Trainer trainer(*engine, run.data, nullptr, &store, options_for(20));
  trainer.start();
  int seen_in_flight = 0;
  Event event = trainer.next();
  while (!ends(event)) {
    if (event.kind == EventKind::progress && event.step % 4 == 0 &&
        event.step < trainer.total_steps()) {
      const std::int64_t saved = event.step;
      const io::hdf5::Session held;  // a writer that is not done by now can't end
      for (event = trainer.next(); event.kind == EventKind::progress && event.step < saved + 3;) {
        event = trainer.next();
      }
      seen_in_flight += event.kind == EventKind::progress ? 1 : 0;
    } else {
      event = trainer.next();
    }
  }
  CHECK(seen_in_flight > 0);
  CHECK(steps_in(store).size() == 26);
}

TEST_CASE("A checkpoint that is due by the clock is put off while the one before is written",
          "[train][trainer]") {
  const test::TemporaryFolder folder("background-clock");
  auto options = options_for(40);
  options.checkpoint = {.steps = {}, .epochs = {}, .seconds = 0.0};
  const Outcome outcome = train_into(folder.path(), options);

  CHECK(outcome.found.front() == 0);
  CHECK(outcome.found.back() == 200);
  CHECK(std::vector(outcome.found.begin() + 1, outcome.found.end()) == outcome.told);
  CHECK(outcome.costs.put_off > 0);
  CHECK(outcome.told.size() < 200);
}

TEST_CASE("A write that fails in the background ends the run with its cause, and loses nothing",
          "[train][trainer]") {
  const test::TemporaryFolder folder("background-fails");
  const fs::path checkpoints = folder.path() / "checkpoints";
  test::SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.split(20));
  io::CheckpointStore store(checkpoints, 1000);
  auto options = options_for(4);
  options.checkpoint_failures = 1;
  train::Trainer trainer(*engine, run.data, nullptr, &store, options);
  trainer.start();
  fs::rename(checkpoints, folder.path() / "aside");
  std::ofstream(checkpoints) << "a file";
  const auto to_the_end = [&] {
    while (!ends(trainer.next())) {
    }
  };

  CHECK_THROWS_AS(to_the_end(), IoError);

  CHECK(trainer.step() >= 4);
  CHECK(trainer.step() <= 8);
  CHECK(trainer.checkpoint_costs().committed == 1);
  CHECK(steps_in(io::CheckpointStore(folder.path() / "aside", 1)) == std::vector<std::int64_t>{0});
}

TEST_CASE("A write that fails is told, and the next ones are tried anew", "[train][trainer]") {
  const test::TemporaryFolder folder("background-heals");
  const fs::path checkpoints = folder.path() / "checkpoints";
  test::SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.split(20));
  io::CheckpointStore store(checkpoints, 1000);
  auto options = options_for(6);
  options.checkpoint_failures = 100;  // the next one may have failed before the second is told
  options.background = GENERATE(true, false);
  train::Trainer trainer(*engine, run.data, nullptr, &store, options);
  trainer.start();
  fs::rename(checkpoints, folder.path() / "aside");
  std::ofstream(checkpoints) << "a file";
  std::vector<Event> events;
  while (events.empty() || !ends(events.back())) {
    events.push_back(trainer.next());
    const bool failed_twice =
        std::ranges::count(events, EventKind::checkpoint_failed, &Event::kind) == 2;
    if (failed_twice && fs::is_regular_file(checkpoints)) {
      fs::remove(checkpoints);
    }
  }

  CHECK(events.back().kind == EventKind::finished);
  CHECK(trainer.checkpoint_costs().failed >= 2);
  CHECK(trainer.checkpoint_costs().failed <= 3);
  const auto failed = std::ranges::find(events, EventKind::checkpoint_failed, &Event::kind);
  CHECK_THAT(failed->problem, Catch::Matchers::ContainsSubstring(checkpoints.string()));
  CHECK(steps_in(store).front() > 4);
  CHECK(steps_in(store).back() == 30);
}

TEST_CASE("The last checkpoint is tried again until the run bears no more failures",
          "[train][trainer]") {
  const test::TemporaryFolder folder("background-last");
  const fs::path checkpoints = folder.path() / "checkpoints";
  test::SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.split(20));
  io::CheckpointStore store(checkpoints, 1000);
  auto options = options_for(1);
  options.checkpoint = {};
  train::Trainer trainer(*engine, run.data, nullptr, &store, options);
  trainer.start();
  fs::rename(checkpoints, folder.path() / "aside");
  std::ofstream(checkpoints) << "a file";
  const auto to_the_end = [&] {
    while (!ends(trainer.next())) {
    }
  };

  CHECK_THROWS_AS(to_the_end(), IoError);

  CHECK(trainer.checkpoint_costs().failed == 3);
}

TEST_CASE("Every checkpoint that is to be ranked has the evaluation of its step",
          "[train][trainer]") {
  const test::TemporaryFolder folder("background-merit");
  auto options = options_for(4);
  options.evaluate = {};
  options.rank_checkpoints = true;
  train_into(folder.path(), options);

  const io::CheckpointStore store(folder.path(), 1);
  double best = 0.0;
  for (const auto& summary : store.list()) {
    CAPTURE(summary.step);
    const io::Checkpoint read = io::CheckpointStore::load(summary.path);
    test::SmallRun run(test::host_and_device());
    const auto engine = run.engine(run.split(20));
    engine->restore(read);
    const train::Evaluation expected = train::evaluate(*engine, run.data);
    CHECK(std::stod(read.fact("merit")) == expected.score);
    CHECK(std::stod(read.fact("test_loss")) == expected.loss);
    best = std::max(best, expected.score);
  }
  CHECK(std::stod(store.load_best().fact("merit")) == best);
  test::SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.split(20));
  CHECK_THROWS_AS(train::Trainer(*engine, run.data, nullptr, nullptr, options), UsageError);
}

}  // namespace zygos::test_background_checkpoints
