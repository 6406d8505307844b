// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/report/report_data.hpp"
#include "process.hpp"
#include "report_samples.hpp"

#include "zygos/core/error.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::app::test_report_data {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;
using test::sample_trace;
using test::Scratch;
using test::write_text;

namespace {

std::vector<int> numbers_of(const json& timeline) {
  std::vector<int> numbers;
  for (const json& step : timeline["steps"]) {
    numbers.push_back(step["step"].get<int>());
  }
  return numbers;
}

std::string training_line(int step, double loss) {
  return json{{"kind", "train"}, {"step", step}, {"loss", loss}}.dump() + "\n";
}

}  // namespace

TEST_CASE("a report's timeline holds the first step and the last ones") {
  const json timeline = timeline_of(sample_trace(30), {.steps = 3});

  CHECK(numbers_of(timeline) == std::vector<int>{1, 28, 29, 30});
  CHECK(timeline["steps_in_trace"] == 30);
  CHECK(timeline["places"] == json{"host", "device"});
}

TEST_CASE("a report keeps fewer steps where each has many tasks, and always the last") {
  CHECK(numbers_of(timeline_of(sample_trace(30), {.steps = 20, .timeline_tasks = 9})) ==
        std::vector<int>{1, 27, 28, 29, 30});
  CHECK(numbers_of(timeline_of(sample_trace(30), {.steps = 20, .timeline_tasks = 1})) ==
        std::vector<int>{1, 30});
}

TEST_CASE("steps the recorder has kept only a part of are no steps of the timeline") {
  json trace = sample_trace(3);
  trace["traceEvents"].erase(2);  // the host's task of step 1

  const json timeline = timeline_of(trace, {});

  CHECK(numbers_of(timeline) == std::vector<int>{2, 3});
}

TEST_CASE("tasks are embedded once and their times count from the start of their step") {
  const json timeline = timeline_of(sample_trace(2), {});

  REQUIRE(timeline["tasks"].size() == 2);
  CHECK(timeline["tasks"][0]["text"] == "forward@host");
  CHECK(timeline["tasks"][0]["bytes"] == 2048);
  CHECK(timeline["tasks"][0]["reads"][0] == "weights@host");
  const json& second = timeline["steps"][1]["events"];
  REQUIRE(second.size() == 2);
  CHECK(second[1] == json{1, 1, 60.0, 40.0});
  CHECK(timeline["steps"][1]["span_us"] == 100.0);
}

TEST_CASE("idle shares are what of a step a place computes nothing in") {
  const json idle = timeline_of(sample_trace(5), {})["idle"];

  CHECK(idle["measured"]["host"].get<double>() == Approx(0.4));
  CHECK(idle["measured"]["device"].get<double>() == Approx(0.6));
  CHECK(idle["predicted"]["host"].get<double>() == Approx(0.5));
}

TEST_CASE("what lies between steps is a time of its own, the median over steps that follow") {
  json trace = sample_trace(6);
  for (json& event : trace["traceEvents"]) {
    if (event["ph"] == "X" && event["pid"] == 1 && event["args"]["step"] == 6) {
      event["ts"] = event["ts"].get<double>() + 5000.0;  // the machine did something else
    }
  }
  json holed = sample_trace(3);
  holed["traceEvents"].erase(4);  // the host's task of step 2

  CHECK(timeline_of(trace, {})["gap_us"].get<double>() == Approx(10.0));
  CHECK(timeline_of(trace, {})["idle"]["measured"]["host"].get<double>() == Approx(0.4));
  CHECK(numbers_of(timeline_of(holed, {})) == std::vector<int>{1, 3});
  CHECK(timeline_of(holed, {})["gap_us"].is_null());
  CHECK(timeline_of(sample_trace(1), {})["gap_us"].is_null());
}

