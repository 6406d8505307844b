// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// plan, compare and what train does with a profile, with every policy of the build.
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <set>

namespace zygos::test::test_planning {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;

/// Rows by what their policy's name begins with.
std::set<std::string> keywords_of(const nlohmann::json& rows) {
  std::set<std::string> found;
  for (const auto& row : rows) {
    const std::string policy = row["policy"];
    found.insert(policy.substr(0, policy.find('(')));
  }
  return found;
}

fs::path kept_profile(const fs::path& directory) {
  for (const auto& entry : fs::directory_iterator(directory / "cache/zygos/profiles")) {
    return entry.path();
  }
  return {};
}

}  // namespace

TEST_CASE("plan ranks every policy that two lanes can run, fastest first") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  keep_tiny_profile(scratch.path());

  const nlohmann::json plan = json_of({"plan", "tiny.yaml", "--json"}, scratch.path());

  CHECK(keywords_of(plan["rows"]) ==
        std::set<std::string>{"single", "coarse_split", "layer_placement", "gpipe", "one_f_one_b",
                              "hippie", "data_parallel", "tensor_parallel", "pipedream",
                              "pipedream_2bw", "zero_offload", "cotrain"});
  double last = 0.0;
  std::set<std::string> names;
  for (const auto& row : plan["rows"]) {
    CAPTURE(row.dump(1));
    for (const char* field :
         {"policy", "step_s", "peak_bytes", "bytes", "messages", "idle", "speedup", "staleness",
          "deck", "reason", "memory_efficiency", "exposed_exchange_s"}) {
      CHECK(row.contains(field));
    }
    CHECK(row["step_s"]["predicted"] >= last);
    last = row["step_s"]["predicted"];
    names.insert(row["policy"].get<std::string>());
    const std::string policy = row["policy"];
    CHECK((row["staleness"] > 0) == policy.starts_with("pipedream"));
    CHECK((row["messages"] == 0) == policy.starts_with("single"));
    CHECK(row["peak_bytes"].size() >= 1);
  }
  CHECK(names.contains(plan["recommended"].get<std::string>()));
  CHECK_FALSE(plan["recommended"].get<std::string>().starts_with("pipedream"));
  CHECK(plan["reason"].get<std::string>().size() > 20);
  std::map<std::string, std::string> refused;
  for (const auto& refusal : plan["refusals"]) {
    refused[refusal["policy"]] = refusal["reason"];
  }
  CHECK(refused.size() == 2);
  CHECK_THAT(refused["one_bit_adam"], ContainsSubstring("set optimizer.type to one_bit_adam"));
  CHECK_THAT(refused["hybrid_conv_fc"], ContainsSubstring("cheaper to cut than to copy"));
  const std::string remarks = plan["remarks"].dump();
  CHECK_THAT(remarks, ContainsSubstring("M/D"));
  CHECK_THAT(remarks, ContainsSubstring("P/A"));
}

TEST_CASE("plan refuses a policy that can't run on these lanes, and ranks the others") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const nlohmann::json plan =
      json_of({"plan", "tiny.yaml", "--json",
               "lanes={first: {kind: emulated, threads: 1}, second: {kind: emulated, threads: 1}}",
               "policy=single"},
              scratch.path());

  CHECK(keywords_of(plan["rows"]).contains("tensor_parallel"));
  std::map<std::string, std::string> refused;
  for (const auto& refusal : plan["refusals"]) {
    refused[refusal["policy"]] = refusal["reason"];
  }
  CHECK_THAT(refused["cotrain"], ContainsSubstring("no lane reads host memory itself"));
}

TEST_CASE("plan says what can't be done, and why") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  keep_tiny_profile(scratch.path());

  const nlohmann::json three = json_of(
      {"plan", "tiny.yaml", "--json", "policy={type: single}",
       "lanes={host: {kind: host}, a: {kind: emulated, memory: 1 kB}, b: {kind: emulated}}"},
      scratch.path());

  const std::string refusals = three["refusals"].dump();
  CHECK_THAT(refusals, ContainsSubstring("coarse_split"));
  CHECK_THAT(refusals, ContainsSubstring("gpipe"));
  CHECK_THAT(refusals, ContainsSubstring("single(a)"));
  CHECK(keywords_of(three["rows"]) == std::set<std::string>{"single"});
  const Outcome people =
      zygos_run({"plan", "tiny.yaml", "policy={type: gpipe, micro_batches: 64}"}, scratch.path());
  CHECK(people.code == 2);
  CHECK_THAT(people.err, ContainsSubstring("micro_batches"));
}

