// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/gru.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"
#include "support/turned.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace zygos::ops::test_gru {
namespace {

using testing::Buffer;
using testing::difference;
using testing::make_exec;
using testing::random_values;
using testing::rounded;
using testing::turned;
using Numbers = std::vector<double>;

const std::vector<RecurrentDimensions> shapes{{0, 3, 5},  {1, 1, 1},  {2, 4, 3},  {3, 1, 16},
                                              {5, 3, 17}, {7, 6, 33}, {70, 5, 67}};

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// What products with states give is drawn here, by position (samples, 3 units).
template <class T>
std::vector<Numbers> drawn(const RecurrentDimensions& shape, std::size_t gates,
                           std::uint64_t seed) {
  std::vector<Numbers> all;
  for (std::size_t t = 0; t < shape.positions; ++t) {
    all.push_back(rounded<T>(random_values(shape.samples * gates * shape.units, seed + t)));
  }
  return all;
}

/// The equations, unit by unit in double.
struct Reference {
  Reference(const RecurrentDimensions& shape_, const Numbers& from_x, const Numbers& bias,
            const std::vector<Numbers>& product)
      : shape(shape_),
        gates(from_x),
        candidates(shape.rows() * shape.units),
        before(candidates.size()),
        y(candidates.size()) {
    for (std::size_t t = 0; t < shape.positions; ++t) {
      for (std::size_t i = 0; i < shape.samples * shape.units; ++i) {
        step(t, i / shape.units, i % shape.units, bias, product[t]);
      }
    }
  }

  std::size_t state(std::size_t n, std::size_t t, std::size_t j) const {
    return (n * shape.positions + t) * shape.units + j;
  }
  std::size_t gate(std::size_t n, std::size_t t, std::size_t k, std::size_t j) const {
    return ((n * shape.positions + t) * 3 + k) * shape.units + j;
  }

  void step(std::size_t t, std::size_t n, std::size_t j, const Numbers& bias,
            const Numbers& product) {
    double from_h[3];
    for (std::size_t k = 0; k < 3; ++k) {
      from_h[k] =
          bias[k * shape.units + j] + (t == 0 ? 0.0 : product[(n * 3 + k) * shape.units + j]);
    }
    double& r = gates[gate(n, t, 0, j)];
    double& z = gates[gate(n, t, 1, j)];
    double& c = gates[gate(n, t, 2, j)];
    r = sigmoid(r + from_h[0]);
    z = sigmoid(z + from_h[1]);
    c = std::tanh(c + r * from_h[2]);
    candidates[state(n, t, j)] = from_h[2];
    before[state(n, t, j)] = t == 0 ? 0.0 : y[state(n, t - 1, j)];
    y[state(n, t, j)] = (1.0 - z) * c + z * before[state(n, t, j)];
  }

  /// d_y as y; `d_hidden` by position, of the position behind.
  void backward(const Numbers& d_y, const std::vector<Numbers>& d_hidden) {
    d_gates.assign(gates.size(), 0.0);
    d_recurrent.assign(gates.size(), 0.0);
    Numbers carry(shape.samples * shape.units, 0.0);
    for (std::size_t t = shape.positions; t-- > 0;) {
      for (std::size_t i = 0; i < carry.size(); ++i) {
        const std::size_t n = i / shape.units, j = i % shape.units;
        const bool last = t + 1 == shape.positions;
        const double d_h = d_y[state(n, t, j)] + (last ? 0.0 : d_hidden[t + 1][i] + carry[i]);
        const double r = gates[gate(n, t, 0, j)], z = gates[gate(n, t, 1, j)];
        const double c = gates[gate(n, t, 2, j)], q = candidates[state(n, t, j)];
        const double d_c = d_h * (1.0 - z) * (1.0 - c * c);
        const double all[3]{d_c * q * r * (1.0 - r),
                            d_h * (before[state(n, t, j)] - c) * z * (1.0 - z), d_c};
        for (std::size_t k = 0; k < 3; ++k) {
          d_gates[gate(n, t, k, j)] = all[k];
          d_recurrent[gate(n, t, k, j)] = k == 2 ? d_c * r : all[k];
        }
        carry[i] = d_h * z;
      }
    }
  }

  /// (samples, ...) of the last position.
  Numbers last(const Numbers& all) const {
    Numbers some;
    for (std::size_t n = 0; n < shape.samples; ++n) {
      for (std::size_t j = 0; j < shape.units; ++j) {
        some.push_back(all[state(n, shape.positions - 1, j)]);
      }
    }
    return some;
  }