TEST_CASE("overlapping tasks are not counted twice, and what moves data does not compute") {
  json trace = sample_trace(1);
  trace["traceEvents"].push_back(test::task_event(1, 0, "inner@host", 120.0, 10.0));
  trace["traceEvents"].push_back(test::task_event(1, 0, "loss@host", 140.0, 40.0));
  trace["traceEvents"].push_back(test::track_name(1, 1, "host outgoing"));
  trace["traceEvents"].push_back(test::task_event(1, 1, "send@host", 190.0, 20.0));

  const json timeline = timeline_of(trace, {});

  CHECK(timeline["idle"]["measured"]["host"].get<double>() == Approx(0.3));
  CHECK_FALSE(timeline["idle"]["measured"].contains("host outgoing"));
  CHECK(timeline["tracks"][1]["name"] == "host outgoing");
  CHECK(timeline["tracks"][1]["queue"] == 1);
}

TEST_CASE("bytes over time count from the start of the step they were taken in") {
  json trace = sample_trace(3);
  trace["traceEvents"].push_back(test::memory_event("host", 260.0, 100.0, 50.0));
  trace["traceEvents"].push_back(test::memory_event("host", 230.0, 100.0, 0.0));

  const json memory = timeline_of(trace, {})["memory"];

  CHECK(memory["step"] == 2);
  CHECK(memory["categories"] == json{"activations", "weights"});
  CHECK(memory["places"]["host"] == json{{10.0, 0.0, 100.0}, {40.0, 50.0, 100.0}});
  CHECK(memory["predicted"].empty());
}

TEST_CASE("predicted bytes are totals that count from the start of the predicted step") {
  json trace = sample_trace(3);
  trace["traceEvents"].push_back(test::memory_event("host", 230.0, 100.0, 0.0));
  trace["traceEvents"].push_back(test::memory_event("host", 112.0, 100.0, 50.0, true));
  trace["traceEvents"].push_back(test::memory_event("host", 110.0, 100.0, 0.0, true));
  trace["traceEvents"].push_back(test::memory_event("host/staging", 110.0, 8.0, 0.0, true));

  const json memory = timeline_of(trace, {})["memory"];

  CHECK(memory["places"]["host"] == json::array({{10.0, 0.0, 100.0}}));
  CHECK(memory["predicted"]["host"] == json{{0.0, 100.0}, {2.0, 150.0}});
  CHECK(memory["predicted"]["host/staging"] == json::array({{0.0, 8.0}}));
}

TEST_CASE("a trace without a prediction or counters has neither") {
  json trace = sample_trace(1);
  std::erase_if(*trace["traceEvents"].get_ptr<json::array_t*>(),
                [](const json& event) { return event["pid"] == 2; });

  const json timeline = timeline_of(trace, {});

  CHECK(timeline["predicted"].is_null());
  CHECK(timeline["idle"]["predicted"].is_null());
  CHECK(timeline["memory"].is_null());
}

TEST_CASE("a folder that is none of a run is refused, with what to name instead") {
  const Scratch scratch;
  CHECK_THROWS_AS(gather_report(scratch.path()), UsageError);
  CHECK_THROWS_WITH(gather_report(scratch.path() / "none"),
                    ContainsSubstring("no such folder") && ContainsSubstring("runs/NAME"));
}

TEST_CASE("the report of a killed run says which files lack") {
  const Scratch scratch;
  write_text(scratch.path() / "deck.yaml", "deck_version: 1\n");
  write_text(scratch.path() / "metrics.jsonl", training_line(1, 2.0) + "{\"kind\": \"tra");

  const ReportData data = gather_report(scratch.path());

  REQUIRE(data.problems.size() == 3);
  CHECK_THAT(data.problems[0], ContainsSubstring("1 of 2 lines are damaged"));
  CHECK_THAT(data.problems[1], ContainsSubstring("summary.json does not exist"));
  CHECK_THAT(data.problems[2], ContainsSubstring("trace.json does not exist"));
  CHECK(data.page["metrics"].size() == 1);
  CHECK(data.page["deck"] == "deck_version: 1\n");
  CHECK(data.page["summary"].is_null());
  CHECK(data.page["timeline"].is_null());
}

