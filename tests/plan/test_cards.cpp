// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/error.hpp"
#include "zygos/plan/cards.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::plan::test_cards {
namespace {

using Catch::Approx;
using schedule::TaskKind;

/// A dense layer of 1000 x 1000 on vectors of floats.
Problem dense_problem() {
  Problem problem;
  problem.places = {{.name = "gpu", .kind = lane::Kind::device, .host_accessible = false}};
  problem.batch = 4096;
  problem.model.input_bytes = 4000;
  problem.model.nodes = {{.name = "dense",
                          .inputs = {-1},
                          .parameters = {0, 1'000'000},
                          .output_bytes = 4000,
                          .flops = 6e6}};
  return problem;
}

}  // namespace

TEST_CASE(
    "A card's forward pass takes its launch, the weights' bytes and the longer of the two roofs") {
  const Card& card = card_of("h100");
  const PlaceCosts costs = profile_of_card(card, dense_problem()).alone;
  // 2e6 operations a sample at 0.6 x 67e12; 8000 bytes a sample at 3.35e12 take less.
  const double sample_s = 2e6 / (0.6 * 67e12);
  REQUIRE(sample_s > 8000 / 3.35e12);
  const double launch_s = 5e-6 + 4e6 / 3.35e12;
  CHECK(costs.forward.at(0).at(4096) == Approx(launch_s + 4096 * sample_s));
  CHECK(costs.backward.at(0).at(4096) == Approx(2 * (launch_s + 4096 * sample_s)));
}

TEST_CASE("A layer without operations on a card takes what its bytes take") {
  Problem problem = dense_problem();
  problem.model.nodes[0].flops = 0.0;
  const PlaceCosts costs = profile_of_card(card_of("h200"), problem).alone;
  CHECK(costs.forward.at(0).at(1'000'000) - costs.forward.at(0).at(0) ==
        Approx(1e6 * 8000 / 4.8e12));
}

TEST_CASE("A card's double precision has its own rate") {
  Problem problem = dense_problem();
  const double in_float = profile_of_card(card_of("l40s"), problem).alone.forward.at(0).at(1 << 20);
  problem.model.element_bytes = 8;
  CHECK(profile_of_card(card_of("l40s"), problem).alone.forward.at(0).at(1 << 20) >
        20.0 * in_float);
}

TEST_CASE("Messages of a card take its link and an update its memory") {
  Problem problem = dense_problem();
  problem.optimizer_states = 2;
  const PlaceCosts costs = profile_of_card(card_of("h100"), problem).alone;
  CHECK(costs.others.at(TaskKind::send).at(64'000'000) == Approx(10e-6 + 1e-3));
  // Adam: 7 streams of floats.
  CHECK(costs.others.at(TaskKind::update).at(1'000'000) == Approx(5e-6 + 28e6 / 3.35e12));
}

TEST_CASE("A card that nobody knows is refused with those that are known") {
  CHECK_THROWS_AS(card_of("h300"), UsageError);
  CHECK_THROWS_WITH(card_of("h300"), Catch::Matchers::ContainsSubstring("'h300'") &&
                                         Catch::Matchers::ContainsSubstring("h200, l40s"));
  for (const Card& card : cards()) {
    CHECK(&card_of(card.keyword) == &card);
    CHECK(card.text().find(card.name) != std::string::npos);
  }
}

}  // namespace zygos::plan::test_cards
