// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/nn/registry.hpp"

#include "nn/entries.hpp"

namespace zygos::nn {

std::vector<Entry<LayerPtr>> layer_registry(const SampleGraph& of_data) {
  return {
#define ZYGOS_LAYER(name) name##_entry(),
#define ZYGOS_GRAPH_LAYER(name) name##_entry(of_data),
#include "nn/layers/registry.inc"
#undef ZYGOS_LAYER
#undef ZYGOS_GRAPH_LAYER
  };
}

std::vector<Entry<LossPtr>> loss_registry(const LabelCounts& of_data) {
  return {
#define ZYGOS_LOSS(name) name##_entry(),
#define ZYGOS_LABEL_LOSS(name) name##_entry(of_data),
#include "nn/loss/registry.inc"
#undef ZYGOS_LOSS
#undef ZYGOS_LABEL_LOSS
  };
}

std::vector<Entry<OptimizerPtr>> optimizer_registry() {
  return {
#define ZYGOS_OPTIMIZER(name) with_clip_norm(name##_entry()),
#include "nn/optim/registry.inc"
#undef ZYGOS_OPTIMIZER
  };
}

std::vector<Entry<RateSchedulePtr>> rate_schedule_registry() {
  return {
#define ZYGOS_RATE_SCHEDULE(name) name##_entry(),
#include "nn/rate/registry.inc"
#undef ZYGOS_RATE_SCHEDULE
  };
}

}  // namespace zygos::nn
