// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "simulation.hpp"
#include "support/temporary_folder.hpp"

#include "zygos/core/error.hpp"
#include "zygos/deck/findings.hpp"
#include "zygos/insitu/deck.hpp"
#include "zygos/insitu/ensemble.hpp"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <fstream>

namespace zygos::insitu::test_deck {
using namespace zygos::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using insitu::surrogate_spec;

namespace {

/// A simulation's input, of which Zygos reads one section.
constexpr const char* input = R"(# Two-phase flow
mesh: {cells: [128, 128], anything: !ours 7}
surrogate:
  inputs: 6
  outputs: 2
  hidden: [24, 16]
  activation: relu
  optimizer: {type: adamw, learning_rate: 0.002, schedule: {type: step, every: 100 steps}}
  batch: 32
  seed: 9
  budget: 500 us
  reservoir:
    capacity: 500
    keep: newest

    stored: f32
solver:
  tolerance: 1e-9
)";

}  // namespace

TEST_CASE("A section of a simulation's input makes the surrogate that C++ makes",
          "[insitu][deck]") {
  const auto spec = surrogate_spec(input, "flow.yaml");

  CHECK(spec.options.batch == 32);
  CHECK(spec.options.seed == 9);
  CHECK(spec.options.optimizer->type() == "adamw");
  CHECK(spec.options.rates->factor({.done = 100}) == 0.1);
  CHECK(spec.train.budget == std::chrono::microseconds(500));
  CHECK(spec.train.max_steps == 0);
  CHECK(spec.reservoir.capacity == 500);
  CHECK(spec.reservoir.keep == insitu::Keep::newest);
  CHECK(spec.reservoir.stored == DType::f32);
  CHECK(spec.reservoir.validate_every == 10);
  const Kokkos::OpenMP exec(1);
  insitu::Surrogate net(spec.graph, exec, spec.options);
  auto reservoir = net.reservoir(spec.reservoir);
  const auto made = insitu::Surrogate::mlp(
      {.in = 6, .hidden = {24, 16}, .out = 2, .activation = nn::Activation::relu}, exec,
      {.optimizer = spec.options.optimizer, .batch = 32, .seed = 9});
  CHECK(same(net.state(), made.state()));
}

TEST_CASE("A section may ask for an ensemble", "[insitu][deck]") {
  std::string text = input;
  CHECK(surrogate_spec(text).members == 1);
  text.replace(text.find("  seed: 9"), 9, "  seed: 9\n  members: 3");

  const auto spec = surrogate_spec(text);

  const Kokkos::OpenMP exec(1);
  const insitu::Ensemble nets(spec.graph, exec, spec.members, spec.options);
  CHECK(nets.size() == 3);
  text.replace(text.find("members: 3"), 10, "members: 0");
  CHECK_THROWS_MATCHES(surrogate_spec(text), deck::DeckError,
                       MessageMatches(ContainsSubstring("members")));
}

TEST_CASE("A section may list layers of any type", "[insitu][deck]") {
  const auto spec = surrogate_spec(R"(surrogate:
  inputs: [2, 8, 8]
  layers:
    - {type: conv2d, filters: 4, kernel: 3}
    - relu
    - {type: dense, units: 5}
  loss: mae
  max_steps: 3
  reservoir: {capacity: 10, validate_every: 0}
)");

  CHECK(spec.graph.output_shape() == Shape{5});
  CHECK(spec.graph.nodes().size() == 3);
  CHECK(spec.train.max_steps == 3);
}

TEST_CASE("What is wrong with a section is said with its line", "[insitu][deck]") {
  const auto refused = [](const std::string& from, const std::string& to) {
    std::string text = input;
    text.replace(text.find(from), from.size(), to);
    return text;
  };

  CHECK_THROWS_MATCHES(surrogate_spec(refused("hidden", "hiden"), "flow.yaml"), deck::DeckError,
                       MessageMatches(ContainsSubstring("flow.yaml:6:3") &&
                                      ContainsSubstring("did you mean 'hidden'")));
  CHECK_THROWS_MATCHES(surrogate_spec(refused("budget: 500 us", "batch_size: 3")), deck::DeckError,
                       MessageMatches(ContainsSubstring("batch_size")));
  CHECK_THROWS_MATCHES(surrogate_spec(refused("  budget: 500 us\n", "")), deck::DeckError,
                       MessageMatches(ContainsSubstring("neither 'budget' nor 'max_steps'")));
  CHECK_THROWS_MATCHES(surrogate_spec(refused("  outputs: 2\n", "")), deck::DeckError,
                       MessageMatches(ContainsSubstring("neither 'outputs' nor 'layers'")));
  CHECK_THROWS_MATCHES(surrogate_spec(refused("100 steps", "1 epoch")), deck::DeckError,
                       MessageMatches(ContainsSubstring("counts epochs")));
  CHECK_THROWS_MATCHES(surrogate_spec(refused("{type: step, every: 100 steps}", "plateau")),
                       deck::DeckError, MessageMatches(ContainsSubstring("plateau")));
  CHECK_THROWS_MATCHES(surrogate_spec("mesh: 3\n", "flow.yaml"), UsageError,
                       MessageMatches(ContainsSubstring("no section 'surrogate:'")));
  CHECK_THROWS_AS(insitu::load_surrogate_spec("/nowhere/flow.yaml"), UsageError);
}

TEST_CASE("A file is read as its text is", "[insitu][deck]") {
  const TemporaryFolder folder("insitu-deck");
  const auto file = folder.path() / "flow.yaml";
  std::ofstream(file) << input;

  CHECK(insitu::load_surrogate_spec(file).options.batch == 32);
}

}  // namespace zygos::insitu::test_deck
