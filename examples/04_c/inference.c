/* SPDX-FileCopyrightText: 2026 The Zygos authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Predicts with a trained run on arrays of a program in C.
 *
 *   c RUN_DIR     a run of `zygos train inputs/surrogate_mlp.yaml`, say
 *   c             a linear network whose weights are written in linear_network.h */
#include "linear_network.h"

#include "zygos/zygos.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program where a call has failed. */
static void require(int code, const zygos_error* error) {
  if (code != ZYGOS_OK) {
    fprintf(stderr, "%s\n", error->message);
    exit(code);
  }
}

int main(int argc, char** argv) {
  enum { cells = 10000 };
  static double tensors[cells][6];
  static float invariants[3][cells]; /* a field for each invariant: column major */
  zygos_session* session = NULL;
  zygos_model* model = NULL;
  zygos_error error;
  double sum = 0.0;

  for (int i = 0; i < cells; ++i) {
    for (int k = 0; k < 6; ++k) {
      tensors[i][k] = sin(0.37 * i * (k + 1));
    }
  }

  /* 1. Kokkos, with all cores, unless the program has initialised it. */
  require(zygos_initialize(0, &session, &error), &error);

  /* 2. The model: of a run's newest checkpoint, or from memory. */
  if (argc > 1) {
    require(zygos_load(session, argv[1], NULL, &model, &error), &error);
  } else {
    require(create_linear_network(session, &model, &error), &error);
  }

  /* 3. Any floating-point type and any strides, whatever the model computes in. */
  const zygos_array input = {tensors, ZYGOS_FLOAT64, 2, {cells, 6}, {0}};
  const zygos_array output = {invariants, ZYGOS_FLOAT32, 2, {cells, 3}, {1, cells}};
  require(zygos_predict(model, &input, 1, &output, &error), &error);

  for (int i = 0; i < cells; ++i) {
    sum += fabs(invariants[0][i] - (tensors[i][0] + tensors[i][1] + tensors[i][2]));
  }
  printf("%d cells on %d threads, mean error of the trace %.3f\n", cells, zygos_threads(session),
         sum / cells);

  /* 4. Models first. */
  zygos_free(model);
  require(zygos_finalize(session, &error), &error);
  return argc > 1 || sum / cells < 1e-6 ? 0 : 1;
}
