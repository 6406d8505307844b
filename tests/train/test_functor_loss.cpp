// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A loss of the caller's own under policies.
#include "small_run.hpp"
#include "support/functor_losses.hpp"

#include "zygos/nn/functor_loss.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <vector>

namespace zygos::train::test_functor_loss {
namespace {

using test::SmallRun;

struct Result {
  std::vector<double> gradient;
  double loss = 0.0;
};

/// Gradient and loss of the third step; the last batch is one of 29.
Result three_steps(const train::PolicyPtr& policy) {
  SmallRun run(test::host_and_device());
  graph::Graph model(Shape{10}, nn::functor_loss(testing::Hinge{}, {.type = "hinge"}));
  model.add("fc1", test::tanh_layer(17));
  model.add("drop", nn::dropout(0.25));
  model.add("fc2", nn::dense({.units = 3}));
  run.use(model);
  const auto engine = run.engine(run.schedule_of(policy));
  Result result;
  for (std::uint64_t step = 1; step <= 3; ++step) {
    run.ids.resize(step == 3 ? 29 : 40);
    result.loss = engine->step(run.batch(), step).loss;
  }
  result.gradient = engine->gradient();
  return result;
}

}  // namespace

TEST_CASE("A functor's loss gives one gradient, on one lane and on two", "[train][functor_loss]") {
  const Result alone = three_steps(policies::single({.place = "host"}));
  REQUIRE(alone.loss > 0.0);
  for (const auto& policy :
       {policies::single({.place = "device"}), policies::coarse_split({.share = {}, .samples = 13}),
        policies::data_parallel({.shares = {}, .micro_batches = 2})}) {
    const Result split = three_steps(policy);
    CHECK(split.loss == Catch::Approx(alone.loss).epsilon(1e-12));
    for (std::size_t i = 0; i < alone.gradient.size(); ++i) {
      CHECK(split.gradient[i] == Catch::Approx(alone.gradient[i]).epsilon(1e-11).margin(1e-13));
    }
  }
}

}  // namespace zygos::train::test_functor_loss
