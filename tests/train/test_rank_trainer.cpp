// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Trainers of several ranks: what one decides, all do after the same step.
#include "io/hdf5/hdf5_handles.hpp"
#include "ranks_run.hpp"
#include "support/temporary_folder.hpp"

#include "zygos/train/trainer.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <thread>

namespace zygos::test_rank_trainer {
namespace {

using test::RankRun;
using train::Event;
using train::EventKind;

train::TrainerOptions three_epochs() {
  train::TrainerOptions options;
  options.batch = 40;
  options.epochs = 3;
  options.seed = 11;
  options.report.steps = 100;
  options.checkpoint = {};
  return options;
}

train::PolicyPtr two_stages() {
  return policies::layer_placement({.stages = {.cuts = {"fc2"}, .lanes = {}}});
}

using During = std::function<void(train::Trainer&, int rank)>;

/// What the ranks of a run did, by rank.
struct Found {
  std::vector<std::vector<Event>> events = std::vector<std::vector<Event>>(2);
  std::vector<std::string> hashes = std::vector<std::string>(2);
};

std::vector<Event> run_to_end(train::Trainer& trainer, int rank, const During& during) {
  std::vector<Event> events;
  do {
    events.push_back(trainer.next());
    during(trainer, rank);
  } while (events.back().kind != EventKind::finished && events.back().kind != EventKind::stopped);
  return events;
}

/// Trains on two ranks. Rank 0 wants a report after every step by its clock, rank 1 has the store;
/// both do `during` after every event.
Found train_on_two(const std::filesystem::path& folder,
                   const std::optional<io::Checkpoint>& checkpoint, const During& during) {
  Found found;
  const auto failures = test::as_ranks(2, [&](comm::Communicator& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    RankRun run(test::equal_workers(2), communicator);
    const auto engine = run.engine(run.schedule_of(two_stages()));
    io::CheckpointStore store(folder, 100);
    auto options = three_epochs();
    options.report = {.steps = {}, .epochs = {}, .seconds = rank == 0 ? 0.0 : 1e9};
    train::Trainer trainer(*engine, run.data, nullptr, rank == 1 ? &store : nullptr, options);
    if (checkpoint) {
      trainer.resume(*checkpoint);
    } else {
      trainer.start();
    }
    found.events[rank] = run_to_end(trainer, communicator.rank(), during);
    found.hashes[rank] = engine->weights_hash();
  });
  for (const auto& failure : failures) {
    if (failure != nullptr) {
      std::rethrow_exception(failure);
    }
  }
  return found;
}

std::vector<EventKind> kinds_of(const std::vector<Event>& events) {
  std::vector<EventKind> kinds;
  std::ranges::transform(events, std::back_inserter(kinds), &Event::kind);
  return kinds;
}

void nothing(train::Trainer&, int) {}

std::string undisturbed_hash(const std::vector<lane::LaneSpec>& specs) {
  test::SmallRun run(specs);
  const auto engine = run.engine(run.schedule_of(two_stages()));
  train::Trainer trainer(*engine, run.data, nullptr, nullptr, three_epochs());
  trainer.start();
  run_to_end(trainer, 0, nothing);
  return engine->weights_hash();
}

}  // namespace

TEST_CASE("A stop asked of one rank stops all after the same step and loses nothing",
          "[train][ranks]") {
  const test::TemporaryFolder folder("rank-stop");
  const std::string expected = undisturbed_hash(test::equal_workers(2));
  for (const int asked : {0, 1}) {
    CAPTURE(asked);
    const auto path = folder.path() / std::to_string(asked);
    const Found stopped = train_on_two(path, std::nullopt, [&](train::Trainer& trainer, int rank) {
      if (rank == asked && trainer.step() == 4) {
        trainer.request_stop();
      }
    });
    CHECK(stopped.events[0].back().kind == EventKind::stopped);
    CHECK(stopped.events[0].back().step == 5);
    CHECK(kinds_of(stopped.events[0]) == kinds_of(stopped.events[1]));

    const auto checkpoint = io::CheckpointStore(path, 100).load_newest();
    REQUIRE(checkpoint);
    CHECK(checkpoint->step == 5);
    CHECK(train_on_two(path, checkpoint, nothing).hashes[0] == expected);
    // Checkpoints know no ranks.
    test::SmallRun run(test::equal_workers(2));
    const auto engine = run.engine(run.schedule_of(two_stages()));
    train::Trainer alone(*engine, run.data, nullptr, nullptr, three_epochs());
    alone.resume(*checkpoint);
    run_to_end(alone, 0, nothing);
    CHECK(engine->weights_hash() == expected);
  }
}

TEST_CASE("A checkpoint asked of a rank without a store is written by the one that has it",
          "[train][ranks]") {
  const test::TemporaryFolder folder("rank-save");
  const Found found =
      train_on_two(folder.path(), std::nullopt, [](train::Trainer& trainer, int rank) {
        if (rank == 0 && trainer.step() == 7) {
          trainer.request_checkpoint();
        }
      });
  CHECK(found.hashes[0] == undisturbed_hash(test::equal_workers(2)));
  CHECK(found.hashes[1] == found.hashes[0]);
  std::vector<std::int64_t> steps;
  std::ranges::transform(io::CheckpointStore(folder.path(), 100).list(), std::back_inserter(steps),
                         &io::CheckpointSummary::step);
  CHECK(steps == std::vector<std::int64_t>{15, 8, 0});
}

TEST_CASE("What is due by the clock of one rank is done by all", "[train][ranks]") {
  const test::TemporaryFolder folder("rank-clock");
  const Found found = train_on_two(folder.path(), std::nullopt, nothing);
  CHECK(std::ranges::count(found.events[1], EventKind::progress, &Event::kind) == 15);
  CHECK(kinds_of(found.events[0]) == kinds_of(found.events[1]));
}

namespace {

/// Keeps HDF5 from others as soon as a checkpoint's file is there: the thread that writes it still
/// has to read it back. False if the checkpoint was complete before that.
bool hold_up_writer(const std::filesystem::path& folder, std::chrono::milliseconds time) {
  const auto is_written = [&] {
    std::error_code none_yet;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none_yet)) {
      if (std::filesystem::exists(entry.path() / "state.h5", none_yet)) {
        return true;
      }
    }
    return false;
  };
  while (!is_written()) {
  }
  const io::hdf5::Session held;
  const bool in_time = !std::filesystem::exists(folder / "step-000000");
  std::this_thread::sleep_for(time);
  return in_time && !std::filesystem::exists(folder / "step-000000");
}

}  // namespace

