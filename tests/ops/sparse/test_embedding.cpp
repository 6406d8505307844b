// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/sparse/embedding.hpp"
#include "ops/sparse/embedding_gradient.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace zygos::ops::test_embedding {
namespace {

using testing::Buffer;
using testing::difference;
using testing::make_exec;
using testing::random_integer;
using testing::random_values;
using testing::rounded;

struct Extents {
  std::size_t rows;
  std::size_t vocabulary;
  std::size_t columns;
};
const std::vector<Extents> shapes{{0, 3, 5},   {1, 1, 1},     {7, 3, 2},
                                  {40, 5, 33}, {300, 65, 96}, {5, 2000, 131}};

std::vector<double> random_ids(const Extents& shape) {
  std::vector<double> ids;
  for (std::uint32_t i = 0; i < shape.rows; ++i) {
    ids.push_back(static_cast<double>(
        random_integer(0, static_cast<std::int64_t>(shape.vocabulary) - 1, 5, i)));
  }
  return ids;
}

/// Rows of the table by id, and the gradient of the table, from the definition.
std::pair<std::vector<double>, std::vector<double>> looked_up(std::size_t columns,
                                                              const std::vector<double>& ids,
                                                              const std::vector<double>& table,
                                                              const std::vector<double>& d_y) {
  std::vector<double> y;
  std::vector<double> d_table(table.size(), 0.0);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      const std::size_t from = static_cast<std::size_t>(ids[i]) * columns + j;
      y.push_back(table[from]);
      d_table[from] += d_y[i * columns + j];
    }
  }
  return {y, d_table};
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("Rows of a table and their gradient are what a pencil says", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const Buffer<Exec, T> ids(std::vector<double>{2, 0, 2});
  const Buffer<Exec, T> table(std::vector<double>{1, 2, 3, 4, 5, 6});
  const Buffer<Exec, T> y(6);
  const Buffer<Exec, T> d_y(std::vector<double>{1, 10, 2, 20, 4, 40});
  const Buffer<Exec, T> d_table(std::vector<double>(6, std::nan("")));

  embed<Exec, T>(exec, ids.const_vector(), table.const_matrix(3, 2), y.matrix(3, 2));
  embed_backward<Exec, T>(exec, ids.const_vector(), d_y.const_matrix(3, 2), d_table.matrix(3, 2),
                          Into::replaced);
  exec.fence("zygos::test");

  CHECK(y.values() == std::vector<T>{5, 6, 1, 2, 5, 6});
  CHECK(d_table.values() == std::vector<T>{2, 20, 0, 0, 5, 50});
}

TEMPLATE_LIST_TEST_CASE("An id that the table lacks gives NaN and no gradient", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const Buffer<Exec, T> ids(std::vector<double>{3, -1, 1e9, std::nan(""), 1});
  const Buffer<Exec, T> table(std::vector<double>{1, 2, 3});
  const Buffer<Exec, T> y(5);
  const Buffer<Exec, T> d_y(std::vector<double>{1, 2, 4, 8, 16});
  const Buffer<Exec, T> d_table(3);

  embed<Exec, T>(exec, ids.const_vector(), table.const_matrix(3, 1), y.matrix(5, 1));
  embed_backward<Exec, T>(exec, ids.const_vector(), d_y.const_matrix(5, 1), d_table.matrix(3, 1),
                          Into::replaced);
  exec.fence("zygos::test");

  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(std::isnan(y.values()[i]));
  }
  CHECK(y.values()[4] == T(2));
  CHECK(d_table.values() == std::vector<T>{0, 16, 0});
  CHECK(d_table.guards_intact());
}

