// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace zygos::ops {
namespace {

using testing::Buffer;
using testing::difference;
using testing::make_exec;
using testing::random_values;
using testing::rounded;

constexpr double epsilon = 1e-2;
constexpr Running running{.share = 0.25, .global_batch = 40.0};

const std::vector<ChannelGroups> shapes{{0, 3, 4, 2},  {1, 1, 1, 1},   {4, 2, 1, 4},   {7, 5, 3, 3},
                                        {9, 1, 33, 9}, {33, 17, 1, 8}, {6, 3, 1001, 4}};

using Values = std::vector<double>;

struct Operands {
  Values x, gain, shift, d_y, means, variances;
};

template <class T>
Operands random_operands(const ChannelGroups& e) {
  const std::size_t size = e.samples * e.channels * e.positions;
  Operands out{rounded<T>(random_values(size, 1)),       rounded<T>(random_values(e.channels, 2)),
               rounded<T>(random_values(e.channels, 3)), rounded<T>(random_values(size, 4)),
               rounded<T>(random_values(e.channels, 5)), rounded<T>(random_values(e.channels, 6))};
  for (double& variance : out.variances) {
    variance = std::abs(variance);
  }
  return out;
}

/// From the definition.
struct Reference {
  Reference(const ChannelGroups& extents, const Operands& given,
            double batch = running.global_batch)
      : global_batch(batch),
        y(given.x.size()),
        by(given.x.size()),
        d_x(given.x.size()),
        d_gain(extents.channels, 0.0),
        d_shift(extents.channels, 0.0),
        d_mean(extents.channels, 0.0),
        d_variance(extents.channels, 0.0) {
    for (std::size_t first = 0; first < extents.samples; first += extents.group) {
      for (std::size_t channel = 0; channel < extents.channels; ++channel) {
        add(extents, given, first, channel);
      }
    }
  }

  void add(const ChannelGroups& e, const Operands& given, std::size_t first, std::size_t channel) {
    std::vector<std::size_t> all;
    const std::size_t end = std::min(first + e.group, e.samples);
    for (std::size_t sample = first; sample < end; ++sample) {
      for (std::size_t i = 0; i < e.positions; ++i) {
        all.push_back((sample * e.channels + channel) * e.positions + i);
      }
    }
    const auto count = static_cast<double>(all.size());
    double mean = 0.0, variance = 0.0, sum = 0.0, along = 0.0;
    for (const std::size_t i : all) {
      mean += given.x[i] / count;
    }
    for (const std::size_t i : all) {
      variance += (given.x[i] - mean) * (given.x[i] - mean) / count;
    }
    const double scale = 1.0 / std::sqrt(variance + epsilon);
    for (const std::size_t i : all) {
      const double n = (given.x[i] - mean) * scale;
      y[i] = n * given.gain[channel] + given.shift[channel];
      by[i] = (given.x[i] - given.means[channel]) / std::sqrt(given.variances[channel] + epsilon) *
                  given.gain[channel] +
              given.shift[channel];
      sum += given.d_y[i];
      along += given.d_y[i] * n;
    }
    for (const std::size_t i : all) {
      const double n = (given.x[i] - mean) * scale;
      d_x[i] = given.gain[channel] * scale * (given.d_y[i] - sum / count - n * along / count);
    }
    const double share = running.share * static_cast<double>(end - first) / global_batch;
    d_gain[channel] += along;
    d_shift[channel] += sum;
    d_mean[channel] += share * (given.means[channel] - mean);
    d_variance[channel] +=
        share * (given.variances[channel] - variance * (count > 1 ? count / (count - 1) : 1.0));
  }

  double global_batch;
  Values y, by, d_x, d_gain, d_shift, d_mean, d_variance;
};

/// Operands and results on a space.
template <class Exec, class T>
struct Run {
  Run(const ChannelGroups& shape, const Operands& given)
      : extents(shape),
        x(given.x),
        gain(given.gain),
        shift(given.shift),
        d_y(given.d_y),
        means(given.means),
        variances(given.variances),
        y(given.x.size()),
        by(given.x.size()),
        d_x(given.x.size()),
        moments(2 * shape.groups() * shape.channels),
        sums(2 * shape.groups() * shape.channels) {
    for (std::size_t i = 0; i < 4; ++i) {
      d_parameters.emplace_back(Values(shape.channels, 7.0));
    }
  }

