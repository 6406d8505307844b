// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Training on samples that stay in a file: the same bits as with all of them in memory.
#include "small_run.hpp"
#include "support/temporary_folder.hpp"

#include "zygos/io/hdf5_dataset.hpp"
#include "zygos/io/sample_source.hpp"
#include "zygos/train/trainer.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace zygos::test_data_from_file {
namespace {

using Catch::Matchers::ContainsSubstring;
using test::SmallRun;
using train::EventKind;

train::TrainerOptions options_for(std::int64_t epochs) {
  train::TrainerOptions options;
  options.batch = 40;
  options.epochs = epochs;
  options.seed = 11;
  options.report.steps = 2;
  options.checkpoint.epochs.reset();
  options.checkpoint.steps = 4;
  return options;
}

/// Inputs and targets of `data` written to a file, and read from there while training.
io::Dataset in_file(const io::Dataset& data, const std::filesystem::path& file) {
  io::write_hdf5_dataset(file, data);
  io::Dataset there = io::open_hdf5_dataset({file, "inputs"}, {file, "targets"});
  there.prefetch = 2;
  return there;
}

struct Outcome {
  std::string weights;
  std::vector<double> losses;
  double test_loss = 0.0;
  double waited_s = 0.0;
};

/// From the start, or from `checkpoint`; until the end, or until `stop_at` steps are done.
Outcome run(SmallRun& run, const schedule::Schedule& schedule, const io::Dataset& training,
            const io::Dataset& test, io::CheckpointStore& store,
            const std::optional<io::Checkpoint>& checkpoint, std::int64_t stop_at) {
  const auto engine = run.engine(schedule);
  train::Trainer trainer(*engine, training, &test, &store, options_for(3));
  if (checkpoint) {
    trainer.resume(*checkpoint);
  } else {
    trainer.start();
  }
  Outcome outcome;
  EventKind kind = EventKind::progress;
  while (kind != EventKind::finished && trainer.step() < stop_at) {
    const train::Event event = trainer.next();
    kind = event.kind;
    outcome.test_loss = event.evaluation.loss;
    if (kind == EventKind::progress) {
      outcome.losses.push_back(event.loss);
      outcome.waited_s += event.waited_s;
    }
  }
  CHECK(outcome.waited_s <= trainer.waited_s());
  CHECK((trainer.feed_bytes() > 0) == (training.source != nullptr));
  outcome.weights = engine->weights_hash();
  return outcome;
}

}  // namespace

TEST_CASE("Training from a file has the bits of training from memory, killed in between or not",
          "[train][data]") {
  const test::TemporaryFolder folder("data-from-file");
  for (const auto& policy : {policies::single({.place = "host"}),
                             policies::coarse_split({.share = {}, .samples = 13})}) {
    SmallRun setup(test::host_and_device(), DType::f64, 40, 190);
    const io::Dataset test = test::small_data(90);
    const io::Dataset there = in_file(setup.data, folder.path() / "set.h5");
    const io::Dataset test_there = in_file(test, folder.path() / "test.h5");
    const auto schedule = setup.schedule_of(policy);
    io::CheckpointStore here_store(folder.path() / (schedule.policy + "-memory"), 3);
    io::CheckpointStore there_store(folder.path() / (schedule.policy + "-file"), 3);
    CAPTURE(schedule.policy);

    const Outcome memory = run(setup, schedule, setup.data, test, here_store, {}, 1000);
    const Outcome file = run(setup, schedule, there, test_there, there_store, {}, 1000);
    CHECK(file.weights == memory.weights);
    CHECK(file.losses == memory.losses);
    CHECK(file.test_loss == memory.test_loss);
    CHECK(memory.waited_s == 0.0);

    // Five steps are an epoch: the checkpoint of step 8 is from the midst of one.
    io::CheckpointStore killed(folder.path() / (schedule.policy + "-killed"), 3);
    run(setup, schedule, there, test_there, killed, {}, 9);
    const auto checkpoint = killed.load_newest();
    REQUIRE(checkpoint->step == 8);
    CHECK(run(setup, schedule, there, test_there, killed, checkpoint, 1000).weights ==
          memory.weights);
    CHECK(run(setup, schedule, setup.data, test, killed, checkpoint, 1000).weights ==
          memory.weights);
  }
}

TEST_CASE("A value that can't be trained on ends a run in its step, and checkpoints stay",
          "[train][data]") {
  const test::TemporaryFolder folder("bad-data-in-file");
  SmallRun setup({test::host_lane()});
  auto values = std::make_shared<std::vector<float>>(setup.data.inputs.as<float>().begin(),
                                                     setup.data.inputs.as<float>().end());
  const auto last = io::epoch_order(11, 1, 200, true)[160];  // first of the tenth batch
  (*values)[last * 10 + 3] = std::numeric_limits<float>::infinity();
  setup.data.inputs.data = {values, reinterpret_cast<const std::byte*>(values->data())};
  const io::Dataset there = in_file(setup.data, folder.path() / "set.h5");
  io::CheckpointStore store(folder.path() / "checkpoints", 3);
  const auto engine = setup.engine(setup.schedule_of(policies::single({.place = "host"})));
  auto options = options_for(3);
  options.report.steps = 1;
  train::Trainer trainer(*engine, there, nullptr, &store, options);
  trainer.start();
  // Had the first epoch met the sample, it would have ended there.
  CHECK_THROWS_WITH(
      [&] {
        while (trainer.next().kind != EventKind::finished) {
        }
      }(),
      ContainsSubstring("found infinity in element 3 of sample " + std::to_string(last)));
  CHECK(trainer.step() < 10);
  CHECK(store.load_newest()->step == trainer.step() / 4 * 4);
}

}  // namespace zygos::test_data_from_file
