// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/norm/batch_norm_case.hpp"
#include "ops/norm/divided_batch_norm.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstddef>

namespace zygos::ops::test_divided_batch_norm {
namespace {

using testing::Buffer;
using testing::difference;
using testing::make_exec;

/// The same batch in parts of `group` samples, each with a row of statistics, and the row of a part
/// that nobody has.
template <class Exec, class T>
struct DividedRun {
  DividedRun(const ChannelGroups& shape, const Operands& given)
      : run({shape.samples, shape.channels, shape.positions,
             std::max<std::size_t>(shape.samples, 1)},
            given),
        part(shape.group),
        length(1 + 2 * shape.channels),
        rows(Values((shape.groups() + 1) * length, 0.0)),
        d_rows(Values((shape.groups() + 1) * length, 0.0)) {}

  template <class F>
  void for_each_part(F&& f) const {
    const ChannelGroups& all = run.dimensions;
    for (std::size_t first = 0; first < all.samples; first += part) {
      const std::size_t samples = std::min(part, all.samples - first);
      f(ChannelGroups{samples, all.channels, all.positions, samples},
        first * all.channels * all.positions, first / part * length);
    }
  }

  void forward(const Exec& exec) const {
    for_each_part([&](const ChannelGroups& dimensions, std::size_t begin, std::size_t row) {
      batch_norm_statistics<Exec, T>(exec, dimensions, of(run.x, dimensions, begin),
                                     {rows.data() + row, length});
    });
    for_each_part([&](const ChannelGroups& dimensions, std::size_t begin, std::size_t) {
      batch_norm_by_rows<Exec, T>(exec, dimensions, of(run.x, dimensions, begin),
                                  run.gamma.const_vector(), run.beta.const_vector(), epsilon,
                                  rows.const_vector(), {run.y.data() + begin, size_of(dimensions)},
                                  run.moments.vector());
    });
  }

  /// With the parameters' gradients summed.
  void backward(const Exec& exec) const {
    for_each_part([&](const ChannelGroups& dimensions, std::size_t begin, std::size_t row) {
      batch_norm_backward_statistics<Exec, T>(
          exec, dimensions, of(run.x, dimensions, begin), run.moments.const_vector(),
          of(run.d_y, dimensions, begin), epsilon, {d_rows.data() + row, length});
    });
    for_each_part([&](const ChannelGroups& dimensions, std::size_t begin, std::size_t row) {
      batch_norm_backward_input_by_rows<Exec, T>(
          exec, dimensions, of(run.x, dimensions, begin), run.gamma.const_vector(),
          run.moments.const_vector(), of(run.d_y, dimensions, begin), epsilon,
          d_rows.const_vector(), {d_rows.data() + row, length}, run.sums.vector(),
          {run.d_x.data() + begin, size_of(dimensions)});
      batch_norm_backward_parameters<Exec, T>(
          exec, dimensions, {running.share, static_cast<double>(run.dimensions.samples), true},
          run.moments.const_vector(), run.sums.const_vector(),
          {run.means.const_vector(), run.variances.const_vector(), run.d_parameters[0].vector(),
           run.d_parameters[1].vector(), run.d_parameters[2].vector(),
           run.d_parameters[3].vector()},
          begin == 0 ? Into::replaced : Into::added);
    });
    exec.fence("zygos::test");
  }

  static std::size_t size_of(const ChannelGroups& dimensions) {
    return dimensions.samples * dimensions.channels * dimensions.positions;
  }
  static VectorView<Exec, const T> of(const Buffer<Exec, T>& all, const ChannelGroups& dimensions,
                                      std::size_t begin) {
    return {all.data() + begin, size_of(dimensions)};
  }

  Run<Exec, T> run;
  std::size_t part;
  std::size_t length;
  Buffer<Exec, double> rows, d_rows;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("Parts of a batch that share their statistics make up the batch", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (ChannelGroups shape : shapes) {
    CAPTURE(shape.samples, shape.channels, shape.positions, shape.group);
    const Operands given = random_operands<T>(shape);
    const DividedRun<Exec, T> divided(shape, given);

    divided.forward(exec);
    divided.backward(exec);

    shape.group = std::max<std::size_t>(shape.samples, 1);
    const Reference expected(shape, given, static_cast<double>(shape.samples));
    const Run<Exec, T>& run = divided.run;
    CHECK(difference(run.y.values(), expected.y, 100.0) == "");
    CHECK(difference(run.d_x.values(), expected.d_x, 1000.0) == "");
    if (shape.samples > 0) {
      CHECK(difference(run.d_parameters[0].values(), expected.d_gamma, 300.0) == "");
      CHECK(difference(run.d_parameters[1].values(), expected.d_beta, 64.0) == "");
      CHECK(difference(run.d_parameters[2].values(), expected.d_mean, 8.0) == "");
      CHECK(difference(run.d_parameters[3].values(), expected.d_variance, 8.0) == "");
    }
    CHECK(run.guards_intact());
    CHECK(divided.rows.guards_intact());
    CHECK(divided.d_rows.guards_intact());
  }
}

}  // namespace zygos::ops::test_divided_batch_norm
