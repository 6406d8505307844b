// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/loss.hpp"
#include "support/functor_losses.hpp"
#include "support/kernel_case.hpp"
#include "support/loss_run.hpp"

#include "zygos/nn/functor_loss.hpp"
#include "zygos/nn/losses.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace zygos::nn::test_functor_loss {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::Buffer;
using testing::check_loss_gradient;
using testing::Conserving;
using testing::difference;
using testing::Hinge;
using testing::Huber;
using testing::LossRun;
using testing::make_exec;
using testing::random_integer;
using testing::random_values;
using testing::rounded;

LossPtr conserving(double weight) {
  return functor_loss(Conserving{weight}, {.type = "conserving", .score = "balanced"});
}

/// The tensors of one evaluation in memory of a space, all between guard words.
template <class Exec, class T, class Target = T>
struct Run {
  Run(std::size_t samples, std::size_t columns, const std::vector<double>& predictions,
      const std::vector<double>& targets)
      : prediction(predictions),
        target(targets),
        losses(samples),
        hits(samples),
        gradient(samples * columns),
        totals(loss_totals) {
    const auto n = static_cast<std::int64_t>(samples);
    const auto k = static_cast<std::int64_t>(columns);
    const std::int64_t wide = samples == 0 ? k : std::ssize(targets) / n;
    args.prediction = tensor(prediction, Shape{n, k});
    args.target = tensor(target, Shape{n, wide});
    args.sample_losses = tensor(losses, Shape{n});
    args.sample_hits = tensor(hits, Shape{n});
    args.d_prediction = tensor(gradient, Shape{n, k});
    args.totals = tensor(totals, Shape{loss_totals});
  }
  template <class Element>
  static Tensor tensor(const Buffer<Exec, Element>& buffer, const Shape& shape) {
    return {buffer.data(), dtype_of<Element>, shape};
  }
  void evaluate(const LossPtr& loss, const Exec& exec, std::int64_t global_batch) const {
    loss->evaluate(lane::Execution(exec), args, global_batch);
    exec.fence("zygos::test");
  }
  bool guards_intact() const {
    return prediction.guards_intact() && target.guards_intact() && losses.guards_intact() &&
           hits.guards_intact() && gradient.guards_intact() && totals.guards_intact();
  }

  Buffer<Exec, T> prediction;
  Buffer<Exec, Target> target;
  Buffer<Exec, double> losses;
  Buffer<Exec, std::int32_t> hits;
  Buffer<Exec, T> gradient;
  Buffer<Exec, double> totals;
  LossArgs args;
};

double sum_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) {
    sum += value;
  }
  return sum;
}

reference::LossResult huber(std::size_t columns, const std::vector<double>& prediction,
                            const std::vector<double>& target, double factor) {
  return reference::element_loss(
      columns, prediction, target, factor,
      [](double p, double t) {
        return std::fabs(p - t) < 0.5 ? (p - t) * (p - t) / 2.0 : std::fabs(p - t) / 2.0 - 0.125;
      },
      [](double p, double t) { return std::min(0.5, std::max(-0.5, p - t)); }, reference::no_hit);
}