TEST_CASE("plan and check say what becomes of every layer's activations") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const std::vector<std::string> options{"policy=single", "memory_plan={recompute: [fc1]}"};
  const auto with_options = [&](std::vector<std::string> command) {
    command.insert(command.end(), options.begin(), options.end());
    return command;
  };

  const nlohmann::json plan =
      json_of(with_options({"plan", "tiny.yaml", "--json"}), scratch.path());
  const nlohmann::json check =
      json_of(with_options({"check", "tiny.yaml", "--json"}), scratch.path());
  const Outcome people = zygos_run(with_options({"plan", "tiny.yaml"}), scratch.path());

  const auto on_one_lane = std::ranges::find_if(plan["rows"], [](const nlohmann::json& row) {
    return row["policy"].get<std::string>().starts_with("single");
  });
  REQUIRE(on_one_lane != plan["rows"].end());
  for (const nlohmann::json& rows : {(*on_one_lane)["activations"], check["activations"]}) {
    CAPTURE(rows.dump(1));
    REQUIRE(rows.size() >= 2);
    CHECK(rows[0]["layers"].get<std::string>().starts_with("fc1"));
    CHECK(rows[0]["activations"] == "recomputed");
    CHECK(rows[0]["bytes"] > 0);
    CHECK(rows[0]["seconds"] > 0.0);
    CHECK(rows[1]["activations"] == "kept");
    CHECK(rows[1]["seconds"] == 0.0);
  }
  CHECK_THAT(people.out, ContainsSubstring("Its activations (memory_plan):"));
  CHECK_THAT(people.out, ContainsSubstring("recomputed"));
}

TEST_CASE("a deck that names an asynchronous policy may be told to keep it") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  keep_tiny_profile(scratch.path());

  const Outcome people = zygos_run({"plan", "tiny.yaml"}, scratch.path());

  CHECK(people.code == 0);
  CHECK_THAT(people.out, ContainsSubstring("Recommended:"));
  CHECK_THAT(people.out, ContainsSubstring("policy: {type: "));
  CHECK_THAT(people.out, ContainsSubstring("stale"));
}

TEST_CASE("a profile is measured once and kept, and measured anew where it does not fit") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  SECTION("the second start uses it") {
    json_of({"plan", "tiny.yaml", "--json"}, scratch.path());
    const fs::path file = kept_profile(scratch.path());
    REQUIRE_FALSE(file.empty());
    const std::string text = read_text(file);
    const nlohmann::json first = json_of({"plan", "tiny.yaml", "--json"}, scratch.path());
    const nlohmann::json second = json_of({"plan", "tiny.yaml", "--json"}, scratch.path());
    CHECK(first == second);
    CHECK(read_text(file) == text);
  }
  SECTION("where one is kept") {
    keep_tiny_profile(scratch.path());
    const fs::path file = kept_profile(scratch.path());
    REQUIRE_FALSE(file.empty());
    const std::string text = read_text(file);

    SECTION("on request it is measured anew") {
      json_of({"plan", "tiny.yaml", "--json", "--fresh-profile"}, scratch.path());
      CHECK(read_text(file) != text);
    }
    SECTION("another machine's is refused with a note") {
      nlohmann::json other = nlohmann::json::parse(text);
      for (auto& fact : other["identity"]) {
        fact[1] = fact[0] == "processor" ? nlohmann::json("Elsewhere 9000") : fact[1];
      }
      write_text(file, other.dump());
      const Outcome outcome = zygos_run({"plan", "tiny.yaml"}, scratch.path());
      CHECK(outcome.code == 0);
      CHECK_THAT(outcome.out,
                 ContainsSubstring("measuring anew") && ContainsSubstring("Elsewhere"));
      CHECK(read_text(file).find("Elsewhere") == std::string::npos);
    }
    SECTION("a damaged one is measured anew") {
      write_text(file, text.substr(0, text.size() / 2));
      const Outcome outcome = zygos_run({"plan", "tiny.yaml"}, scratch.path());
      CHECK(outcome.code == 0);
      CHECK_THAT(outcome.out, ContainsSubstring("measuring anew"));
    }
    SECTION("another batch has another profile") {
      json_of({"plan", "tiny.yaml", "--json", "train.batch=16"}, scratch.path());
      CHECK(read_text(file) == text);
    }
  }
}