TEMPLATE_LIST_TEST_CASE("Rows of a table and their gradient equal their definition", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const Extents& shape : shapes) {
    CAPTURE(shape.rows, shape.vocabulary, shape.columns);
    const auto id_values = random_ids(shape);
    const auto table_values = rounded<T>(random_values(shape.vocabulary * shape.columns, 1));
    const auto d_y_values = rounded<T>(random_values(shape.rows * shape.columns, 2));
    auto [expected_y, expected_d_table] =
        looked_up(shape.columns, id_values, table_values, d_y_values);
    const Buffer<Exec, T> ids(id_values);
    const Buffer<Exec, T> table(table_values);
    const Buffer<Exec, T> d_y(d_y_values);
    const Buffer<Exec, T> y(shape.rows * shape.columns);
    const Buffer<Exec, T> d_table(table_values.size());
    const auto backward = [&](Into into) {
      embed_backward<Exec, T>(exec, ids.const_vector(), d_y.const_matrix(shape.rows, shape.columns),
                              d_table.matrix(shape.vocabulary, shape.columns), into);
      exec.fence("zygos::test");
    };

    embed<Exec, T>(exec, ids.const_vector(), table.const_matrix(shape.vocabulary, shape.columns),
                   y.matrix(shape.rows, shape.columns));
    backward(Into::replaced);
    CHECK(difference(y.values(), expected_y, 0.0) == "");
    CHECK(difference(d_table.values(), expected_d_table, 100.0) == "");

    backward(Into::added);
    for (double& value : expected_d_table) {
      value *= 2.0;
    }
    CHECK(difference(d_table.values(), expected_d_table, 200.0) == "");
    CHECK(y.guards_intact());
    CHECK(d_table.guards_intact());
  }
}

TEMPLATE_LIST_TEST_CASE("A device's teams add the same bits to a table as a host's threads", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const Extents& shape : shapes) {
    CAPTURE(shape.rows, shape.vocabulary, shape.columns);
    auto id_values = random_ids(shape);
    if (id_values.size() > 5) {
      id_values[0] = std::nan("");
      id_values[3] = -1.0;
    }
    const auto d_y_values = rounded<T>(random_values(shape.rows * shape.columns, 2));
    const auto before = rounded<T>(random_values(shape.vocabulary * shape.columns, 3));
    const Buffer<Exec, T> ids(id_values);
    const Buffer<Exec, T> d_y(d_y_values);
    const Buffer<Exec, T> by_teams(before);
    const Buffer<Exec, T> by_threads(before);

    add_to_table_by_teams(exec, EmbeddingGradient<T>{shape.rows, shape.vocabulary, shape.columns,
                                                     ids.data(), d_y.data(), by_teams.data()});
    embed_backward<Exec, T>(exec, ids.const_vector(), d_y.const_matrix(shape.rows, shape.columns),
                            by_threads.matrix(shape.vocabulary, shape.columns), Into::added);
    exec.fence("zygos::test");
    CHECK(by_teams.values() == by_threads.values());
    CHECK(by_teams.guards_intact());
  }
}

TEMPLATE_LIST_TEST_CASE("What is added to every row is summed over the rows in its gradient", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const Extents& shape : shapes) {
    CAPTURE(shape.rows, shape.columns);
    const auto x_values = rounded<T>(random_values(shape.rows * shape.columns, 1));
    const auto plus_values = rounded<T>(random_values(shape.columns, 2));
    std::vector<double> expected_y;
    std::vector<double> expected_sums(shape.columns, 0.0);
    for (std::size_t i = 0; i < x_values.size(); ++i) {
      expected_y.push_back(x_values[i] + plus_values[i % shape.columns]);
      expected_sums[i % shape.columns] += x_values[i];
    }
    const Buffer<Exec, T> x(x_values);
    const Buffer<Exec, T> plus(plus_values);
    const Buffer<Exec, T> y(x_values.size());
    const Buffer<Exec, T> sums(std::vector<double>(shape.columns, std::nan("")));
    const auto matrix = x.const_matrix(shape.rows, shape.columns);

    add_to_rows<Exec, T>(exec, matrix, plus.const_vector(), y.matrix(shape.rows, shape.columns));
    sum_rows<Exec, T>(exec, matrix, sums.vector(), Into::replaced);
    exec.fence("zygos::test");
    CHECK(difference(y.values(), expected_y, 1.0) == "");
    CHECK(difference(sums.values(), expected_sums, 4.0) == "");

    sum_rows<Exec, T>(exec, matrix, sums.vector(), Into::added);
    exec.fence("zygos::test");
    for (double& value : expected_sums) {
      value *= 2.0;
    }
    CHECK(difference(sums.values(), expected_sums, 8.0) == "");
    CHECK(y.guards_intact());
    CHECK(sums.guards_intact());
  }
}

}  // namespace zygos::ops::test_embedding
