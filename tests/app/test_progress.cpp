// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/report/progress.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

namespace zygos::app::test_progress {
namespace {

train::Event some_event() {
  train::Event event;
  event.step = 120;
  event.total_steps = 3000;
  event.epoch = 2;
  event.loss = 0.0621;
  event.score = 0.9812;
  event.samples_per_s = 54321.0;
  event.lane_samples_per_s = {20100.0, 34221.0};
  event.seconds_left = 12.0;
  return event;
}

ProgressFacts some_facts() {
  return {.lanes = {"host", "device"},
          .shown = {0, 1},
          .bytes = 1536,
          .epochs = 5,
          .score = "accuracy"};
}

}  // namespace

TEST_CASE("a progress line tells step, loss, rates per lane, memory and time left") {
  CHECK(progress_line(some_event(), some_facts()) ==
        "step  120/3000  epoch 2/5  loss 0.0621    accuracy  98.12 %  54,321 samples/s (host "
        "20,100 + device 34,221)  1.5 KiB  12.0 s left");
}

TEST_CASE("a narrow terminal shows step, epoch, loss, speed and time left before everything else") {
  const std::string narrow = status_line(some_event(), some_facts(), 79);

  CHECK(narrow.size() <= 79);
  for (const char* part :
       {"120/3000", "epoch ", "loss 0.0621", "54,321 samples/s", "12.0 s left"}) {
    CHECK(narrow.find(part) != std::string::npos);
  }
  CHECK(status_line(some_event(), some_facts(), 400) == progress_line(some_event(), some_facts()));
}

TEST_CASE("a wide terminal shows every figure of the last evaluation beside the training loss") {
  train::Event event = some_event();
  event.evaluation = {
      .samples = 10, .loss = 0.5, .score = 0.25, .figures = {{"macro_f1", 0.75}, {"top5", 0.875}}};

  const std::string wide = status_line(event, some_facts(), 400);

  CHECK(wide.find("accuracy  98.12 %  test loss 0.5  test accuracy 25.00 %  macro_f1 0.75  top5 "
                  "0.875  54,321 samples/s") != std::string::npos);
  CHECK(status_line(event, some_facts(), 79) == status_line(some_event(), some_facts(), 79));
  CHECK(progress_line(event, some_facts()) == progress_line(some_event(), some_facts()));
}

TEST_CASE("the rates of a pipeline stand in the order of its stages and are no sum") {
  ProgressFacts facts = some_facts();
  facts.shown = {1, 0};
  facts.staged = true;

  CHECK(progress_line(some_event(), facts).find("(device 34,221 -> host 20,100)") !=
        std::string::npos);
}

TEST_CASE("a learning rate that changes is shown") {
  train::Event event = some_event();
  event.learning_rate = 0.00125;
  ProgressFacts facts = some_facts();
  CHECK(progress_line(event, facts).find("rate") == std::string::npos);
  facts.scheduled = true;
  CHECK(progress_line(event, facts).find("98.12 %  rate 0.00125   54,321") != std::string::npos);
  CHECK(metrics_of(event, facts)["learning_rate"] == 0.00125);
}

TEST_CASE("regression has no accuracy") {
  ProgressFacts facts = some_facts();
  facts.score.clear();

  CHECK(progress_line(some_event(), facts).find("accuracy") == std::string::npos);
  CHECK_FALSE(metrics_of(some_event(), facts).contains("accuracy"));
}

TEST_CASE("a loss's score is called by its name") {
  ProgressFacts facts = some_facts();
  facts.score = "dice";
  train::Event event = some_event();

  CHECK(progress_line(event, facts).find("  dice  98.12 %") != std::string::npos);
  CHECK(metrics_of(event, facts)["dice"] == 0.9812);
  event.kind = train::EventKind::evaluated;
  event.evaluation = {.samples = 10, .loss = 0.5, .score = 0.25};
  CHECK(evaluation_line(event, facts).ends_with("test dice 25.00 %"));
  CHECK(metrics_of(event, facts)["test_dice"] == 0.25);
}

TEST_CASE("metrics carry rates in total and per lane") {
  const nlohmann::json line = metrics_of(some_event(), some_facts());

  CHECK(line["kind"] == "train");
  CHECK(line["step"] == 120);
  CHECK(line["samples_per_s"]["total"] == 54321.0);
  CHECK(line["samples_per_s"]["lanes"]["device"] == 34221.0);
}

TEST_CASE("metrics name every kind of event") {
  train::Event event = some_event();
  event.kind = train::EventKind::evaluated;
  event.evaluation = {.samples = 10, .loss = 0.5, .score = 0.25};
  CHECK(metrics_of(event, some_facts())["test_accuracy"] == 0.25);
  CHECK(metrics_of(event, some_facts())["set"] == "test");
  CHECK(metrics_of(event, some_facts())["best"] == false);
  event.best = true;
  CHECK(metrics_of(event, some_facts())["best"] == true);

  event.kind = train::EventKind::checkpointed;
  event.checkpoint = "step-000120";
  CHECK(metrics_of(event, some_facts())["path"] == "step-000120");
  event.kind = train::EventKind::stopped;
  CHECK(metrics_of(event, some_facts())["kind"] == "stopped");
}

}  // namespace zygos::app::test_progress
