// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "c/arrays.hpp"
#include "c/failure.hpp"
#include "c/model.hpp"

#include "zygos/load/saved_model.hpp"

using namespace zygos::c;

int zygos_assign(zygos_model* model, const zygos_weight* weights, int32_t count,
                 zygos_error* error) {
  return guarded(error, [&] { required(model, "model").model.assign(weights_of(weights, count)); });
}

int zygos_reload(zygos_model* model, const char* path, int32_t best, zygos_error* error) {
  return guarded(error, [&] {
    zygos_model& used = required(model, "model");
    const auto checkpoint = zygos::load::load_checkpoint(&required(path, "path"), best != 0);
    used.model.assign(zygos::load::weights_of(checkpoint));
  });
}
