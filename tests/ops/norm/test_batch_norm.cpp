// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/norm/batch_norm_case.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>

namespace zygos::ops::test_batch_norm {

using testing::Buffer;
using testing::difference;
using testing::make_exec;

TEMPLATE_LIST_TEST_CASE("A normalised channel is what a pencil says", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  // Two samples, two channels: 1 and 3, mean 2 and variance 1; -5 and -5, so only epsilon is left.
  const Buffer<Exec, T> x(Values{1, -5, 3, -5});
  const Buffer<Exec, T> gamma(Values{2, 10});
  const Buffer<Exec, T> beta(Values{0.5, -1});
  const Buffer<Exec, T> y(4);
  const Buffer<Exec, T> moments(4);

  batch_norm<Exec, T>(exec, {2, 2, 1, 2}, x.const_vector(), gamma.const_vector(),
                      beta.const_vector(), 0.5625, y.vector(), moments.vector());
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

    // Two elements that lie close are far apart once they are normalised.
    CHECK(difference(run.y.values(), expected.y, 100.0) == "");
    CHECK(difference(run.by.values(), expected.by, 100.0) == "");
    CHECK(difference(run.d_x.values(), expected.d_x, 1000.0) == "");
    CHECK(difference(run.d_parameters[0].values(), expected.d_gamma, 300.0) == "");
    CHECK(difference(run.d_parameters[1].values(), expected.d_beta, 64.0) == "");
    CHECK(difference(run.d_parameters[2].values(), expected.d_mean, 8.0) == "");
    CHECK(difference(run.d_parameters[3].values(), expected.d_variance, 8.0) == "");
    CHECK(run.guards_intact());
  }
}

TEMPLATE_LIST_TEST_CASE("Gradients of channels sum, with or without an input's", "",
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

  for (Values* sums : {&expected.d_beta, &expected.d_mean, &expected.d_variance}) {
    std::ranges::for_each(*sums, [](double& sum) { sum *= 2.0; });
  }
  CHECK(difference(run.d_parameters[1].values(), expected.d_beta, 16.0) == "");
  CHECK(difference(run.d_parameters[2].values(), expected.d_mean, 16.0) == "");
  CHECK(difference(run.d_parameters[3].values(), expected.d_variance, 16.0) == "");
}

}  // namespace zygos::ops::test_batch_norm
