// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The C interface and the command line predict the same bits.
#include "app/predicted_run.hpp"
#include "c_samples.hpp"

namespace zygos::test_c_program {
using namespace zygos::test;

TEST_CASE("A model of C in blocks of the training batch has the bits of zygos predict", "[c]") {
  const PredictedRun run("float32");
  const PredictedRun wide("float64");
  const Session session;
  std::vector<float> y(PredictedRun::count * targets);
  std::vector<double> wide_y(PredictedRun::count * targets);
  const auto x = run.inputs();
  const zygos_array input = array_of(x.data(), {PredictedRun::count, features});

  predict(session.load(run.folder(), {.block = PredictedRun::batch}), {input},
          array_of(y.data(), {PredictedRun::count, targets}));
  predict(session.load(wide.folder(), {.block = PredictedRun::batch}), {input},
          array_of(wide_y.data(), {PredictedRun::count, targets}));

  CHECK(y == run.outputs<float>());
  CHECK(wide_y == wide.outputs<double>());
}

}  // namespace zygos::test_c_program