  RecurrentDimensions shape;
  Numbers gates, candidates, before, y, d_gates, d_recurrent;
};

/// What the kernels read and write for one shape; what they shall not read holds NaN.
template <class Exec, class T>
struct Run {
  explicit Run(const RecurrentDimensions& shape_, bool sequences_ = true)
      : shape(shape_), sequences(sequences_) {
    hidden.assign(Numbers(state, std::nan("")));
    product.assign(Numbers(3 * state, std::nan("")));
    carry.assign(Numbers(state, std::nan("")));
  }

  void forward(const Exec& exec) {
    const GruForward<Exec, T> gru{shape,
                                  product.const_vector(),
                                  bias.const_vector(),
                                  gates.vector(),
                                  candidates.vector(),
                                  before.vector(),
                                  hidden.vector(),
                                  y.vector()};
    for (std::size_t t = 0; t < shape.positions; ++t) {
      if (t > 0) {
        product.assign(products[t]);
      }
      gru_step(exec, gru, t);
      exec.fence("zygos::test");
    }
  }
  void backward(const Exec& exec) {
    hidden.assign(Numbers(state, std::nan("")));
    const GruBackward<Exec, T> gru{shape,
                                   gates.const_vector(),
                                   candidates.const_vector(),
                                   before.const_vector(),
                                   d_y.const_vector(),
                                   hidden.const_vector(),
                                   carry.vector(),
                                   d_gates.vector(),
                                   d_recurrent.vector(),
                                   product.vector()};
    for (std::size_t t = shape.positions; t-- > 0;) {
      if (t + 1 < shape.positions) {
        hidden.assign(d_hidden[t + 1]);
      }
      gru_step_backward(exec, gru, t);
      exec.fence("zygos::test");
    }
  }
  bool intact() const {
    return gates.guards_intact() && candidates.guards_intact() && before.guards_intact() &&
           hidden.guards_intact() && product.guards_intact() && y.guards_intact() &&
           carry.guards_intact() && d_gates.guards_intact() && d_recurrent.guards_intact();
  }