TEST_CASE("damaged files cost the report their part and no other") {
  const char* damaged = GENERATE("", "{", "[1, 2]", "{\"traceEvents\": [{\"ph\": \"X\"}]}",
                                 "{\"traceEvents\": 7}", "\xff\xfe\x00");
  CAPTURE(damaged);
  const Scratch scratch;
  write_text(scratch.path() / "deck.yaml", "deck_version: 1\n");
  write_text(scratch.path() / "metrics.jsonl", training_line(1, 2.0));
  write_text(scratch.path() / "summary.json", R"({"deck": "named", "steps": 1})");
  write_text(scratch.path() / "trace.json", damaged);

  const ReportData data = gather_report(scratch.path());

  REQUIRE(data.problems.size() == 1);
  CHECK_THAT(data.problems[0], ContainsSubstring("trace.json is damaged"));
  CHECK(data.title == "named");
  CHECK(data.page["summary"]["steps"] == 1);
}

TEST_CASE("long metrics are thinned to a limit, with their last line and every other kind kept") {
  const Scratch scratch;
  std::string lines;
  for (int step = 1; step <= 1003; ++step) {
    lines += training_line(step, 1.0 / step);
  }
  lines += R"({"kind": "checkpoint", "step": 500, "path": "/somewhere/private"})";
  write_text(scratch.path() / "metrics.jsonl", lines);

  const json metrics = gather_report(scratch.path(), {}, {.metrics = 100}).page["metrics"];

  CHECK(metrics.size() <= 101);
  CHECK(metrics.size() > 50);
  CHECK(metrics[metrics.size() - 2]["step"] == 1003);
  CHECK(metrics.back()["kind"] == "checkpoint");
  CHECK_FALSE(metrics.back().contains("path"));
}

TEST_CASE(
    "figures of classes are kept of the last evaluation and the best one, of this run alone") {
  const Scratch scratch;
  std::string lines;
  for (const int step : {1, 2, 3, 4}) {
    lines += json{{"kind", "test"},
                  {"step", step},
                  {"test_loss", 0.5},
                  {"best", step <= 2},
                  {"test_per_class", json::array({{{"name", "cat"}}})},
                  {"test_confusion", {{"counts", {{1}}}}}}
                 .dump() +
             "\n";
  }
  write_text(scratch.path() / "metrics.jsonl", lines);
  write_text(scratch.path() / "summary.json", R"({"test_per_class": [{"name": "cat"}]})");

  const json page = gather_report(scratch.path(), {scratch.path().string()}).page;

  const json& own = page["metrics"];
  REQUIRE(own.size() == 4);
  for (const char* key : {"test_per_class", "test_confusion"}) {
    CAPTURE(key);
    CHECK_FALSE(own[0].contains(key));
    CHECK(own[1].contains(key));  // the best one
    CHECK_FALSE(own[2].contains(key));
    CHECK(own[3].contains(key));
    for (const json& line : page["others"][0]["metrics"]) {
      CHECK_FALSE(line.contains(key));
    }
  }
  CHECK(own[2]["test_loss"] == 0.5);
  CHECK(page["summary"].contains("test_per_class"));
  CHECK_FALSE(page["others"][0]["summary"].contains("test_per_class"));
}

TEST_CASE("a run is named by its deck, or by its folder, also where that ends in a slash") {
  const Scratch scratch;
  std::filesystem::create_directories(scratch.path() / "mine");
  write_text(scratch.path() / "mine" / "deck.yaml", "deck_version: 1\n");

  CHECK(gather_report(scratch.path() / "mine").title == "mine");
  CHECK(gather_report((scratch.path() / "mine").string() + "/").title == "mine");
}

}  // namespace zygos::app::test_report_data
