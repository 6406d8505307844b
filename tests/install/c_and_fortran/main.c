/* SPDX-FileCopyrightText: 2026 The Zygos authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * C owns the session that initialised Kokkos, and calls a closure in Fortran that has its own. */
#include "zygos/zygos.h"

#include <stddef.h>
#include <stdio.h>

int closure(int n, const double* states, double* out);

static const char deck[] =
    "deck_version: 1\n"
    "data: {format: synthetic, function: invariants, samples: 1}\n"
    "model: {layers: [{name: sum, type: dense, units: 1}], loss: mse}\n"
    "optimizer: sgd\n"
    "lanes: {host: {kind: host}}\n"
    "policy: single\n"
    "train: {epochs: 1, batch: 1}\n";

/* out = x0 + 2 x1 */
static int predict(zygos_session* session, const zygos_array* x, const zygos_array* y,
                   zygos_error* error) {
  static double kernel[2] = {1.0, 2.0}, bias[1] = {0.0};
  const zygos_weight weights[] = {{"sum/kernel", {kernel, ZYGOS_FLOAT64, 2, {2, 1}, {0}}},
                                  {"sum/bias", {bias, ZYGOS_FLOAT64, 1, {1}, {0}}}};
  const zygos_network network = {deck, 1, 2, {2}, weights};
  zygos_model* model = NULL;
  int code = zygos_create(session, &network, NULL, &model, error);
  if (code == ZYGOS_OK) {
    code = zygos_predict(model, x, 1, y, error);
  }
  zygos_free(model);
  return code;
}

int main(void) {
  enum { n = 5 };
  double states[n][2], mine[n], theirs[n];
  zygos_session* session = NULL;
  zygos_error error = {0, ""};
  for (int i = 0; i < n; ++i) {
    states[i][0] = i;
    states[i][1] = 10 * i;
  }
  const zygos_array x = {states, ZYGOS_FLOAT64, 2, {n, 2}, {0}};
  const zygos_array y = {mine, ZYGOS_FLOAT64, 1, {n}, {0}};
  if (zygos_initialize(1, &session, &error) != ZYGOS_OK ||
      predict(session, &x, &y, &error) != ZYGOS_OK || closure(n, &states[0][0], theirs) != 0 ||
      predict(session, &x, &y, &error) != ZYGOS_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  for (int i = 0; i < n; ++i) {
    if (mine[i] != 21 * i || theirs[i] != 21 * i) {
      fprintf(stderr, "state %d: C %g, Fortran %g\n", i, mine[i], theirs[i]);
      return 1;
    }
  }
  return zygos_finalize(session, &error);
}
