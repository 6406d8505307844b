// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What only a browser can tell of a report's page.
#include "browser.hpp"
#include "report_samples.hpp"
#include "tiny_run.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <map>
#include <sstream>

namespace zygos::test::test_report_browser {

namespace fs = std::filesystem;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

namespace {

/// A finished run, trained once for all tests of this file.
class FinishedRun {
 public:
  FinishedRun() {
    write_tiny_deck(scratch_.path());
    train_to_the_end(scratch_.path());
  }
  fs::path folder() const { return scratch_.path() / "runs/tiny"; }
  fs::path page() const { return folder() / "report.html"; }

 private:
  Scratch scratch_;
};

const FinishedRun& finished_run() {
  chromium_or_skip();
  static const FinishedRun run;
  return run;
}

/// What its page found, at a laptop's width.
const json& finished_check() {
  static const json found = selfcheck_of(finished_run().page(), "", {"--window-size=1280,800"});
  return found;
}

/// The page of a folder whose files a test has made up.
fs::path made_up_page(const Scratch& scratch, const std::map<std::string, std::string>& files) {
  chromium_or_skip();
  for (const auto& [name, text] : files) {
    write_text(scratch.path() / name, text);
  }
  const Outcome outcome = zygos_run({"report", "."}, scratch.path());
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  return scratch.path() / "report.html";
}

/// The last value of a key in metrics.jsonl.
double last_metric(const fs::path& run, const std::string& key) {
  std::istringstream lines(read_text(run / "metrics.jsonl"));
  double value = -1.0;
  for (std::string line; std::getline(lines, line);) {
    value = json::parse(line).value(key, value);
  }
  return value;
}

std::size_t predicted_tasks(const fs::path& run) {
  const json trace = json::parse(read_text(run / "trace.json"));
  std::size_t count = 0;
  for (const json& event : trace["traceEvents"]) {
    count += event["ph"] == "X" && event["pid"] == 2 ? std::size_t{1} : std::size_t{0};
  }
  return count;
}

void check_sound(const json& found) {
  CHECK(found["errors"] == json::array());
  CHECK(found["fetched"] == json::array());
  CHECK(found["outside"] == json::array());
  CHECK(found["wide"] == false);
}

}  // namespace

TEST_CASE("the page of a run draws its curves to the last value of the metrics") {
  const fs::path run = finished_run().folder();

  const json& found = finished_check();

  check_sound(found);
  const json& curves = found["curves"];
  CHECK(curves["training loss"]["value"] == last_metric(run, "loss"));
  CHECK(curves["training loss"]["step"] == 120);
  CHECK(curves["test loss"]["value"] == last_metric(run, "test_loss"));
  CHECK(curves["training accuracy"]["value"] == last_metric(run, "accuracy"));
  CHECK(curves["test accuracy"]["value"] == last_metric(run, "test_accuracy"));
  CHECK(curves.contains("host"));
  REQUIRE(found["curve_tips"].size() == 3);
  CHECK_THAT(found["curve_tips"][0].get<std::string>(),
             ContainsSubstring("step ") && ContainsSubstring("loss: "));
}

TEST_CASE("the page of several runs draws the curves and results of each") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const fs::path other = scratch.path() / "slower";
  train_unmeasured(scratch.path(), {"--run-dir", "slower", "optimizer.learning_rate=0.0001"});
  const fs::path page = scratch.path() / "both.html";
  const Outcome outcome = zygos_run(
      {"report", finished_run().folder().string(), "--beside", "slower", "--output", page.string()},
      scratch.path());
  REQUIRE(outcome.code == 0);

  const json found = selfcheck_of(page);

  check_sound(found);
  CHECK(found["curves"]["training loss"]["value"] == last_metric(finished_run().folder(), "loss"));
  CHECK(found["curves"]["training loss, slower"]["value"] == last_metric(other, "loss"));
  CHECK(found["curves"]["test accuracy, slower"]["value"] == last_metric(other, "test_accuracy"));
  CHECK(found["curves"].contains("all lanes, slower"));
  CHECK_FALSE(found["curves"].contains("host"));
  CHECK(found["runs"] == 2);
  CHECK(finished_check()["runs"] == 0);
}

TEST_CASE("the timeline draws every task of the steps it holds, measured and predicted") {
  const std::size_t tasks = predicted_tasks(finished_run().folder());

  const json& timeline = finished_check()["timeline"];

  CHECK(timeline["steps"] == 21);
  CHECK(timeline["measured"] == 21 * tasks);
  CHECK(timeline["predicted"] == tasks);
  CHECK(timeline["idle"] > 0);
  CHECK(timeline["outside"] == 0);
  CHECK(timeline["rows"] ==
        json{"measured host", "measured device", "predicted host", "predicted device"});
}

