// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/attention.hpp"
#include "ops/attention/attention_teams.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace zygos::ops::test_attention {
namespace {

using testing::Buffer;
using testing::difference;
using testing::make_exec;
using testing::random_values;
using testing::rounded;

/// Less than a block, a block, one more, several with a short last one; wide heads, and too wide
/// ones to be packed.
const std::vector<AttentionShape> shapes{{0, 5, 2, 3},    {1, 1, 1, 1},    {2, 7, 3, 5},
                                         {1, 64, 1, 16},  {2, 65, 2, 4},   {1, 200, 1, 33},
                                         {1, 70, 1, 100}, {1, 530, 1, 20}, {1, 70, 1, 520}};

/// Keeps all, or those that the stream of random numbers leaves, as the header says.
double kept_weight(const DropoutMask& mask, const AttentionShape& shape, std::uint32_t id,
                   std::size_t head, std::size_t i, std::size_t j) {
  if (mask.threshold == 0) {
    return 1.0;
  }
  const std::size_t row = (head * shape.positions + i) * ((shape.positions + 3) / 4);
  const PhiloxBlock words = random_block(mask.key, id, static_cast<std::uint32_t>(row + j / 4));
  return words.v[j % 4] < mask.threshold ? 0.0 : mask.factor;
}

/// The reference, from the definition.
struct Reference {
  Reference(const AttentionShape& given, const DropoutMask& mask,
            const std::vector<double>& qkv_values, const std::vector<double>& d_y_values)
      : shape(given),
        qkv(qkv_values),
        d_y(d_y_values),
        y(d_y.size(), 0.0),
        log_sums(given.samples * given.heads * given.positions),
        d_qkv(qkv.size(), 0.0) {
    for (std::size_t sample = 0; sample < shape.samples; ++sample) {
      for (std::size_t head = 0; head < shape.heads; ++head) {
        for (std::size_t i = 0; i < shape.positions; ++i) {
          query(mask, sample, head, i);
        }
      }
    }
  }

  /// Of a row of qkv: 0 queries, 1 keys, 2 values.
  std::size_t at(std::size_t sample, std::size_t position, std::size_t which,
                 std::size_t head) const {
    return ((sample * shape.positions + position) * 3 + which) * shape.columns() +
           head * shape.width;
  }

  void query(const DropoutMask& mask, std::size_t sample, std::size_t head, std::size_t i) {
    const double scale = 1.0 / std::sqrt(static_cast<double>(shape.width));
    const std::size_t q = at(sample, i, 0, head);
    const std::size_t out = (sample * shape.positions + i) * shape.columns() + head * shape.width;
    std::vector<double> weights;
    std::vector<double> slopes;
    double sum = 0.0, along = 0.0;
    const std::size_t seen = shape.causal ? i + 1 : shape.positions;
    for (std::size_t j = 0; j < seen; ++j) {
      double score = 0.0;
      for (std::size_t c = 0; c < shape.width; ++c) {
        score += qkv[q + c] * qkv[at(sample, j, 1, head) + c] * scale;
      }
      weights.push_back(std::exp(score));
      sum += weights.back();
    }
    log_sums[(sample * shape.heads + head) * shape.positions + i] = std::log(sum);
    for (std::size_t j = 0; j < seen; ++j) {
      weights[j] /= sum;
      const double kept =
          kept_weight(mask, shape, static_cast<std::uint32_t>(sample + 7), head, i, j);
      double slope = 0.0;
      for (std::size_t c = 0; c < shape.width; ++c) {
        y[out + c] += weights[j] * kept * qkv[at(sample, j, 2, head) + c];
        d_qkv[at(sample, j, 2, head) + c] += weights[j] * kept * d_y[out + c];
        slope += kept * d_y[out + c] * qkv[at(sample, j, 2, head) + c];
      }
      slopes.push_back(slope);
      along += weights[j] * slope;
    }
    for (std::size_t j = 0; j < seen; ++j) {
      const double d_score = weights[j] * (slopes[j] - along) * scale;
      for (std::size_t c = 0; c < shape.width; ++c) {
        d_qkv[q + c] += d_score * qkv[at(sample, j, 1, head) + c];
        d_qkv[at(sample, j, 1, head) + c] += d_score * qkv[q + c];
      }
    }
  }

  AttentionShape shape;
  std::vector<double> qkv, d_y, y, log_sums, d_qkv;
};

/// Both passes, as the lane has them or with a device's teams.
template <class Exec, class T>
struct Passes {
  Passes(const AttentionShape& given, const DropoutMask& mask, const Reference& reference)
      : shape(given),
        ids(given.samples),
        qkv(reference.qkv),
        d_y(reference.d_y),
        y(reference.y.size()),
        d_qkv(reference.qkv.size()),
        log_sums(reference.log_sums.size()),
        dots(reference.log_sums.size()) {
    std::vector<double> numbers;
    for (std::size_t i = 0; i < given.samples; ++i) {
      numbers.push_back(static_cast<double>(i + 7));
    }
    ids.assign(numbers);
    dropout = {mask, ids.const_vector()};
  }