TEST_CASE("A checkpoint may take longer than ranks wait for each other", "[train][ranks]") {
  const test::TemporaryFolder folder("rank-slow-save");
  bool held_up = false;
  for (int attempt = 0; attempt < 30 && !held_up; ++attempt) {
    const auto path = folder.path() / std::to_string(attempt);
    std::thread slow([&] { held_up = hold_up_writer(path, std::chrono::milliseconds(2500)); });
    const auto failures = test::as_ranks(2, [&](comm::Communicator& communicator) {
      communicator.set_time_limit(1.0);
      RankRun run(test::equal_workers(2), communicator);
      const auto engine = run.engine(run.schedule_of(two_stages()));
      io::CheckpointStore store(path, 100);
      train::Trainer trainer(*engine, run.data, nullptr,
                             communicator.rank() == 1 ? &store : nullptr, three_epochs());
      trainer.start();
    });
    slow.join();
    if (held_up) {
      CHECK(failures == std::vector<std::exception_ptr>(2));
    }
  }
  CHECK(held_up);
}

TEST_CASE("A write that fails on one rank ends none until it has failed too often",
          "[train][ranks]") {
  const test::TemporaryFolder folder("rank-failing-save");
  const auto path = folder.path() / "checkpoints";
  const Found found = train_on_two(path, std::nullopt, [&](train::Trainer& trainer, int rank) {
    if (rank == 1 && trainer.step() == 4) {
      std::filesystem::rename(path, folder.path() / "aside");
      std::ofstream(path) << "a file";
      trainer.request_checkpoint();
    }
    if (rank == 1 && trainer.checkpoint_costs().failed == 1 &&
        std::filesystem::is_regular_file(path)) {
      std::filesystem::remove(path);
    }
  });
  CHECK(found.events[0].back().kind == EventKind::finished);
  CHECK(std::ranges::count(found.events[1], EventKind::checkpoint_failed, &Event::kind) == 1);
  CHECK(std::ranges::count(found.events[0], EventKind::checkpoint_failed, &Event::kind) == 0);
  CHECK(found.hashes[0] == undisturbed_hash(test::equal_workers(2)));
  CHECK(io::CheckpointStore(path, 100).load_newest()->step == 15);
}

TEST_CASE("A loss that is not finite is told alike on all ranks, with the layer",
          "[train][ranks]") {
  std::vector<std::string> told(2);
  const auto failures = test::as_ranks(2, [&](comm::Communicator& communicator) {
    RankRun run(test::equal_workers(2), communicator);
    const auto engine = run.engine(run.schedule_of(two_stages()));
    try {
      auto batch = run.batch();
      batch.inputs.scale = std::numeric_limits<double>::quiet_NaN();
      engine->step(batch, 1);
    } catch (const NumericError& error) {
      told[static_cast<std::size_t>(communicator.rank())] = error.what();
    }
  });
  CHECK(failures == std::vector<std::exception_ptr>(2));
  CHECK_THAT(told[0], Catch::Matchers::ContainsSubstring("layer with a value that is not finite"));
  CHECK(told[0] == told[1]);
}

}  // namespace zygos::test_rank_trainer
