/* SPDX-FileCopyrightText: 2026 The Zygos authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program in C without Kokkos: the first session brings it up, and takes it down again. */
#include "zygos/zygos.h"

#include <stdio.h>
#include <string.h>

static int failures = 0;

static void check(int holds, const char* what, const zygos_error* error) {
  if (!holds) {
    fprintf(stderr, "failed: %s (%s)\n", what, error->message);
    ++failures;
  }
}

static const char* const deck =
    "deck_version: 1\n"
    "data: {format: synthetic, function: invariants, samples: 8}\n"
    "model: {layers: [{name: sum, type: dense, units: 1}], loss: mse}\n"
    "optimizer: adam\n"
    "lanes: {host: {kind: host}}\n"
    "policy: single\n"
    "train: {batch: 4, epochs: 1}\n";

/* y = x0 + x1 + 0.5 */
static int create(zygos_session* session, zygos_model** model, zygos_error* error) {
  static float kernel[2] = {1.0F, 1.0F};
  static float bias[1] = {0.5F};
  const zygos_weight weights[] = {{"sum/kernel", {kernel, ZYGOS_FLOAT32, 2, {2, 1}, {0}}},
                                  {"sum/bias", {bias, ZYGOS_FLOAT32, 1, {1}, {0}}}};
  const zygos_network network = {deck, 1, 2, {2}, weights};
  return zygos_create(session, &network, NULL, model, error);
}

static void predict(zygos_model* model, zygos_error* error) {
  double x[4][2] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  float y[4] = {0};
  const zygos_array input = {x, ZYGOS_FLOAT64, 2, {4, 2}, {0}};
  const zygos_array output = {y, ZYGOS_FLOAT32, 1, {4}, {0}};
  int i;
  check(zygos_predict(model, &input, 1, &output, error) == ZYGOS_OK, "predict", error);
  for (i = 0; i < 4; ++i) {
    check(y[i] == 4.0F * (float)i + 3.5F, "the value of a prediction", error);
  }
}

int main(void) {
  zygos_session* session = NULL;
  zygos_session* second = NULL;
  zygos_model* model = NULL;
  zygos_error error = {0, ""};

  check(zygos_initialize(2, &session, &error) == ZYGOS_OK, "initialize", &error);
  check(zygos_threads(session) == 2, "two threads", &error);
  check(zygos_initialize(0, &second, &error) == ZYGOS_OK, "initialize again", &error);
  check(zygos_threads(second) == 2, "the threads of Kokkos", &error);
  check(create(session, &model, &error) == ZYGOS_OK, "create", &error);
  predict(model, &error);

  check(zygos_finalize(second, &error) == ZYGOS_OK, "finalize the second one", &error);
  predict(model, &error);
  check(zygos_finalize(session, &error) == ZYGOS_ERROR_USAGE, "finalize with a model", &error);
  zygos_free(model);
  check(zygos_finalize(session, &error) == ZYGOS_OK, "finalize", &error);

  check(zygos_initialize(1, &session, &error) == ZYGOS_ERROR_USAGE, "Kokkos begins once", &error);
  check(strstr(error.message, "finalised") != NULL, "its message", &error);
  return failures == 0 ? 0 : 1;
}