reference::LossResult conserved(std::size_t columns, const std::vector<double>& prediction,
                                const std::vector<double>& target, double factor) {
  auto result = reference::mean_squared_error(columns, prediction, target, factor);
  const auto width = static_cast<double>(columns);
  for (std::size_t n = 0; n < result.losses.size(); ++n) {
    double mean = 0.0;
    for (std::size_t i = n * columns; i < (n + 1) * columns; ++i) {
      mean += (prediction[i] - target[i]) / width;
    }
    result.losses[n] += 3.0 * mean * mean;
    result.hits[n] = std::fabs(mean) < 0.5 ? 1 : 0;
    for (std::size_t i = n * columns; i < (n + 1) * columns; ++i) {
      result.gradient[i] += factor * 6.0 * mean / width;
    }
  }
  return result;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("A functor's loss is what a pencil says", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Run<Exec, T> run(2, 2, {3, 0.5, -1, 1}, {0, 0, 0, 0});

  // Errors 3 and 0.5: 1 (3 - 0.5) and 0.125, with slopes 1 and 0.5; -1 and 1: 0.5 each.
  run.evaluate(functor_loss(Huber{1.0}), make_exec<Exec>(), 4);
  CHECK(run.losses.values() == std::vector<double>{1.3125, 0.5});
  CHECK(run.gradient.values() == std::vector<T>{T(0.125), T(0.0625), T(-0.125), T(0.125)});
  CHECK(run.hits.values() == std::vector<std::int32_t>{0, 0});
  CHECK(run.totals.values() == std::vector<double>{1.8125, 0.0, 2.0});

  // The mean of squares is 4.625 and 1; means are 1.75 and 0.
  run.evaluate(conserving(2.0), make_exec<Exec>(), 1);
  CHECK(run.losses.values() == std::vector<double>{4.625 + 2.0 * 3.0625, 1.0});
  CHECK(run.gradient.values() == std::vector<T>{T(6.5), T(4), T(-1), T(1)});
  CHECK(run.hits.values() == std::vector<std::int32_t>{0, 1});
  CHECK(run.totals.values()[1] == 1.0);
  CHECK(run.guards_intact());
}

TEMPLATE_LIST_TEST_CASE("A functor may read labels", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Run<Exec, T, std::int32_t> run(2, 3, {2, 0, 1.5, 0, 0, 0}, {0, 1});

  run.evaluate(functor_loss(Hinge{}), make_exec<Exec>(), 2);

  CHECK(run.losses.values() == std::vector<double>{0.5, 2.0});
  CHECK(run.gradient.values() == std::vector<T>{T(-0.5), 0, T(0.5), T(0.5), -1, T(0.5)});
  CHECK(run.guards_intact());
}

TEMPLATE_LIST_TEST_CASE("Losses of functors equal the reference", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const std::vector<std::pair<LossPtr, decltype(&huber)>> losses{{functor_loss(Huber{0.5}), &huber},
                                                                 {conserving(3.0), &conserved}};
  const std::vector<std::pair<std::size_t, std::size_t>> shapes{
      {0, 3}, {1, 1}, {33, 7}, {1000, 3}, {5, 4097}};
  for (const auto& [samples, columns] : shapes) {
    const auto values = rounded<T>(random_values(samples * columns, 1));
    const auto wanted = rounded<T>(random_values(samples * columns, 2));
    for (const auto& [loss, reference] : losses) {
      const auto expected = reference(columns, values, wanted, 0.1);
      const Run<Exec, T> run(samples, columns, values, wanted);

      run.evaluate(loss, exec, 10);

      CAPTURE(samples, columns, loss->type());
      CHECK(difference(run.losses.values(), expected.losses, 16.0) == "");
      CHECK(difference(run.gradient.values(), expected.gradient, 2.0) == "");
      CHECK(run.totals.values()[0] == Catch::Approx(sum_of(expected.losses)).epsilon(1e-12));
      if (loss->score()) {
        CHECK(run.hits.values() == expected.hits);
      }
      CHECK(run.guards_intact());
    }
  }
}

TEST_CASE("The gradients of functors equal difference quotients") {
  for (std::uint64_t round = 0; round < 50; ++round) {
    const std::int64_t samples = random_integer(1, 9, round, 0);
    const std::int64_t columns = random_integer(1, 12, round, 1);

    CAPTURE(round, samples, columns);
    for (const auto& loss : {functor_loss(Huber{0.4}), conserving(2.0), functor_loss(Hinge{})}) {
      CHECK(check_loss_gradient(LossRun(loss, samples, columns, round), samples + 3) == "");
    }
  }
}

TEST_CASE("A functor's loss has the same bits for any number of threads") {
  using Exec = Kokkos::OpenMP;
  constexpr std::size_t samples = 1003;
  const auto bits = [&](int threads) {
    const Run<Exec, float> run(samples, 11, random_values(samples * 11, 3),
                               random_values(samples * 11, 4));
    run.evaluate(conserving(2.0), make_exec<Exec>(threads), samples);
    return std::pair(run.totals.values(), run.gradient.values());
  };
  const auto one = bits(1);

  for (const int threads : {2, 3, 4}) {
    CHECK(bits(threads) == one);
  }
}

TEST_CASE("Evaluating a functor alone writes no gradient, and a NaN reaches its loss") {
  LossRun run(conserving(2.0), 5, 3, 1);
  run.evaluate(5);
  const double expected = run.total();
  const Tensor gradient = std::exchange(run.args.d_prediction, Tensor());
  gradient.data<double>()[0] = 7.0;
  run.evaluate(5);
  CHECK(run.total() == expected);
  CHECK(gradient.data<double>()[0] == 7.0);

  run.args.prediction.data<double>()[4] = std::numeric_limits<double>::quiet_NaN();
  run.evaluate(5);
  CHECK(std::isnan(run.total()));
}

TEST_CASE("A functor's loss says what its options say") {
  const auto loss = functor_loss(Conserving{1.0}, {.type = "balance",
                                                   .flops_per_element = 12.0,
                                                   .target_range = TargetRange{-1.0, 2.0},
                                                   .score = "balanced",
                                                   .best_hits = 5});
  CHECK(loss->type() == "balance");
  CHECK_FALSE(loss->wants_labels());
  CHECK(functor_loss(Hinge{})->wants_labels());
  CHECK(loss->target_range()->least == -1.0);
  CHECK(loss->target_range()->most == 2.0);
  CHECK(loss->score()->name == "balanced");
  CHECK(loss->score()->best == 5);
  CHECK_FALSE(functor_loss(Huber{})->score().has_value());
  CHECK(loss->cost(10, Shape{2, 3}, DType::f32).flops == 720.0);
  CHECK(loss->cost(10, Shape{2, 3}, DType::f32).bytes == 720.0);
  CHECK(functor_loss(Hinge{})->cost(10, Shape{6}, DType::f64).bytes == 960.0);
}

TEST_CASE("A functor's loss refuses what does not fit, and says what would") {
  const auto loss = functor_loss(Huber{}, {.type = "huber"});
  CHECK_NOTHROW(loss->check(Shape{6}, Shape{2, 3}, 0));
  CHECK_THROWS_WITH(loss->check(Shape{6}, Shape{5}, 0),
                    ContainsSubstring("huber: the model's output has the shape [6]"));
  const auto hinge = functor_loss(Hinge{}, {.type = "hinge"});
  CHECK_NOTHROW(hinge->check(Shape{3}, Shape{}, 3));
  CHECK_THROWS_WITH(hinge->check(Shape{3}, Shape{}, 4), ContainsSubstring("has 4 classes"));
  CHECK_THROWS_WITH(hinge->check(Shape{3}, Shape{2}, 3), ContainsSubstring("2 labels per sample"));
  const auto pairs = functor_loss(
      Huber{}, {.type = "weighted", .check = [](const Shape& prediction, const Shape& target) {
                  if (target.size() != 2 * prediction.size()) {
                    throw UsageError("weighted: a value and a weight for each");
                  }
                }});
  CHECK_NOTHROW(pairs->check(Shape{3}, Shape{2, 3}, 0));
  CHECK_THROWS_WITH(pairs->check(Shape{3}, Shape{3}, 0), ContainsSubstring("a weight for each"));

  CHECK_THROWS_WITH(functor_loss(Huber{}, {.type = ""}), ContainsSubstring("no name"));
  CHECK_THROWS_WITH(functor_loss(Huber{}, {.flops_per_element = -1.0}),
                    ContainsSubstring("flops_per_element is -1"));
  CHECK_THROWS_WITH(functor_loss(Huber{}, {.score = "near"}),
                    ContainsSubstring("give the functor"));
  CHECK_THROWS_WITH(functor_loss(Conserving{}), ContainsSubstring("give a score"));
  CHECK_THROWS_WITH(functor_loss(Conserving{}, {.score = "balanced", .best_hits = 0}),
                    ContainsSubstring("best_hits is 0"));
  CHECK_THROWS_WITH(functor_loss(Huber{}, {.target_range = TargetRange{1.0, 0.0}}),
                    ContainsSubstring("targets from 1 to 0"));
}

}  // namespace zygos::nn::test_functor_loss