TEST_CASE("the timeline says task, times and buffers under the pointer and to the keyboard") {
  const json& found = finished_check();

  const std::string task = found["tips"]["task"];
  CHECK_THAT(task, ContainsSubstring("load@host") && ContainsSubstring("step: 120") &&
                       ContainsSubstring("lane: host") && ContainsSubstring("takes: ") &&
                       ContainsSubstring("predicted: ") && ContainsSubstring("reads: batch") &&
                       ContainsSubstring("writes: inputs@host"));
  CHECK_THAT(found["tips"]["predicted"].get<std::string>(), ContainsSubstring("step: predicted"));
  const json& keys = found["keys"];
  CHECK(keys["step"] == 119);
  CHECK_FALSE(keys["first"].get<std::string>().empty());
  CHECK(keys["second"] != keys["first"]);
  CHECK_THAT(keys["below"].get<std::string>(), ContainsSubstring("lane device"));
}

TEST_CASE("buttons, wheel and a drag zoom the timeline") {
  const json& zoom = finished_check()["zoom"];

  CHECK(zoom["button"] < zoom["start"]);
  CHECK(zoom["wheel"] < zoom["button"]);
  CHECK(zoom["drag"] < zoom["wheel"]);
  CHECK(zoom["all"] > zoom["start"]);
  CHECK(zoom["fit"].get<double>() == Approx(zoom["start"].get<double>()));
}

TEST_CASE("every figure of a report comes with a table") {
  const json& found = finished_check();

  // One per figure, and those of the comparison and of what was decided.
  REQUIRE(found["tables"].size() >= 4);
  for (const json& rows : found["tables"]) {
    CHECK(rows > 1);
  }
  CHECK(found["memory"]["peaks"] > 4);
}

TEST_CASE("a report follows the reader's choice of light or dark") {
  const fs::path page = finished_run().page();
  const json light = selfcheck_of(page, "&theme=light")["colours"];
  const json dark = selfcheck_of(page, "&theme=dark")["colours"];

  const json by_system =
      selfcheck_of(page, "", {"--blink-settings=preferredColorScheme=0"})["colours"];

  CHECK(light["page"] == "rgb(246, 247, 249)");
  CHECK(dark["page"] == "rgb(17, 20, 23)");
  CHECK(dark["text"] != light["text"]);
  CHECK(by_system == dark);
}

TEST_CASE("a report fits a narrow window") {
  check_sound(selfcheck_of(finished_run().page(), "", {"--window-size=500,900"}));
}

TEST_CASE("no table of a report is cut off in a window of 800 pixels") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  train_unmeasured(scratch.path(), {"--run-dir", "other"});
  const fs::path page = scratch.path() / "both.html";
  const Outcome outcome = zygos_run(
      {"report", finished_run().folder().string(), "--beside", "other", "--output", page.string()},
      scratch.path());
  REQUIRE(outcome.code == 0);

  const json found = selfcheck_of(page, "", {"--window-size=800,900"});

  CHECK(found["clipped"] == json::array());
}

TEST_CASE("a step has one time on the page, the median of the run, and the rate follows from it") {
  const json& found = finished_check();
  const json summary = json::parse(read_text(finished_run().folder() / "summary.json"));
  std::string rate = found["tiles"]["samples a second at the median step"];
  std::erase(rate, ',');

  CHECK(found["comparison"]["time of a step, median of the run"][1] ==
        found["tiles"]["a step, median of the run"]);
  CHECK(std::stod(rate) ==
        Approx(summary["batch"].get<double>() / summary["median_step_s"].get<double>())
            .epsilon(0.01));
}

TEST_CASE("a lane that a run does not use is not on its page") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  train_unmeasured(scratch.path(), {"policy=single"});

  const json found = selfcheck_of(scratch.path() / "runs/tiny/report.html");

  check_sound(found);
  CHECK(found["timeline"]["rows"] == json{"measured host"});
  CHECK(found["idle_places"] == json{"host"});
  CHECK_FALSE(found["curves"].contains("device"));
  for (const auto& [name, cells] : found["comparison"].items()) {
    CHECK_THAT(name, !ContainsSubstring("device"));
  }
}

TEST_CASE(
    "the timeline opens on a step as long as most of the run's, though its last ones are not") {
  json trace = sample_trace(30);
  for (json& event : trace["traceEvents"]) {
    if (event.value("pid", 0) == 1 && event["args"].value("step", 0) > 18) {
      event["dur"] = 3.0 * event["dur"].get<double>();
    }
  }
  const Scratch scratch;

  const json found = selfcheck_of(made_up_page(scratch, {{"trace.json", trace.dump()}}));

  CHECK(found["timeline"]["steps"] == 21);  // 1, and 11 to 30
  CHECK(found["opens_on"] == 18);
}

