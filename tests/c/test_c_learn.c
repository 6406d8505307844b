/* SPDX-FileCopyrightText: 2026 The Zygos authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program in C without Kokkos that trains a surrogate, restarts it, and asks it. */
#include "zygos/zygos_insitu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { cells = 400 };

static int failures = 0;

static void check(int holds, const char* what, const zygos_error* error) {
  if (!holds) {
    fprintf(stderr, "failed: %s (%s)\n", what, error->message);
    ++failures;
  }
}

/* f = (x0 x1, x0 + x1^2) */
static void fill(double (*x)[2], double (*f)[2], int period) {
  int i;
  for (i = 0; i < cells; ++i) {
    x[i][0] = sin(0.37 * i + period);
    x[i][1] = cos(0.11 * i * (period + 1));
    f[i][0] = x[i][0] * x[i][1];
    f[i][1] = x[i][0] + x[i][1] * x[i][1];
  }
}

static zygos_surrogate* create(zygos_session* session, zygos_error* error) {
  static const int64_t hidden[] = {24, 24};
  zygos_surrogate_options options = {0};
  zygos_surrogate* made = NULL;
  options.inputs = 2;
  options.outputs = 2;
  options.hidden = hidden;
  options.hidden_count = 2;
  options.learning_rate = 3e-3;
  options.batch = 64;
  options.capacity = 5000;
  check(zygos_surrogate_create(session, &options, &made, error) == ZYGOS_OK, "create", error);
  return made;
}

static void learn(zygos_surrogate* net, int first, int last, zygos_error* error) {
  static double x[cells][2], f[cells][2];
  const zygos_array inputs = {x, ZYGOS_FLOAT64, 2, {cells, 2}, {0}};
  const zygos_array targets = {f, ZYGOS_FLOAT64, 2, {cells, 2}, {0}};
  int period;
  for (period = first; period < last; ++period) {
    zygos_training training;
    fill(x, f, period);
    check(zygos_surrogate_add(net, &inputs, 1, &targets, 1, error) == ZYGOS_OK, "add", error);
    check(zygos_surrogate_train(net, 0, 150, &training, error) == ZYGOS_OK, "train", error);
    check(training.steps == 150 && training.refused == 0, "its steps", error);
  }
}

/* A second surrogate that goes on where the first one is. */
static zygos_surrogate* restart(zygos_session* session, zygos_surrogate* net, zygos_error* error) {
  zygos_surrogate* second = create(session, error);
  int64_t bytes = 0;
  void* buffer;
  check(zygos_surrogate_state_bytes(net, &bytes, error) == ZYGOS_OK, "state_bytes", error);
  buffer = malloc((size_t)bytes);
  check(zygos_surrogate_save_state(net, buffer, bytes, error) == ZYGOS_OK, "save", error);
  check(zygos_surrogate_restore_state(second, buffer, bytes, error) == ZYGOS_OK, "restore", error);
  free(buffer);
  return second;
}

static void predict(zygos_surrogate* net, float (*y)[2], zygos_error* error) {
  static double x[cells][2], f[cells][2];
  zygos_array inputs = {x, ZYGOS_FLOAT64, 2, {cells, 2}, {0}};
  zygos_array outputs = {y, ZYGOS_FLOAT32, 2, {cells, 2}, {0}};
  int i;
  fill(x, f, 99);
  check(zygos_surrogate_predict(net, &inputs, 1, &outputs, 1, error) == ZYGOS_OK, "predict", error);
  for (i = 0; i < cells; ++i) {
    check(fabs(y[i][0] - f[i][0]) < 0.2 && fabs(y[i][1] - f[i][1]) < 0.2, "a prediction", error);
  }
}

int main(void) {
  static float one[cells][2], other[cells][2];
  zygos_session* session = NULL;
  zygos_surrogate* net;
  zygos_surrogate* second;
  zygos_validation validation = {0, 0, 0};
  double errors[2] = {0, 0};
  zygos_error error = {0, ""};
  int i;

  check(zygos_initialize(2, &session, &error) == ZYGOS_OK, "initialize", &error);
  net = create(session, &error);
  check(zygos_surrogate_validate(net, &validation, errors, 2, &error) == ZYGOS_OK, "validate",
        &error);
  check(validation.samples == 0 && isinf(validation.relative_error), "no error yet", &error);
  learn(net, 0, 4, &error);
  second = restart(session, net, &error);
  learn(net, 4, 8, &error);
  learn(second, 4, 8, &error);
  zygos_surrogate_validate(net, &validation, errors, 2, &error);
  check(validation.samples > 300 && validation.relative_error < 0.05, "the error", &error);
  check(errors[0] > 0 && errors[0] < 0.1 && errors[1] > 0 && errors[1] < 0.1, "by output", &error);
  predict(net, one, &error);
  predict(second, other, &error);
  for (i = 0; i < cells; ++i) {
    check(one[i][0] == other[i][0] && one[i][1] == other[i][1], "bits of a restart", &error);
  }
  zygos_surrogate_free(second);
  zygos_surrogate_free(net);
  check(zygos_finalize(session, &error) == ZYGOS_OK, "finalize", &error);
  return failures == 0 ? 0 : 1;
}
