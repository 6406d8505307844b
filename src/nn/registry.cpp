// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/nn/registry.hpp"

#include "nn/entries.hpp"

namespace zygos::nn {

std::vector<Entry<LayerPtr>> layer_registry(const SampleGraph& of_data) {
  return {
      dense_entry(),
      conv1d_entry(),
      conv2d_entry(),
      conv_transpose2d_entry(),
      max_pool2d_entry(),
      average_pool2d_entry(),
      upsample_entry(),
      reshape_entry(),
      flatten_entry(),
      activation_entry(Activation::relu),
      activation_entry(Activation::tanh),
      activation_entry(Activation::sigmoid),
      activation_entry(Activation::gelu),
      leaky_relu_entry(),
      dropout_entry(),
      batch_norm_entry(),
      layer_norm_entry(),
      lrn_entry(),
      embedding_entry(),
      positions_entry(),
      causal_attention_entry(),
      graph_conv_entry(of_data),
      add_entry(),
      concat_entry(),
  };
}

std::vector<Entry<LossPtr>> loss_registry() {
  return {
      cross_entropy_entry(),
      mean_squared_error_entry(),
      mean_absolute_error_entry(),
      binary_cross_entropy_entry(),
      dice_entry(),
  };
}

std::vector<Entry<OptimizerPtr>> optimizer_registry() {
  return {
      may_clip(sgd_entry()),     may_clip(adam_entry()),    may_clip(adamw_entry()),
      may_clip(adagrad_entry()), may_clip(rmsprop_entry()),
  };
}

std::vector<Entry<RateSchedulePtr>> rate_schedule_registry() {
  return {
      constant_rate_entry(),
      step_rate_entry(),
      milestone_rate_entry(),
      cosine_rate_entry(),
  };
}

}  // namespace zygos::nn
