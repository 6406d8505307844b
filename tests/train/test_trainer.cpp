// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "small_run.hpp"

#include "zygos/train/trainer.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <filesystem>

namespace zygos::test_trainer {
namespace {

using train::EventKind;

/// A folder of this test that is gone afterwards.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / ("zygos-trainer-" + name)) {
    std::filesystem::remove_all(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

train::TrainerOptions options_for(std::int64_t epochs) {
  train::TrainerOptions options;
  options.batch = 40;
  options.epochs = epochs;
  options.seed = 11;
  options.report.steps = 3;
  options.checkpoint.epochs.reset();
  options.checkpoint.steps = 4;
  return options;
}

std::vector<train::Event> run_to_end(train::Trainer& trainer) {
  std::vector<train::Event> events;
  do {
    events.push_back(trainer.next());
  } while (events.back().kind != EventKind::finished && events.back().kind != EventKind::stopped);
  return events;
}

std::int64_t count(const std::vector<train::Event>& events, EventKind kind) {
  return std::ranges::count(events, kind, &train::Event::kind);
}

}  // namespace

TEST_CASE("A run reports, evaluates and saves as often as it was told", "[train][trainer]") {
  Folder folder("events");
  test::SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.split(20));
  io::CheckpointStore store(folder.path(), 3);
  train::Trainer trainer(*engine, run.data, &run.data, &store, options_for(4));
  trainer.start();

  const auto events = run_to_end(trainer);

  CHECK(trainer.total_steps() == 20);
  CHECK(count(events, EventKind::progress) == 7);  // 3, 6, ..., 18 and the rest at the end
  CHECK(count(events, EventKind::evaluated) == 4);
  CHECK(count(events, EventKind::checkpointed) == 5);
  CHECK(events.back().kind == EventKind::finished);
  CHECK(events.back().evaluation.samples == 200);
  CHECK(store.list().size() == 3);
}

TEST_CASE("An epoch's incomplete last batch is trained unless it is dropped", "[train][trainer]") {
  test::SmallRun run(test::host_and_device(), DType::f64, 40, 190);
  const auto engine = run.engine(run.split(20));
  auto options = options_for(1);
  const train::Trainer kept(*engine, run.data, nullptr, nullptr, options);
  options.drop_last = true;
  const train::Trainer dropped(*engine, run.data, nullptr, nullptr, options);
  CHECK(kept.total_steps() == 5);
  CHECK(dropped.total_steps() == 4);
}

TEST_CASE("A run resumed at any checkpoint ends with the bits of an undisturbed one",
          "[train][trainer]") {
  Folder folder("resume");
  test::SmallRun run(test::host_and_device(), DType::f32, 40, 190);
  io::CheckpointStore store(folder.path(), 100);
  const auto whole = run.engine(run.split(17));
  train::Trainer undisturbed(*whole, run.data, nullptr, &store, options_for(4));
  undisturbed.start();
  run_to_end(undisturbed);
  const std::string expected = whole->weights_hash();

  for (const auto& summary : store.list()) {
    CAPTURE(summary.step);
    const auto engine = run.engine(run.split(17));
    train::Trainer trainer(*engine, run.data, nullptr, nullptr, options_for(4));
    trainer.resume(io::CheckpointStore::load(summary.path));
    run_to_end(trainer);
    CHECK(engine->weights_hash() == expected);
  }
}

TEST_CASE("A requested stop saves after the step in progress and loses nothing",
          "[train][trainer]") {
  Folder folder("stop");
  test::SmallRun run(test::host_and_device());
  const auto whole = run.engine(run.split(20));
  train::Trainer undisturbed(*whole, run.data, nullptr, nullptr, options_for(4));
  undisturbed.start();
  run_to_end(undisturbed);

  const auto engine = run.engine(run.split(20));
  io::CheckpointStore store(folder.path(), 3);
  train::Trainer first(*engine, run.data, nullptr, &store, options_for(4));
  first.start();
  first.next();
  first.request_stop();
  const auto events = run_to_end(first);

  CHECK(events.back().kind == EventKind::stopped);
  CHECK(first.step() < first.total_steps());
  const auto other = run.engine(run.split(20));
  train::Trainer second(*other, run.data, nullptr, &store, options_for(4));
  second.resume(*store.load_newest());
  CHECK(second.step() == first.step());
  run_to_end(second);
  CHECK(other->weights_hash() == whole->weights_hash());
}

TEST_CASE("A stop does not wait for an evaluation, which the resumed run makes up for",
          "[train][trainer]") {
  Folder folder("stop-evaluation");
  test::SmallRun run(test::host_and_device());
  auto options = options_for(2);
  options.evaluate = {.steps = 4, .epochs = {}, .seconds = {}};
  const bool at_the_end = GENERATE(false, true);
  const auto engine = run.engine(run.split(20));
  io::CheckpointStore store(folder.path(), 3);
  train::Trainer first(*engine, run.data, &run.data, &store, options);
  first.start();
  const std::int64_t last = at_the_end ? first.total_steps() - 1 : 3;
  while (first.step() < last) {
    first.next();
  }
  first.request_stop();
  const auto stopped = run_to_end(first);

  CHECK(first.step() == last + 1);
  CHECK(count(stopped, EventKind::evaluated) == 0);
  CHECK(stopped.back().kind == EventKind::stopped);
  const auto other = run.engine(run.split(20));
  train::Trainer second(*other, run.data, &run.data, &store, options);
  second.resume(*store.load_newest());
  const auto resumed = run_to_end(second);
  const auto made_up = std::ranges::find(resumed, EventKind::evaluated, &train::Event::kind);
  REQUIRE(made_up != resumed.end());
  CHECK(made_up->step == last + 1);
  CHECK(resumed.back().kind == EventKind::finished);
}

TEST_CASE("Intervals beyond any number of steps never come", "[train][trainer]") {
  test::SmallRun run(test::host_and_device());
  auto options = options_for(1);
  for (train::Every* every : {&options.report, &options.evaluate, &options.checkpoint}) {
    *every = {.steps = {}, .epochs = std::int64_t{1} << 62, .seconds = {}};
  }
  const auto engine = run.engine(run.split(20));
  train::Trainer trainer(*engine, run.data, nullptr, nullptr, options);
  trainer.start();

  const auto events = run_to_end(trainer);

  CHECK(events.size() == 2);  // a report and the end
}

TEST_CASE("A checkpoint of other data is not continued", "[train][trainer]") {
  Folder folder("other");
  test::SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.split(20));
  io::CheckpointStore store(folder.path(), 3);
  train::Trainer(*engine, run.data, nullptr, &store, options_for(1)).start();
  const io::Dataset other = test::small_data(160);
  train::Trainer trainer(*engine, other, nullptr, nullptr, options_for(1));

  CHECK_THROWS_AS(trainer.resume(*store.load_newest()), CheckpointError);
}

TEST_CASE("A batch larger than the data is refused with both numbers", "[train][trainer]") {
  test::SmallRun run(test::host_and_device(), DType::f64, 40, 30);
  run.ids.resize(20);
  const auto engine = run.engine(run.split(20));
  auto options = options_for(1);
  options.drop_last = true;
  CHECK_THROWS_WITH(
      train::Trainer(*engine, run.data, nullptr, nullptr, options),
      Catch::Matchers::ContainsSubstring("30") && Catch::Matchers::ContainsSubstring("40"));
}

}  // namespace zygos::test_trainer
