// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/sweep/sweep_plan.hpp"
#include "app/sweep/sweep_report.hpp"

#include "zygos/core/error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <set>
#include <string>
#include <vector>

namespace zygos::test_sweep_plan {
using namespace zygos::app;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;
using Words = std::vector<std::string>;
using State = SweepOutcome::State;

namespace {

std::string refusal(const Words& words, std::int64_t seeds = 1) {
  try {
    sweep_plan(words, seeds, 1);
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

SweepOutcome done(double loss, double accuracy) {
  return {.state = State::done,
          .summary = {{"loss", loss / 2},
                      {"test_loss", loss},
                      {"test_accuracy", accuracy},
                      {"test_top5", 1.0},
                      {"median_step_s", 0.002},
                      {"test_note", "no number"}}};
}

}  // namespace

TEST_CASE("a sweep has a run for every combination, the last key changing fastest") {
  const SweepPlan plan = sweep_plan(
      {"variables.width=32,64", "train.batch=100", "optimizer.learning_rate=1e-3,0.1"}, 2, 7);

  REQUIRE(plan.runs.size() == 8);
  CHECK(plan.settings() == 4);
  CHECK(plan.labels == Words{"width", "learning_rate"});
  CHECK(plan.runs[0].name == "width=32_learning_rate=1e-3_seed=7");
  CHECK(plan.runs[1].name == "width=32_learning_rate=1e-3_seed=8");
  CHECK(plan.runs[2].name == "width=32_learning_rate=0.1_seed=7");
  CHECK(plan.runs[7].name == "width=64_learning_rate=0.1_seed=8");
  CHECK(plan.overrides_with_seed(7) ==
        Words{"train.batch=100", "variables.width=64", "optimizer.learning_rate=0.1", "seed=8"});
  CHECK(plan.overrides_of(7).size() == 3);
}

TEST_CASE("commas within brackets, braces and quotes separate no values") {
  const SweepPlan plan = sweep_plan(
      {"optimizer={type: sgd, momentum: 0.9},{type: adam}", "name='a,b',c", "x=[1, 2],[3]"}, 1, 1);

  CHECK(plan.axes[0].values == Words{"{type: sgd, momentum: 0.9}", "{type: adam}"});
  CHECK(plan.axes[1].values == Words{"'a,b'", "c"});
  CHECK(plan.axes[2].values == Words{"[1, 2]", "[3]"});
}

TEST_CASE("folders of different values have different names, of plain characters") {
  const std::string many(200, 'a');
  const SweepPlan plan =
      sweep_plan({"a.x={a: 1},[a: 1],a/1,a_1," + many + "," + many + "b", "b.x=1,2"}, 1, 1);
  std::set<std::string> names;

  for (const SweepRun& run : plan.runs) {
    names.insert(run.name);
    CHECK(run.name.size() < 80);
    CHECK(run.name.find_first_of("/{}[]: ") == std::string::npos);
    CHECK_THAT(run.name, ContainsSubstring("a.x=") && ContainsSubstring("b.x="));
  }

  CHECK(names.size() == 12);
  std::vector<std::string> words;
  for (int i = 0; i < 12; ++i) {
    words.push_back(std::string(38, 'k') + std::to_string(i) + "=1,2");
  }
  CHECK(sweep_plan(words, 2, 1).runs[8191].name.size() < 220);
}

TEST_CASE("what is no sweep is refused") {
  CHECK_THAT(refusal({}), ContainsSubstring("nothing to sweep over"));
  CHECK_THAT(refusal({"train.batch=5"}), ContainsSubstring("nothing to sweep over"));
  CHECK(refusal({"train.batch=5"}, 2).empty());
  CHECK_THAT(refusal({"a=1,,2"}), ContainsSubstring("has an empty value"));
  CHECK_THAT(refusal({"a=1,2,1"}), ContainsSubstring("has the value 1 twice"));
  CHECK_THAT(refusal({"a=1", "a=2"}), ContainsSubstring("a is given twice"));
  CHECK_THAT(refusal({"seed=1,2"}, 3), ContainsSubstring("or with --seeds"));
  CHECK(refusal({"seed=1,2"}).empty());
  const std::string hundred = [] {
    std::string text = "0";
    for (int i = 1; i < 100; ++i) {
      text += "," + std::to_string(i);
    }
    return text;
  }();
  CHECK_THAT(refusal({"a=" + hundred, "b=" + hundred}, 2), ContainsSubstring("20000 runs"));
}

TEST_CASE("mean and standard deviation are those of a sample") {
  const Spread spread = spread_of(std::vector<double>{2.0, 4.0, 9.0});

  CHECK(spread.runs == 3);
  CHECK_THAT(spread.mean, WithinAbs(5.0, 1e-12));
  CHECK_THAT(spread.deviation, WithinAbs(3.605551275463989, 1e-12));  // sqrt((9 + 1 + 16) / 2)
  CHECK(spread_of(std::vector<double>{3.0}).deviation == 0.0);
  CHECK(spread_of(std::vector<double>{}).runs == 0);
}

TEST_CASE("the table has a row for each setting and the best one is told") {
  const SweepPlan plan = sweep_plan({"width=8,16"}, 2, 1);
  SweepResult result{plan, "runs/x", "score", {done(0.5, 0.8), done(0.7, 0.6), done(0.9, 0.9), {}}};
  result.outcomes[3].state = State::failed;
  result.outcomes[3].code = 7;
  result.outcomes[3].problem = "NaN";

  const std::string table = sweep_table(result);
  const auto best = best_setting(result);

  CHECK(figures_of(result) ==
        Words{"test_loss", "test_accuracy", "test_top5", "loss", "median_step_s"});
  CHECK_THAT(table, ContainsSubstring("8      0.6 +- 0.14"));
  CHECK_THAT(table, ContainsSubstring("2 of 2 done"));
  CHECK_THAT(table, ContainsSubstring("1 of 2 done, 1 failed"));
  REQUIRE(best.has_value());
  CHECK(best->setting == 1);
  CHECK(best->figure == "test_accuracy");
  result.best_by = "loss";
  CHECK(best_setting(result)->setting == 0);
  CHECK(outcome_line(result, 3) == "[4/4] width=16 seed=2: failed (exit code 7): NaN");
  CHECK_THAT(outcome_line(result, 0),
             ContainsSubstring("[1/4] width=8 seed=1: test loss 0.5, test accuracy 0.8"));
  const nlohmann::json object = sweep_json(result);
  CHECK(object["runs"][3]["problem"] == "NaN");
  CHECK(object["runs"][3]["exit_code"] == 7);
  CHECK(object["settings"][0]["test_accuracy"]["mean"] == 0.7);
  CHECK(object["best"]["values"]["width"] == "8");
  CHECK(object["done"] == 3);
}

}  // namespace zygos::test_sweep_plan