  void forward(const Exec& exec) const {
    batch_norm<Exec, T>(exec, extents, x.const_vector(), gain.const_vector(), shift.const_vector(),
                        epsilon, y.vector(), moments.vector());
    batch_norm_by<Exec, T>(exec, extents, x.const_vector(), gain.const_vector(),
                           shift.const_vector(), epsilon, means.const_vector(),
                           variances.const_vector(), by.vector());
  }
  void backward(const Exec& exec, const VectorView<Exec, T>& to) const {
    batch_norm_backward_input<Exec, T>(exec, extents, x.const_vector(), gain.const_vector(),
                                       moments.const_vector(), d_y.const_vector(), epsilon,
                                       sums.vector(), to);
  }
  void parameters(const Exec& exec, Into into) const {
    batch_norm_backward_parameters<Exec, T>(
        exec, extents, running, moments.const_vector(), sums.const_vector(),
        {means.const_vector(), variances.const_vector(), d_parameters[0].vector(),
         d_parameters[1].vector(), d_parameters[2].vector(), d_parameters[3].vector()},
        into);
    exec.fence("zygos::test");
  }
  bool guards_intact() const {
    return y.guards_intact() && by.guards_intact() && d_x.guards_intact() &&
           moments.guards_intact() && sums.guards_intact() &&
           std::ranges::all_of(d_parameters, &Buffer<Exec, T>::guards_intact);
  }

  ChannelGroups extents;
  Buffer<Exec, T> x, gain, shift, d_y, means, variances, y, by, d_x, moments, sums;
  std::vector<Buffer<Exec, T>> d_parameters;
};

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
    const ChannelGroups& all = run.extents;
    for (std::size_t first = 0; first < all.samples; first += part) {
      const std::size_t samples = std::min(part, all.samples - first);
      f(ChannelGroups{samples, all.channels, all.positions, samples},
        first * all.channels * all.positions, first / part * length);
    }
  }

  void forward(const Exec& exec) const {
    for_each_part([&](const ChannelGroups& extents, std::size_t begin, std::size_t row) {
      batch_norm_statistics<Exec, T>(exec, extents, of(run.x, extents, begin),
                                     {rows.data() + row, length});
    });
    for_each_part([&](const ChannelGroups& extents, std::size_t begin, std::size_t) {
      batch_norm_by_rows<Exec, T>(
          exec, extents, of(run.x, extents, begin), run.gain.const_vector(),
          run.shift.const_vector(), epsilon, rows.const_vector(),
          {run.y.data() + begin, size_of(extents)}, run.moments.vector());
    });
  }

  /// With the parameters' gradients added up.
  void backward(const Exec& exec) const {
    for_each_part([&](const ChannelGroups& extents, std::size_t begin, std::size_t row) {
      batch_norm_backward_statistics<Exec, T>(
          exec, extents, of(run.x, extents, begin), run.moments.const_vector(),
          of(run.d_y, extents, begin), epsilon, {d_rows.data() + row, length});
    });
    for_each_part([&](const ChannelGroups& extents, std::size_t begin, std::size_t row) {
      batch_norm_backward_input_by_rows<Exec, T>(
          exec, extents, of(run.x, extents, begin), run.gain.const_vector(),
          run.moments.const_vector(), of(run.d_y, extents, begin), epsilon, d_rows.const_vector(),
          {d_rows.data() + row, length}, run.sums.vector(),
          {run.d_x.data() + begin, size_of(extents)});
      batch_norm_backward_parameters<Exec, T>(
          exec, extents,
          {running.share, static_cast<double>(run.extents.samples), true},
          run.moments.const_vector(), run.sums.const_vector(),
          {run.means.const_vector(), run.variances.const_vector(), run.d_parameters[0].vector(),
           run.d_parameters[1].vector(), run.d_parameters[2].vector(),
           run.d_parameters[3].vector()},
          begin == 0 ? Into::replaced : Into::added);
    });
    exec.fence("zygos::test");
  }

  static std::size_t size_of(const ChannelGroups& extents) {
    return extents.samples * extents.channels * extents.positions;
  }
  static VectorView<Exec, const T> of(const Buffer<Exec, T>& all, const ChannelGroups& extents,
                                      std::size_t begin) {
    return {all.data() + begin, size_of(extents)};
  }

  Run<Exec, T> run;
  std::size_t part;
  std::size_t length;
  Buffer<Exec, double> rows, d_rows;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("A normalised channel is what a pencil says", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  // Two samples, two channels: 1 and 3, mean 2 and variance 1; -5 and -5, so only epsilon is left.
  const Buffer<Exec, T> x(Values{1, -5, 3, -5});
  const Buffer<Exec, T> gain(Values{2, 10});
  const Buffer<Exec, T> shift(Values{0.5, -1});
  const Buffer<Exec, T> y(4);
  const Buffer<Exec, T> moments(4);

  batch_norm<Exec, T>(exec, {2, 2, 1, 2}, x.const_vector(), gain.const_vector(),
                      shift.const_vector(), 0.5625, y.vector(), moments.vector());
  exec.fence("zygos::test");

  CHECK(difference(moments.values(), {2, 1, -5, 0}, 2.0) == "");
  CHECK(difference(y.values(), {0.5 - 1.6, -1, 0.5 + 1.6, -1}, 2.0) == "");
}