TEST_CASE("a report shows no ratio over a prediction that reads as zero, and gaps apart") {
  json trace = sample_trace(5);
  for (json& event : trace["traceEvents"]) {
    if (event.value("pid", 0) == 2 && event["args"]["task"] == "forward@host") {
      event["dur"] = 100.0 - 1e-7;  // idle for a billionth of the step
    }
  }
  const Scratch scratch;
  const fs::path page = made_up_page(
      scratch, {{"trace.json", trace.dump()}, {"summary.json", R"({"finished": true})"}});

  const json rows = selfcheck_of(page)["comparison"];
  const std::string dom = dom_of(page, "");

  CHECK(rows["idle time of lane host"] == json{"0.00 %", "40.0 %", "\u2013"});
  CHECK(rows["idle time of lane device"] == json{"50.0 %", "60.0 %", "1.20"});
  CHECK_THAT(dom, ContainsSubstring("between which 10 \u00b5s pass (median)"));
}

TEST_CASE("the axis of accuracies shows the curve, not all that accuracies can be") {
  const Scratch scratch;
  const fs::path page = made_up_page(
      scratch, {{"metrics.jsonl",
                 "{\"kind\": \"train\", \"step\": 1, \"loss\": 0.2, \"accuracy\": 0.91}\n"
                 "{\"kind\": \"train\", \"step\": 2, \"loss\": 0.1, \"accuracy\": 0.998}\n"}});

  const json axis = selfcheck_of(page)["axes"]["Accuracy"];

  CHECK(axis[0] == Approx(0.9056));  // a twentieth of the curve below it
  CHECK(axis[1] == 1.0);
}

TEST_CASE("figures say whether they are of the validation or of the test set") {
  const Scratch scratch;
  const fs::path page = made_up_page(
      scratch,
      {{"metrics.jsonl",
        "{\"kind\": \"test\", \"set\": \"validation\", \"step\": 3, \"test_loss\": 1.5}\n"}});

  const json found = selfcheck_of(page);

  CHECK(found["curves"]["validation loss"]["value"] == 1.5);
  CHECK(found["tiles"].contains("validation loss"));
  CHECK(finished_check()["tiles"].contains("test accuracy"));
}

TEST_CASE("figures of classes are those of the metrics, of the last and of the best evaluation") {
  const auto line = [](int step, bool best, const json& counts) {
    return json{{"kind", "test"},
                {"set", "validation"},
                {"step", step},
                {"best", best},
                {"test_per_class",
                 {{{"name", "<b>cat"},
                   {"labels", 1234},
                   {"precision", 0.25},
                   {"recall", 1.0},
                   {"f1", 0.4}},
                  {{"name", "dog"},
                   {"labels", 0},
                   {"precision", 0.0},
                   {"recall", 0.0},
                   {"f1", 0.0}}}},
                {"test_confusion", {{"classes", {"<b>cat", "dog"}}, {"counts", counts}}}}
               .dump() +
           "\n";
  };
  const Scratch scratch;
  const fs::path page =
      made_up_page(scratch, {{"metrics.jsonl", line(10, true, {{1200, 34}, {0, 0}}) +
                                                   line(20, false, {{1000, 234}, {0, 0}})}});

  const json found = selfcheck_of(page, "", {"--window-size=500,900"});

  check_sound(found);
  REQUIRE(found["classes"].size() == 2);
  const json& last = found["classes"][0];
  CHECK(last["title"] == "Last evaluation, of the validation set: step 20");
  CHECK(found["classes"][1]["title"] == "Best evaluation, of the validation set: step 10");
  CHECK(last["figures"] ==
        json::array({json::array({"<b>cat", "1,234", "25.0 %", "100.0 %", "40.0 %"}),
                     json::array({"dog", "0", "0.00 %", "0.00 %", "0.00 %"})}));
  CHECK(last["confusion"] ==
        json::array({json::array({"<b>cat", "1,000", "234"}), json::array({"dog", "0", "0"})}));
  CHECK(found["classes"][1]["confusion"][0] == json::array({"<b>cat", "1,200", "34"}));
  // Cells of the first row have a colour each, those without a sample none.
  const json& shades = last["shades"];
  CHECK(shades[0] != shades[1]);
  CHECK(shades[0] != shades[2]);
  CHECK(shades[2] == shades[3]);
}

