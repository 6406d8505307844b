// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The deck entries that the registries collect. Each is defined in the file of its layer, loss,
// optimizer or schedule; the lists are the four registry.inc.
#pragma once

#include "zygos/nn/layers.hpp"
#include "zygos/nn/registry.hpp"

namespace zygos::nn {

#define ZYGOS_LAYER(name) Entry<LayerPtr> name##_entry();
#define ZYGOS_GRAPH_LAYER(name) Entry<LayerPtr> name##_entry(const SampleGraph& of_data);
#include "nn/layers/registry.inc"
#undef ZYGOS_LAYER
#undef ZYGOS_GRAPH_LAYER

#define ZYGOS_LOSS(name) Entry<LossPtr> name##_entry();
#define ZYGOS_LABEL_LOSS(name) Entry<LossPtr> name##_entry(const LabelCounts& of_data);
#include "nn/loss/registry.inc"
#undef ZYGOS_LOSS
#undef ZYGOS_LABEL_LOSS

#define ZYGOS_OPTIMIZER(name) Entry<OptimizerPtr> name##_entry();
#include "nn/optim/registry.inc"
#undef ZYGOS_OPTIMIZER

#define ZYGOS_RATE_SCHEDULE(name) Entry<RateSchedulePtr> name##_entry();
#include "nn/rate/registry.inc"
#undef ZYGOS_RATE_SCHEDULE

/// The entry with one key more: the norm that gradients are clipped to.
Entry<OptimizerPtr> with_clip_norm(Entry<OptimizerPtr> entry);

}  // namespace zygos::nn