TEMPLATE_LIST_TEST_CASE("Normalisation by channels and its gradients equal their definition", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const ChannelGroups& shape : shapes) {
    CAPTURE(shape.samples, shape.channels, shape.positions, shape.group);
    const Operands given = random_operands<T>(shape);
    const Reference expected(shape, given);
    const Run<Exec, T> run(shape, given);

    run.forward(exec);
    run.backward(exec, run.d_x.vector());
    run.parameters(exec, Into::replaced);

    // Two numbers that lie close are far apart once they are normalised.
    CHECK(difference(run.y.values(), expected.y, 100.0) == "");
    CHECK(difference(run.by.values(), expected.by, 100.0) == "");
    CHECK(difference(run.d_x.values(), expected.d_x, 1000.0) == "");
    CHECK(difference(run.d_parameters[0].values(), expected.d_gain, 300.0) == "");
    CHECK(difference(run.d_parameters[1].values(), expected.d_shift, 64.0) == "");
    CHECK(difference(run.d_parameters[2].values(), expected.d_mean, 8.0) == "");
    CHECK(difference(run.d_parameters[3].values(), expected.d_variance, 8.0) == "");
    CHECK(run.guards_intact());
  }
}

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
      CHECK(difference(run.d_parameters[0].values(), expected.d_gain, 300.0) == "");
      CHECK(difference(run.d_parameters[1].values(), expected.d_shift, 64.0) == "");
      CHECK(difference(run.d_parameters[2].values(), expected.d_mean, 8.0) == "");
      CHECK(difference(run.d_parameters[3].values(), expected.d_variance, 8.0) == "");
    }
    CHECK(run.guards_intact());
    CHECK(divided.rows.guards_intact());
    CHECK(divided.d_rows.guards_intact());
  }
}

TEMPLATE_LIST_TEST_CASE("Gradients of channels add up, with or without an input's", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const ChannelGroups shape{7, 5, 3, 3};
  const Operands given = random_operands<T>(shape);
  Reference expected(shape, given);
  const Run<Exec, T> run(shape, given);

  run.forward(exec);
  run.backward(exec, {});
  run.parameters(exec, Into::replaced);
  run.parameters(exec, Into::added);

  for (Values* sums : {&expected.d_shift, &expected.d_mean, &expected.d_variance}) {
    std::ranges::for_each(*sums, [](double& sum) { sum *= 2.0; });
  }
  CHECK(difference(run.d_parameters[1].values(), expected.d_shift, 16.0) == "");
  CHECK(difference(run.d_parameters[2].values(), expected.d_mean, 16.0) == "");
  CHECK(difference(run.d_parameters[3].values(), expected.d_variance, 16.0) == "");
}

}  // namespace zygos::ops