  RecurrentDimensions shape;
  bool sequences;
  std::size_t state = shape.samples * shape.units;
  std::size_t results = sequences ? shape.positions * state : state;
  Numbers from_x = rounded<T>(random_values(shape.positions * 3 * state, 1));
  Numbers bias_values = rounded<T>(random_values(3 * shape.units, 2));
  Numbers d_y_values = rounded<T>(random_values(results, 3));
  std::vector<Numbers> products = drawn<T>(shape, 3, 10), d_hidden = drawn<T>(shape, 1, 50);
  Buffer<Exec, T> gates{from_x}, bias{bias_values}, d_y{d_y_values}, y{results};
  Buffer<Exec, T> candidates{shape.positions * state}, before{shape.positions * state};
  Buffer<Exec, T> hidden{state}, product{3 * state}, carry{state};
  Buffer<Exec, T> d_gates{shape.positions * 3 * state}, d_recurrent{shape.positions * 3 * state};
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("A GRU of one unit is what a pencil says", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const double three = std::log(3.0);  // its sigmoid is 3/4, the tanh of its half 1/2
  Run<Exec, T> run({1, 2, 1});
  // The reset gate is 3/4 of 0.4, then 3/4 of 0.8.
  run.gates.assign({three, 1.0, three / 2 - 0.3, three - 2.0, 1.0, three / 2 - 0.6});
  run.bias.assign({0.0, -1.0, 0.4});
  run.products[1] = {2.0, 0.0, 0.4};

  run.forward(exec);

  CHECK(difference(run.gates.values(), {0.75, 0.5, 0.5, 0.75, 0.5, 0.5}, 8.0) == "");
  CHECK(difference(run.candidates.values(), {0.4, 0.8}, 8.0) == "");
  CHECK(difference(run.y.values(), {0.25, 0.375}, 8.0) == "");
  CHECK(difference(run.before.values(), {0.0, 0.25}, 8.0) == "");
  CHECK(difference(run.hidden.values(), {0.375}, 8.0) == "");
}

TEMPLATE_LIST_TEST_CASE("The positions of a GRU equal their equations, forward and backward", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const RecurrentDimensions& shape : shapes) {
    CAPTURE(shape.samples, shape.positions, shape.units);
    Run<Exec, T> run(shape);
    Reference expected(shape, run.from_x, run.bias_values, run.products);
    expected.backward(run.d_y_values, run.d_hidden);

    run.forward(exec);
    CHECK(difference(run.hidden.values(), expected.last(expected.y), 32.0) == "");
    run.backward(exec);

    CHECK(difference(run.gates.values(), expected.gates, 32.0) == "");
    CHECK(difference(run.candidates.values(), expected.candidates, 32.0) == "");
    CHECK(difference(run.before.values(), expected.before, 32.0) == "");
    CHECK(difference(run.y.values(), expected.y, 32.0) == "");
    CHECK(difference(run.d_gates.values(), expected.d_gates, 64.0) == "");
    CHECK(difference(run.d_recurrent.values(), expected.d_recurrent, 64.0) == "");
    CHECK(run.intact());
  }
}

TEMPLATE_LIST_TEST_CASE("A GRU of the last position alone has that one's result", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const RecurrentDimensions shape{5, 3, 17};
  Run<Exec, T> run(shape, false);
  Reference expected(shape, run.from_x, run.bias_values, run.products);
  Numbers d_y(expected.y.size(), 0.0);
  for (std::size_t n = 0; n < shape.samples; ++n) {
    for (std::size_t j = 0; j < shape.units; ++j) {
      d_y[expected.state(n, 2, j)] = run.d_y_values[n * shape.units + j];
    }
  }
  expected.backward(d_y, run.d_hidden);

  run.forward(exec);
  run.backward(exec);

  CHECK(difference(run.y.values(), expected.last(expected.y), 32.0) == "");
  CHECK(difference(run.d_gates.values(), expected.d_gates, 64.0) == "");
  CHECK(difference(run.d_recurrent.values(), expected.d_recurrent, 64.0) == "");
  CHECK(run.intact());
}

TEMPLATE_LIST_TEST_CASE("A GRU in reverse has the bits of one over the reversed sequence", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const RecurrentDimensions& shape : shapes) {
    CAPTURE(shape.samples, shape.positions, shape.units);
    const auto other_way = [&](const auto& all) {
      return turned(all, shape.samples, shape.positions);
    };
    Run<Exec, T> forward(shape);
    Run<Exec, T> reverse({shape.samples, shape.positions, shape.units, true});
    reverse.gates.assign(other_way(reverse.from_x));
    reverse.d_y.assign(other_way(reverse.d_y_values));

    forward.forward(exec);
    reverse.forward(exec);
    CHECK(reverse.hidden.values() == forward.hidden.values());
    forward.backward(exec);
    reverse.backward(exec);

    CHECK(other_way(reverse.gates.values()) == forward.gates.values());
    CHECK(other_way(reverse.candidates.values()) == forward.candidates.values());
    CHECK(other_way(reverse.before.values()) == forward.before.values());
    CHECK(other_way(reverse.y.values()) == forward.y.values());
    CHECK(other_way(reverse.d_gates.values()) == forward.d_gates.values());
    CHECK(other_way(reverse.d_recurrent.values()) == forward.d_recurrent.values());
    CHECK(reverse.intact());
  }
}

TEMPLATE_LIST_TEST_CASE("A GRU in reverse leaves the state of the first position", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  Run<Exec, T> all({5, 3, 17, true});
  Run<Exec, T> first({5, 3, 17, true}, false);
  Numbers d_y(all.d_y_values.size(), 0.0);
  for (std::size_t i = 0; i < first.d_y_values.size(); ++i) {
    d_y[i / 17 * 3 * 17 + i % 17] = first.d_y_values[i];
  }
  all.d_y.assign(d_y);

  for (Run<Exec, T>* run : {&all, &first}) {
    run->forward(exec);
    run->backward(exec);
  }

  const std::vector<T> states = all.y.values(), alone = first.y.values();
  REQUIRE(alone.size() == 5 * 17);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    CHECK(alone[i] == states[i / 17 * 3 * 17 + i % 17]);
  }
  CHECK(first.d_gates.values() == all.d_gates.values());
  CHECK(first.intact());
}

TEST_CASE("The positions of a GRU have the same bits for one to four threads") {
  const auto bits = [](int threads) {
    const Kokkos::OpenMP exec(threads);
    Run<Kokkos::OpenMP, float> run({70, 5, 67});
    run.forward(exec);
    auto all = run.y.values();
    run.backward(exec);
    const auto gradient = run.d_recurrent.values();
    all.insert(all.end(), gradient.begin(), gradient.end());
    return all;
  };
  const auto one = bits(1);

  CHECK(bits(2) == one);
  CHECK(bits(3) == one);
  CHECK(bits(4) == one);
}

}  // namespace zygos::ops::test_gru
