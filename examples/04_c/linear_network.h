/* SPDX-FileCopyrightText: 2026 The Zygos authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A model without files: the text of a deck and named weights. Its first output is the trace of a
 * symmetric tensor (xx, yy, zz, yz, xz, xy), the two others are 0. */
#ifndef LINEAR_NETWORK_H
#define LINEAR_NETWORK_H

#include "zygos/zygos.h"

#include <stddef.h>

static int create_linear_network(zygos_session* session, zygos_model** model, zygos_error* error) {
  static const char deck[] =
      "deck_version: 1\n"
      "data: {format: synthetic, function: invariants, samples: 1}\n"
      "model: {layers: [{name: linear, type: dense, units: 3}], loss: mse}\n"
      "optimizer: sgd\n"
      "lanes: {host: {kind: host}}\n"
      "policy: single\n"
      "train: {epochs: 1, batch: 1}\n";
  static float kernel[6][3] = {{1.0F}, {1.0F}, {1.0F}}; /* (inputs, units) */
  static float bias[3] = {0.0F};
  const zygos_weight weights[] = {{"linear/kernel", {kernel, ZYGOS_FLOAT32, 2, {6, 3}, {0}}},
                                  {"linear/bias", {bias, ZYGOS_FLOAT32, 1, {3}, {0}}}};
  const zygos_network network = {deck, 1, 2, {6}, weights};
  return zygos_create(session, &network, NULL, model, error);
}

#endif
