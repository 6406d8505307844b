// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A program in Fortran predicts the bits of the command line.
#include "app/predicted_run.hpp"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

namespace zygos::test_fortran_program {
using namespace zygos::test;

TEST_CASE("A model of Fortran in blocks of the training batch has the bits of zygos predict",
          "[fortran]") {
  for (const std::string precision : {"float32", "float64"}) {
    const PredictedRun run(precision);
    Process program({run.folder().string(), "in.npy", "out.npy", precision}, run.scratch(),
                    ZYGOS_FORTRAN_PROGRAM);
    const Outcome outcome = program.wait();
    CAPTURE(precision, outcome.out, outcome.err);
    CHECK(outcome.code == 0);
    CHECK(outcome.out.find("450 equal elements") != std::string::npos);
  }
}

}  // namespace zygos::test_fortran_program