  auto all_qkv() const { return qkv.const_matrix(shape.rows(), 3 * shape.columns()); }
  auto all_y() const { return y.const_matrix(shape.rows(), shape.columns()); }

  void run(const Exec& exec) {
    self_attention<Exec, T>(exec, shape, dropout, all_qkv(),
                            y.matrix(shape.rows(), shape.columns()), log_sums.vector());
    self_attention_backward<Exec, T>(exec, shape, dropout,
                                     {all_qkv(), all_y(), log_sums.const_vector()},
                                     d_y.const_matrix(shape.rows(), shape.columns()), dots.vector(),
                                     d_qkv.matrix(shape.rows(), 3 * shape.columns()));
    exec.fence("zygos::test");
  }

  void run_teams(const Exec& exec) {
    const auto problem = attention::problem_of<Exec, T>(shape, dropout, all_qkv());
    constexpr std::size_t block = attention::device_block;
    const std::size_t items = shape.samples * shape.heads * problem.blocks(block);
    const attention::Backward<T> both{problem,    y.data(),    log_sums.data(),
                                      d_y.data(), dots.data(), d_qkv.data()};
    attention::for_each_team<T>("zygos::test::forward", exec, items,
                                attention::Forward<T>{problem, y.data(), log_sums.data()});
    attention::for_each_team<T>("zygos::test::d_queries", exec, items,
                                attention::BackwardQueries<T>{both});
    attention::for_each_team<T>("zygos::test::d_keys", exec, items,
                                attention::BackwardKeys<T>{both});
    exec.fence("zygos::test");
  }

  bool guards_intact() const {
    return y.guards_intact() && log_sums.guards_intact() && dots.guards_intact() &&
           d_qkv.guards_intact();
  }

