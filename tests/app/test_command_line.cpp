// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/command_line.hpp"
#include "app/commands/commands.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::app::test_command_line {
namespace {

using Catch::Matchers::ContainsSubstring;

Parsed parse(std::vector<const char*> words) {
  words.insert(words.begin(), "zygos");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

}  // namespace

TEST_CASE("overrides follow the deck and options may stand anywhere") {
  const Parsed parsed = parse({"train", "--threads", "3", "a.yaml", "train.epochs=2", "--json",
                               "model.x=a=b", "--kokkos-device-id=1"});

  REQUIRE(parsed.invocation);
  CHECK(parsed.invocation->command == "train");
  CHECK(parsed.invocation->target == "a.yaml");
  CHECK(parsed.invocation->overrides == std::vector<std::string>{"train.epochs=2", "model.x=a=b"});
  CHECK(parsed.invocation->threads == 3);
  CHECK(parsed.invocation->console.json);
  CHECK(parsed.invocation->kokkos_arguments == std::vector<std::string>{"--kokkos-device-id=1"});
}

TEST_CASE("options keep apart what commands they belong to") {
  CHECK(parse({"bench", "a.yaml", "--steps", "7", "--forward", "--warmup", "0"}).invocation);
  CHECK(parse({"bench", "a.yaml", "--ops"}).invocation->ops);
  CHECK(parse({"train", "a.yaml", "--fresh", "--run-dir", "x"}).invocation);
  CHECK(parse({"schedule", "a.yaml", "--output", "a.svg", "--measured"}).invocation->measured);
  CHECK(parse({"plan", "a.yaml", "--measured"}).code == ExitCode::usage);
  CHECK(parse({"train", "a.yaml", "--steps", "7"}).code == ExitCode::usage);
  CHECK(parse({"check", "a.yaml", "--fresh"}).code == ExitCode::usage);
  CHECK(parse({"inspect", "x", "a=b"}).code == ExitCode::usage);
}

TEST_CASE("a bad command line is refused with exit code 2 and a hint") {
  const std::vector<std::vector<const char*>> refused{
      {},
      {"trian", "a.yaml"},
      {"train"},
      {"train", "a.yaml", "epochs"},
      {"train", "a.yaml", "=3"},
      {"train", "a.yaml", "--threads", "0"},
      {"train", "a.yaml", "--threads", "many"},
      {"train", "a.yaml", "--nonsense"},
      {"bench", "a.yaml", "--steps", "0"},
      {"bench", "a.yaml", "--steps", "-1"},
      {"bench", "a.yaml", "--ops", "--forward"},
      {"init", "x", "transformer"},
      {"train", "a.yaml", "--color", "green"},
  };

  for (const auto& words : refused) {
    const Parsed parsed = parse(words);

    CAPTURE(words, parsed.text);
    CHECK_FALSE(parsed.invocation);
    CHECK(parsed.code == ExitCode::usage);
    CHECK_THAT(parsed.text, ContainsSubstring("--help"));
  }
}

TEST_CASE("every command explains itself") {
  for (const Command& command : commands()) {
    const Parsed parsed = parse({command.name, "--help"});

    CHECK_FALSE(parsed.invocation);
    CHECK(parsed.code == ExitCode::done);
    CHECK_THAT(parsed.text, ContainsSubstring(command.summary));
    CHECK_THAT(parsed.text, ContainsSubstring("Example:"));
    CHECK_THAT(parsed.text, ContainsSubstring("Exit codes:"));
  }
}

TEST_CASE("the general help lists every command") {
  const Parsed parsed = parse({"--help"});

  CHECK(parsed.code == ExitCode::done);
  for (const Command& command : commands()) {
    CHECK_THAT(parsed.text, ContainsSubstring(command.summary));
  }
}

TEST_CASE("the version is one line") {
  for (const char* word : {"--version", "version"}) {
    const Parsed parsed = parse({word});

    CHECK(parsed.code == ExitCode::done);
    CHECK_THAT(parsed.text, ContainsSubstring("zygos ") && ContainsSubstring("Kokkos "));
    CHECK(parsed.text.find('\n') == std::string::npos);
  }
}

TEST_CASE("a bare command and help tell what there is") {
  CHECK_THAT(parse({}).text, ContainsSubstring("Predict every policy"));
  CHECK(parse({}).has_layout);
  CHECK(parse({"help"}).code == ExitCode::done);
  CHECK(parse({"help"}).text == parse({"--help"}).text);
  CHECK(parse({"help", "train"}).text == parse({"train", "--help"}).text);
  CHECK(parse({"help", "trian"}).code == ExitCode::usage);
}

TEST_CASE("a misspelt command or option is answered with the one that was meant") {
  CHECK_THAT(parse({"trian", "a.yaml"}).text, ContainsSubstring("did you mean 'train'?"));
  CHECK_THAT(parse({"xyzzy"}).text, ContainsSubstring("no command 'xyzzy' (try"));
  CHECK_THAT(parse({"train", "a.yaml", "--thread", "2"}).text,
             ContainsSubstring("did you mean '--threads'?"));
}

}  // namespace zygos::app::test_command_line
