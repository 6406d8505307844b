// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/lstm.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"
#include "support/turned.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace zygos::ops::test_lstm {
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

/// What products with states give is drawn here, by position (samples, 4 units).
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
        cells(shape.rows() * shape.units),
        before(cells.size()),
        y(cells.size()) {
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
    return ((n * shape.positions + t) * 4 + k) * shape.units + j;
  }

  void step(std::size_t t, std::size_t n, std::size_t j, const Numbers& bias,
            const Numbers& product) {
    for (std::size_t k = 0; k < 4; ++k) {
      double& a = gates[gate(n, t, k, j)];
      a += bias[k * shape.units + j] + (t == 0 ? 0.0 : product[(n * 4 + k) * shape.units + j]);
      a = k == 2 ? std::tanh(a) : sigmoid(a);
    }
    const double c_before = t == 0 ? 0.0 : cells[state(n, t - 1, j)];
    const double c =
        gates[gate(n, t, 1, j)] * c_before + gates[gate(n, t, 0, j)] * gates[gate(n, t, 2, j)];
    cells[state(n, t, j)] = c;
    y[state(n, t, j)] = gates[gate(n, t, 3, j)] * std::tanh(c);
    before[state(n, t, j)] = t == 0 ? 0.0 : y[state(n, t - 1, j)];
  }

  /// d_y as y; `d_hidden` by position, of the position behind.
  void backward(const Numbers& d_y, const std::vector<Numbers>& d_hidden) {
    d_gates.assign(gates.size(), 0.0);
    Numbers carry(shape.samples * shape.units, 0.0);
    for (std::size_t t = shape.positions; t-- > 0;) {
      for (std::size_t i = 0; i < carry.size(); ++i) {
        const std::size_t n = i / shape.units, j = i % shape.units;
        const double d_h =
            d_y[state(n, t, j)] + (t + 1 == shape.positions ? 0.0 : d_hidden[t + 1][i]);
        const double in = gates[gate(n, t, 0, j)], forget = gates[gate(n, t, 1, j)];
        const double g = gates[gate(n, t, 2, j)], out = gates[gate(n, t, 3, j)];
        const double bent = std::tanh(cells[state(n, t, j)]);
        const double d_c = carry[i] + d_h * out * (1.0 - bent * bent);
        const double c_before = t == 0 ? 0.0 : cells[state(n, t - 1, j)];
        d_gates[gate(n, t, 0, j)] = d_c * g * in * (1.0 - in);
        d_gates[gate(n, t, 1, j)] = d_c * c_before * forget * (1.0 - forget);
        d_gates[gate(n, t, 2, j)] = d_c * in * (1.0 - g * g);
        d_gates[gate(n, t, 3, j)] = d_h * bent * out * (1.0 - out);
        carry[i] = d_c * forget;
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
  Numbers gates, cells, before, y, d_gates;
};

/// What the kernels read and write for one shape; what they shall not read holds NaN.
template <class Exec, class T>
struct Run {
  explicit Run(const RecurrentDimensions& shape_, bool sequences_ = true)
      : shape(shape_), sequences(sequences_) {
    hidden.assign(Numbers(state, std::nan("")));
    product.assign(Numbers(4 * state, std::nan("")));
    carry.assign(Numbers(state, std::nan("")));
  }

  void forward(const Exec& exec) {
    const LstmForward<Exec, T> lstm{
        shape,          product.const_vector(), bias.const_vector(), gates.vector(),
        cells.vector(), before.vector(),        hidden.vector(),     y.vector()};
    for (std::size_t t = 0; t < shape.positions; ++t) {
      if (t > 0) {
        product.assign(products[t]);
      }
      lstm_step(exec, lstm, t);
      exec.fence("zygos::test");
    }
  }
  void backward(const Exec& exec) {
    hidden.assign(Numbers(state, std::nan("")));
    const LstmBackward<Exec, T> lstm{shape,
                                     gates.const_vector(),
                                     cells.const_vector(),
                                     d_y.const_vector(),
                                     hidden.const_vector(),
                                     carry.vector(),
                                     d_gates.vector(),
                                     product.vector()};
    for (std::size_t t = shape.positions; t-- > 0;) {
      if (t + 1 < shape.positions) {
        hidden.assign(d_hidden[t + 1]);
      }
      lstm_step_backward(exec, lstm, t);
      exec.fence("zygos::test");
    }
  }
  bool intact() const {
    return gates.guards_intact() && cells.guards_intact() && before.guards_intact() &&
           hidden.guards_intact() && product.guards_intact() && y.guards_intact() &&
           carry.guards_intact() && d_gates.guards_intact();
  }

  RecurrentDimensions shape;
  bool sequences;
  std::size_t state = shape.samples * shape.units;
  std::size_t results = sequences ? shape.positions * state : state;
  Numbers from_x = rounded<T>(random_values(shape.positions * 4 * state, 1));
  Numbers bias_values = rounded<T>(random_values(4 * shape.units, 2));
  Numbers d_y_values = rounded<T>(random_values(results, 3));
  std::vector<Numbers> products = drawn<T>(shape, 4, 10), d_hidden = drawn<T>(shape, 1, 50);
  Buffer<Exec, T> gates{from_x}, bias{bias_values}, d_y{d_y_values}, cells{shape.positions * state};
  Buffer<Exec, T> before{shape.positions * state}, hidden{state}, product{4 * state}, y{results};
  Buffer<Exec, T> carry{state}, d_gates{shape.positions * 4 * state};
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("An LSTM of one unit is what a pencil says", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const double three = std::log(3.0);  // its sigmoid is 3/4, the tanh of its half 1/2
  Run<Exec, T> run({1, 2, 1});
  run.gates.assign({three, 1.0, three / 2, -three, three - 1.0, 0.5, three / 2, -three});
  run.bias.assign({0.0, -1.0, 0.0, 0.0});
  run.products[1] = {1.0, 0.5, 0.0, 0.0};

  run.forward(exec);

  CHECK(difference(run.gates.values(), {0.75, 0.5, 0.5, 0.25, 0.75, 0.5, 0.5, 0.25}, 8.0) == "");
  CHECK(difference(run.cells.values(), {0.375, 0.5625}, 8.0) == "");
  const double first = 0.25 * std::tanh(0.375), second = 0.25 * std::tanh(0.5625);
  CHECK(difference(run.y.values(), {first, second}, 8.0) == "");
  CHECK(difference(run.before.values(), {0.0, first}, 8.0) == "");
  CHECK(difference(run.hidden.values(), {second}, 8.0) == "");
}

TEMPLATE_LIST_TEST_CASE("The positions of an LSTM equal their equations, forward and backward", "",
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
    CHECK(difference(run.cells.values(), expected.cells, 32.0) == "");
    CHECK(difference(run.before.values(), expected.before, 32.0) == "");
    CHECK(difference(run.y.values(), expected.y, 32.0) == "");
    CHECK(difference(run.d_gates.values(), expected.d_gates, 64.0) == "");
    CHECK(run.intact());
  }
}

TEMPLATE_LIST_TEST_CASE("An LSTM of the last position alone has that one's result", "",
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
  CHECK(run.intact());
}

TEMPLATE_LIST_TEST_CASE("An LSTM in reverse has the bits of one over the reversed sequence", "",
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
    CHECK(other_way(reverse.cells.values()) == forward.cells.values());
    CHECK(other_way(reverse.before.values()) == forward.before.values());
    CHECK(other_way(reverse.y.values()) == forward.y.values());
    CHECK(other_way(reverse.d_gates.values()) == forward.d_gates.values());
    CHECK(reverse.intact());
  }
}

TEMPLATE_LIST_TEST_CASE("An LSTM in reverse leaves the state of the first position", "",
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

TEST_CASE("The positions of an LSTM have the same bits for one to four threads") {
  const auto bits = [](int threads) {
    const Kokkos::OpenMP exec(threads);
    Run<Kokkos::OpenMP, float> run({70, 5, 67});
    run.forward(exec);
    auto all = run.y.values();
    run.backward(exec);
    const auto gradient = run.d_gates.values();
    all.insert(all.end(), gradient.begin(), gradient.end());
    return all;
  };
  const auto one = bits(1);

  CHECK(bits(2) == one);
  CHECK(bits(3) == one);
  CHECK(bits(4) == one);
}

}  // namespace zygos::ops::test_lstm
