// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What the registry collects: every layer, loss, optimizer and schedule declares its own deck
// keyword, in the file that implements it.
#pragma once

#include "zygos/nn/layers.hpp"
#include "zygos/nn/registry.hpp"

namespace zygos::nn {

Entry<LayerPtr> dense_entry();
Entry<LayerPtr> conv1d_entry();
Entry<LayerPtr> conv2d_entry();
Entry<LayerPtr> conv_transpose2d_entry();
Entry<LayerPtr> max_pool2d_entry();
Entry<LayerPtr> average_pool2d_entry();
Entry<LayerPtr> upsample_entry();
Entry<LayerPtr> reshape_entry();
Entry<LayerPtr> flatten_entry();
Entry<LayerPtr> activation_entry(Activation which);
Entry<LayerPtr> leaky_relu_entry();
Entry<LayerPtr> dropout_entry();
Entry<LayerPtr> batch_norm_entry();
Entry<LayerPtr> layer_norm_entry();
Entry<LayerPtr> lrn_entry();
Entry<LayerPtr> embedding_entry();
Entry<LayerPtr> positions_entry();
Entry<LayerPtr> causal_attention_entry();
Entry<LayerPtr> graph_conv_entry(const SampleGraph& of_data);
Entry<LayerPtr> add_entry();
Entry<LayerPtr> concat_entry();

Entry<LossPtr> cross_entropy_entry();
Entry<LossPtr> mean_squared_error_entry();
Entry<LossPtr> mean_absolute_error_entry();
Entry<LossPtr> binary_cross_entropy_entry();
Entry<LossPtr> dice_entry();

Entry<OptimizerPtr> sgd_entry();
Entry<OptimizerPtr> adam_entry();
Entry<OptimizerPtr> adamw_entry();
Entry<OptimizerPtr> adagrad_entry();
Entry<OptimizerPtr> rmsprop_entry();
/// With a key more: the norm that gradients are clipped to.
Entry<OptimizerPtr> may_clip(Entry<OptimizerPtr> entry);

Entry<RateSchedulePtr> constant_rate_entry();
Entry<RateSchedulePtr> step_rate_entry();
Entry<RateSchedulePtr> milestone_rate_entry();
Entry<RateSchedulePtr> cosine_rate_entry();

}  // namespace zygos::nn
