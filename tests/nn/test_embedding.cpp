// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Embeddings and positions.
#include "support/gradient_check.hpp"

#include "zygos/nn/layers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <array>
#include <numeric>
#include <vector>

namespace zygos::nn::test_embedding {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::check_layer_gradients;
using testing::gradient_difference;
using testing::LayerRun;
using testing::random_integer;
using testing::values_of;

/// An embedding with ids drawn at random.
LayerRun embedding_run(const EmbeddingOptions& options, const Shape& ids, std::int64_t batch,
                       std::uint64_t draw, int threads = 1) {
  LayerRun run(embedding(options), {ids}, batch, draw, Kokkos::OpenMP(threads));
  for (std::int64_t i = 0; i < run.inputs[0].size(); ++i) {
    run.inputs[0].data<double>()[i] = static_cast<double>(
        random_integer(0, options.vocabulary - 1, draw, static_cast<std::uint32_t>(i)));
  }
  run.d_inputs[0] = Tensor();
  return run;
}

}  // namespace

TEST_CASE("The gradient of an embedding's table equals difference quotients") {
  for (std::uint64_t round = 0; round < 20; ++round) {
    const EmbeddingOptions options{random_integer(1, 9, round, 1), random_integer(1, 40, round, 2)};
    LayerRun run = embedding_run(options, Shape{random_integer(1, 12, round, 3)},
                                 random_integer(1, 3, round, 4), round);
    run.forward();
    run.backward();

    CAPTURE(round, options.vocabulary, options.units);
    CHECK(gradient_difference(run.parameters[0], run.d_parameters[0], [&] {
            run.forward();
            const auto y = values_of(run.output);
            const auto weights = values_of(run.d_output);
            return std::inner_product(y.begin(), y.end(), weights.begin(), 0.0);
          }) == "");
  }
}

TEST_CASE("The gradients of positions equal difference quotients") {
  for (std::uint64_t round = 0; round < 20; ++round) {
    LayerRun run(positions(),
                 {Shape{random_integer(1, 9, round, 1), random_integer(1, 40, round, 2)}},
                 random_integer(1, 4, round, 3), round);

    CAPTURE(round);
    CHECK(check_layer_gradients(run) == "");
  }
}

TEST_CASE("An embedding and positions have the same bits for any number of threads") {
  const auto bits = [](int threads) {
    LayerRun table = embedding_run({.vocabulary = 700, .units = 96}, Shape{130}, 7, 3, threads);
    LayerRun places(positions(), {Shape{130, 96}}, 7, 4, Kokkos::OpenMP(threads));
    for (const LayerRun* run : {&table, &places}) {
      run->forward();
      run->backward();
    }
    return std::vector{values_of(table.output), values_of(table.d_parameters[0]),
                       values_of(places.output), values_of(places.d_parameters[0])};
  };
  const auto one = bits(1);

  CHECK(bits(2) == one);
  CHECK(bits(3) == one);
  CHECK(bits(4) == one);
}

TEST_CASE("An embedding and positions declare what they need") {
  const std::array ids{Shape{30}};
  const auto layer = embedding({.vocabulary = 65, .units = 8});

  CHECK(layer->token_limit() == 65);
  CHECK(positions()->token_limit() == 0);
  CHECK(layer->infer(ids) == Shape{30, 8});
  CHECK(layer->parameters(ids)[0].shape == Shape{65, 8});
  CHECK(layer->forward_cost(2, ids, DType::f32).bytes == 2.0 * 4 * 2 * 30 * 8);
  CHECK(positions()->parameters(std::array{Shape{30, 8}})[0].shape == Shape{30, 8});
}

TEST_CASE("An embedding and positions refuse what they can't do") {
  CHECK_THROWS_WITH(embedding({.vocabulary = 0, .units = 8}), ContainsSubstring("vocabulary is 0"));
  CHECK_THROWS_WITH(embedding({.vocabulary = 20'000'000, .units = 8}),
                    ContainsSubstring("must be from 1 to 16777216"));
  CHECK_THROWS_WITH(embedding({.vocabulary = 5, .units = 0}), ContainsSubstring("units is 0"));
  CHECK_THROWS_WITH(embedding({.vocabulary = 5, .units = 3})->infer(std::array{Shape{}}),
                    ContainsSubstring("no sequence of token ids"));
  CHECK_THROWS_WITH(positions()->infer(std::array{Shape{5}}),
                    ContainsSubstring("no sequence of vectors"));
}

}  // namespace zygos::nn::test_embedding