TEST_CASE("compare trains all policies on the same samples and shows prediction and measurement") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  keep_tiny_profile(scratch.path());

  const nlohmann::json said =
      json_of({"compare", "tiny.yaml", "--policies",
               "single:lane=device,coarse_split,gpipe:micro_batches=4,tensor_parallel,pipedream",
               "--steps", "20", "--json"},
              scratch.path());

  REQUIRE(said["rows"].size() >= 5);
  double single_loss = 0.0;
  for (const auto& row : said["rows"]) {
    CAPTURE(row.dump(1));
    for (const char* field : {"step_s", "speedup", "idle"}) {
      CHECK(row[field]["predicted"].is_number());
      CHECK(row[field]["measured"].is_number());
    }
    CHECK(row["step_s"]["measured"] > 0.0);
    CHECK(row["round_s"].size() == 5);
    CHECK(row["peak_bytes"]["predicted"] == row["peak_bytes"]["measured"]);
    const std::string policy = row["policy"];
    single_loss = policy == "single(device)" ? row["loss"].get<double>() : single_loss;
  }
  for (const auto& row : said["rows"]) {
    const double off = std::abs(row["loss"].get<double>() - single_loss);
    const bool synchronous = row["synchronous"];
    CAPTURE(row["policy"].get<std::string>(), off);
    CHECK((off < 1e-3 * single_loss) == synchronous);
  }
  CHECK_FALSE(said["recommended"].get<std::string>().starts_with("pipedream"));
  CHECK(said["reason"].get<std::string>().size() > 20);
  REQUIRE(said["not_told_apart"].is_array());
  for (const auto& policy : said["not_told_apart"]) {
    CHECK(policy != said["recommended"]);
    CHECK_THAT(said["reason"].get<std::string>(), ContainsSubstring(policy.get<std::string>()));
  }
  CHECK_FALSE(fs::exists(scratch.path() / "runs"));
}

TEST_CASE("in strict mode no synchronous policy changes a bit") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const nlohmann::json said = json_of(
      {"compare", "tiny.yaml", "train.strict=auto", "--policies",
       "single:lane=host,single:lane=device,coarse_split:share=0.25,coarse_split:share=0.75,"
       "gpipe:micro_batches=4,gpipe:recompute=always,one_f_one_b,layer_placement,data_parallel",
       "--steps", "12", "--json"},
      scratch.path());

  std::set<std::string> hashes;
  for (const auto& row : said["rows"]) {
    hashes.insert(row["weights_xxh64"].get<std::string>());
  }
  CHECK(said["rows"].size() == 9);
  CHECK(hashes.size() == 1);
  const Outcome refused =
      zygos_run({"compare", "tiny.yaml", "train.strict=auto", "--policies", "single,pipedream"},
                scratch.path());
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, ContainsSubstring("strict"));
}

TEST_CASE("compare refuses unknown policies, unknown options and what does not fit") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const auto code = [&](const std::string& policies) {
    return zygos_run({"compare", "tiny.yaml", "--policies", policies}, scratch.path()).code;
  };

  CHECK(code("single,gpip") == 2);
  CHECK(code("gpipe:micro_batch=4") == 2);
  CHECK(code("gpipe:micro_batches=33") == 2);
  CHECK(code("") == 2);
  CHECK(zygos_run({"compare", "tiny.yaml"}, scratch.path()).code == 2);
}