  AttentionShape shape;
  AttentionDropout<Exec> dropout;
  Buffer<Exec, std::uint32_t> ids;
  Buffer<Exec, T> qkv, d_y, y, d_qkv;
  Buffer<Exec, Wide<T>> log_sums, dots;
};

/// In epsilons of the type, for heads up to 100 wide (a score's error grows with its products): of
/// y, which bf16 rounds once, and of gradients, which feel it.
template <class T>
constexpr double y_tolerance = std::is_same_v<T, bf16> ? 1.01 : 64.0;
template <class T>
constexpr double gradient_tolerance = std::is_same_v<T, bf16> ? 8.0 : 512.0;

template <class Exec, class T>
void check_all(bool causal, void (Passes<Exec, T>::*run)(const Exec&)) {
  const Exec exec = make_exec<Exec>();
  for (AttentionShape shape : shapes) {
    shape.causal = causal;
    for (const double rate : {0.0, 0.25}) {
      CAPTURE(shape.samples, shape.positions, shape.heads, shape.width, causal, rate);
      const DropoutMask mask = rate == 0.0 ? DropoutMask{{}, 0, 1.0} : dropout_mask(3, 5, 1, rate);
      auto qkv = random_values(3 * shape.rows() * shape.columns(), 1);
      for (double& value : qkv) {
        value *= 3.0;
      }
      const Reference expected(shape, mask, rounded<T>(qkv),
                               rounded<T>(random_values(shape.rows() * shape.columns(), 2)));
      Passes<Exec, T> passes(shape, mask, expected);

      (passes.*run)(exec);

      const double more = std::max(1.0, static_cast<double>(shape.width) / 100.0);
      CHECK(difference(passes.y.values(), expected.y, more * y_tolerance<T>) == "");
      CHECK(difference(passes.log_sums.values(), expected.log_sums, more * 64.0) == "");
      CHECK(difference(passes.d_qkv.values(), expected.d_qkv, more * gradient_tolerance<T>) == "");
      CHECK(passes.guards_intact());
    }
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("The causal attention of two positions is what a pencil says", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  // Width 1: the second query, 1, times the keys 0 and log 3 gives the weights 1/4 and 3/4.
  const Buffer<Exec, T> qkv(std::vector<double>{5, 0, 8, 1, std::log(3.0), 16});
  const Buffer<Exec, T> y(2), log_sums(2), dots(2), d_qkv(6);
  const Buffer<Exec, T> d_y(std::vector<double>{10, 1});
  const AttentionShape shape{1, 2, 1, 1};

  self_attention<Exec, T>(exec, shape, {}, qkv.const_matrix(2, 3), y.matrix(2, 1),
                          log_sums.vector());
  self_attention_backward<Exec, T>(
      exec, shape, {}, {qkv.const_matrix(2, 3), y.const_matrix(2, 1), log_sums.const_vector()},
      d_y.const_matrix(2, 1), dots.vector(), d_qkv.matrix(2, 3));
  exec.fence("zygos::test");

  CHECK(difference(y.values(), {8, 14}, 4.0) == "");
  CHECK(difference(log_sums.values(), {0, std::log(4.0)}, 4.0) == "");
  // d_score: 1/4 (8 - 14) and 3/4 (16 - 14).
  CHECK(difference(d_qkv.values(), {0, -1.5, 10.25, 1.5 * std::log(3.0), 1.5, 0.75}, 16.0) == "");
}

TEMPLATE_LIST_TEST_CASE("The attention of two positions without a mask is what a pencil says", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  // Width 1: the queries 0 and 1 times the keys 0 and log 3 give the weights 1/2, 1/2 and 1/4, 3/4.
  const Buffer<Exec, T> qkv(std::vector<double>{0, 0, 8, 1, std::log(3.0), 16});
  const Buffer<Exec, T> y(2), log_sums(2), dots(2), d_qkv(6);
  const Buffer<Exec, T> d_y(std::vector<double>{10, 1});
  const AttentionShape shape{1, 2, 1, 1, 0, false};

  self_attention<Exec, T>(exec, shape, {}, qkv.const_matrix(2, 3), y.matrix(2, 1),
                          log_sums.vector());
  self_attention_backward<Exec, T>(
      exec, shape, {}, {qkv.const_matrix(2, 3), y.const_matrix(2, 1), log_sums.const_vector()},
      d_y.const_matrix(2, 1), dots.vector(), d_qkv.matrix(2, 3));
  exec.fence("zygos::test");

  CHECK(difference(y.values(), {12, 14}, 4.0) == "");
  CHECK(difference(log_sums.values(), {std::log(2.0), std::log(4.0)}, 4.0) == "");
  // d_score of the first query: 1/2 (80 - 120) and 1/2 (160 - 120); of the second 1/4 (8 - 14) and
  // 3/4 (16 - 14).
  CHECK(difference(d_qkv.values(), {20 * std::log(3.0), -1.5, 5.25, 1.5 * std::log(3.0), 1.5, 5.75},
                   32.0) == "");
}

TEMPLATE_LIST_TEST_CASE("Causal attention and its gradients equal their definition", "",
                        testing::KernelCases) {
  check_all(true, &Passes<typename TestType::Exec, typename TestType::T>::run);
}

TEMPLATE_LIST_TEST_CASE("Attention without a mask and its gradients equal their definition", "",
                        testing::KernelCases) {
  check_all(false, &Passes<typename TestType::Exec, typename TestType::T>::run);
}

TEMPLATE_LIST_TEST_CASE("What a device's teams compute equals the definition", "",
                        testing::KernelCases) {
  check_all(true, &Passes<typename TestType::Exec, typename TestType::T>::run_teams);
  check_all(false, &Passes<typename TestType::Exec, typename TestType::T>::run_teams);
}

TEMPLATE_LIST_TEST_CASE("Weights dropped at the step in memory are those at the step by value", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const AttentionShape shape{2, 65, 2, 4};
  const DropoutMask mask = dropout_mask(3, 5, 1, 0.25);
  const Buffer<Exec, std::uint64_t> memory(std::vector<double>{5.0});
  const Reference values(shape, mask, random_values(3 * shape.rows() * shape.columns(), 1),
                         random_values(shape.rows() * shape.columns(), 2));
  for (const auto run : {&Passes<Exec, T>::run, &Passes<Exec, T>::run_teams}) {
    Passes<Exec, T> by_value(shape, mask, values);
    Passes<Exec, T> from_memory(shape, dropout_mask(3, 1, 1, 0.25, memory.data()), values);

    (by_value.*run)(exec);
    (from_memory.*run)(exec);

    CHECK(from_memory.y.values() == by_value.y.values());
    CHECK(from_memory.d_qkv.values() == by_value.d_qkv.values());
  }
}

TEMPLATE_LIST_TEST_CASE("Attention stays finite for any finite scores", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  // Scores of 1e8, -1e8 and 0 for the last query, 0 for the others.
  const Buffer<Exec, T> qkv(std::vector<double>{0, 1e4, 1, 0, -1e4, 2, 1e4, 0, 3});
  const Buffer<Exec, T> y(3), log_sums(3);
  const auto results = [&](bool causal) {
    self_attention<Exec, T>(exec, {1, 3, 1, 1, 0, causal}, {}, qkv.const_matrix(3, 3),
                            y.matrix(3, 1), log_sums.vector());
    exec.fence("zygos::test");
    return y.values();
  };

  CHECK(difference(results(true), {1, 1.5, 1}, 2.0) == "");
  CHECK(difference(results(false), {2, 2, 1}, 2.0) == "");
}

TEMPLATE_LIST_TEST_CASE("Attention of bf16 equals the reference, by lanes and by a device's teams",
                        "", testing::AllSpaces) {
  for (const bool causal : {true, false}) {
    check_all<TestType, bf16>(causal, &Passes<TestType, bf16>::run);
    check_all<TestType, bf16>(causal, &Passes<TestType, bf16>::run_teams);
  }
}

}  // namespace zygos::ops::test_attention