TEST_CASE("a matrix of many classes scrolls within its box, in a narrow window and in the dark") {
  json counts = json::array();
  json names = json::array();
  for (int label = 0; label < 60; ++label) {
    counts.push_back(std::vector<int>(60, 1000 + label));
    names.push_back("a class of some name " + std::to_string(label));
  }
  const Scratch scratch;
  const fs::path page = made_up_page(
      scratch, {{"summary.json", json{{"finished", true},
                                      {"steps", 7},
                                      {"test_confusion", {{"classes", names}, {"counts", counts}}}}
                                     .dump()}});

  const json found = selfcheck_of(page, "&theme=dark", {"--window-size=500,900"});

  check_sound(found);
  REQUIRE(found["classes"].size() == 1);
  CHECK(found["classes"][0]["inside"] == true);
  CHECK(found["classes"][0]["confusion"].size() == 60);
  CHECK(found["classes"][0]["figures"].empty());
  CHECK(found["classes"][0]["title"] == "Last evaluation, of the test set: step 7");
  REQUIRE(found["clipped"].size() == 1);
  CHECK_THAT(found["clipped"][0].get<std::string>(), ContainsSubstring("a class of some name 59"));
}

TEST_CASE("a run that tells nothing of classes has no section of them") {
  CHECK(finished_check()["classes"] == json::array());
  CHECK_THAT(dom_of(finished_run().page(), ""), !ContainsSubstring("id=\"classes\""));
}

TEST_CASE("the address of a report may ask for one section, and its height is told") {
  const std::string dom = dom_of(finished_run().page(), "#only=learning");

  CHECK_THAT(dom, ContainsSubstring("data-height=\""));
  CHECK_THAT(dom, ContainsSubstring("<section id=\"timeline\" aria-labelledby=\"timeline-title\" "
                                    "hidden=\"\""));
  CHECK_THAT(dom,
             ContainsSubstring("<section id=\"learning\" aria-labelledby=\"learning-title\">"));
}

TEST_CASE("a report can be printed") {
  const std::string pdf = pdf_of(finished_run().page(), "#theme=dark");

  CHECK(pdf.starts_with("%PDF-"));
  CHECK(pdf.size() > 20000);
}

TEST_CASE("bytes over time are drawn where the trace has them") {
  json trace = sample_trace(3);
  for (const char* place : {"host", "device"}) {
    trace["traceEvents"].push_back(memory_event(place, 230.0, 4096.0, 0.0));
    trace["traceEvents"].push_back(memory_event(place, 260.0, 4096.0, 9000.0));
    trace["traceEvents"].push_back(memory_event(place, 110.0, 5000.0, 9000.0, true));
  }
  const Scratch scratch;

  const json found = selfcheck_of(made_up_page(scratch, {{"trace.json", trace.dump()}}));

  check_sound(found);
  CHECK(found["memory"]["areas"] == 4);
  CHECK(found["memory"]["predicted"] == 2);
  CHECK_THAT(found["tips"]["task"].get<std::string>(), ContainsSubstring("moves: 2 KiB"));
}

TEST_CASE("the page of a killed run shows what there is and says what lacks") {
  const Scratch scratch;
  const fs::path page = made_up_page(
      scratch, {{"deck.yaml", "deck_version: 1\n"},
                {"metrics.jsonl", "{\"kind\": \"train\", \"step\": 3, \"loss\": 1.5}\n{\"kind"}});

  const json found = selfcheck_of(page);

  check_sound(found);
  CHECK(found["curves"]["training loss"]["value"] == 1.5);
  CHECK(found["problems"].size() == 3);
  CHECK_FALSE(found.contains("timeline"));
}

TEST_CASE("names in a run cannot become elements or scripts of its page") {
  const std::string evil = "</script><img src=x onerror=document.title='owned'><b>";
  json trace = sample_trace(2);
  for (json& event : trace["traceEvents"]) {
    if (event["ph"] == "M") {
      event["args"]["name"] = evil;
    } else {
      event["name"] = evil;
      event["args"]["task"] = evil + event["args"]["task"].get<std::string>();
    }
  }
  const Scratch scratch;
  const fs::path page = made_up_page(
      scratch, {{"deck.yaml", "name: " + evil},
                {"summary.json", json{{"deck", evil},
                                      {"policy", evil},
                                      {"samples", {{evil, 3}}},
                                      {"peak_bytes", {{evil, {{evil, 7}, {"total", 7}}}}}}
                                     .dump()},
                {"trace.json", trace.dump()}});

  const json found = selfcheck_of(page);
  const std::string dom = dom_of(page, "");

  check_sound(found);
  CHECK(dom.find("<img") == std::string::npos);
  CHECK(dom.find("<b>&lt;") == std::string::npos);
  CHECK_THAT(dom, ContainsSubstring("<title>&lt;/script&gt;"));
}

}  // namespace zygos::test::test_report_browser