TEST_CASE("train says who has which layers, and predicts and measures a pipeline") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  keep_tiny_profile(scratch.path());

  const Outcome outcome =
      zygos_run({"train", "tiny.yaml", "policy={type: gpipe, micro_batches: 4, cuts: [out]}"},
                scratch.path());

  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, ContainsSubstring("fc1 on host -> out on device, 4 micro-batches of 8"));
  CHECK_THAT(outcome.out, ContainsSubstring("samples/s (host "));
  CHECK_THAT(outcome.out, ContainsSubstring(" -> device "));
  const nlohmann::json summary = summary_in(scratch.path());
  CHECK(summary["placement"]["device"]["layers"] == nlohmann::json{"out"});
  for (const char* field : {"step_s", "idle", "peak_bytes"}) {
    CHECK(summary["gain"][field]["predicted"] > 0.0);
    CHECK(summary["gain"][field]["measured"] > 0.0);
  }
  CHECK(summary["gain"]["peak_bytes"]["predicted"] == summary["gain"]["peak_bytes"]["measured"]);
  const nlohmann::json trace =
      nlohmann::json::parse(read_text(scratch.path() / "runs/tiny/trace.json"));
  std::set<int> processes;
  std::size_t memory = 0;
  for (const auto& event : trace["traceEvents"]) {
    processes.insert(event["pid"].get<int>());
    memory += event["ph"] == "C" ? std::size_t{1} : std::size_t{0};
  }
  CHECK(processes.size() == 2);
  CHECK(memory > 4);
}

TEST_CASE("a run that is told so measures no lanes, and is decided by FLOPs") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const Outcome outcome = zygos_run(
      train_words({"--unmeasured", "policy=coarse_split", "train.epochs=1"}), scratch.path());

  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.err, ContainsSubstring("lanes are not measured"));
  const nlohmann::json summary = nlohmann::json::parse(outcome.out);
  CHECK(summary["gain"].is_null());
  CHECK(summary["samples"] == nlohmann::json{{"host", 17}, {"device", 15}});
  CHECK_FALSE(fs::exists(scratch.path() / "cache"));
}

TEST_CASE("simulate predicts many workers, and says why a policy can't have so many") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  keep_tiny_profile(scratch.path());
  const std::string model =
      "model.layers=[{type: conv2d, filters: 2, kernel: 5, stride: 3}, {type: dense, units: 200}, "
      "{type: dense, units: 100}, {type: dense, units: 10}]";

  const nlohmann::json few =
      json_of({"simulate", "tiny.yaml", "--workers", "3", "--json", model}, scratch.path());
  const nlohmann::json many =
      json_of({"simulate", "tiny.yaml", "--workers", "300", "--json"}, scratch.path());

  CHECK(keywords_of(few["rows"]) ==
        std::set<std::string>{"single", "data_parallel", "data_parallel, weak scaling", "gpipe",
                              "one_f_one_b", "coarse_split", "tensor_parallel", "hybrid_conv_fc"});
  CHECK(few["left_out"].empty());
  const std::string left_out = many["left_out"].dump();
  CHECK_THAT(left_out, ContainsSubstring("data_parallel: 32 samples for 300 workers"));
  CHECK_THAT(left_out, ContainsSubstring("gpipe(32 micro-batches): 2 layers make no 300 stages"));
  CHECK_THAT(left_out, ContainsSubstring("hybrid_conv_fc: simulated for up to 64 workers"));
}

TEST_CASE("a single lane is trained without measuring anything first") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const nlohmann::json summary = train_to_the_end(scratch.path(), {"policy=single"});

  CHECK(summary["gain"].is_null());
  CHECK_FALSE(fs::exists(scratch.path() / "cache"));
}

TEST_CASE("workers of one description are numbered lanes") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const nlohmann::json summary = train_to_the_end(
      scratch.path(),
      {"lanes={w: {kind: emulated, count: 3}}", "policy={type: data_parallel, exchange: ring}"});

  CHECK(summary["samples"] == nlohmann::json{{"w0", 10}, {"w1", 11}, {"w2", 11}});
}

}  // namespace zygos::test::test_planning
