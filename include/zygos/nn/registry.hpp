// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What the deck can name. A line per layer, loss, optimizer and schedule of rates; the deck's
// schema, its reference and the factory all come from that line.
#pragma once

#include "zygos/core/adjacency.hpp"
#include "zygos/deck/schema.hpp"
#include "zygos/deck/value.hpp"
#include "zygos/nn/layer.hpp"
#include "zygos/nn/loss.hpp"
#include "zygos/nn/onnx_reading.hpp"
#include "zygos/nn/optimizer.hpp"
#include "zygos/nn/rate_schedule.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace zygos::nn {

/// A deck keyword with its options and the factory that reads them.
template <class Product>
struct Entry {
  deck::Schema schema;  ///< name, documentation and keys
  std::function<Product(const deck::Section&)> make;
  OnnxReading onnx{};  ///< of layers and losses; no operators: it is not found in models of ONNX
  bool needs_evaluations = false;  ///< of schedules of rates: they go by the loss of evaluations
};

/// `of_data`: the graph that layers take which are not given one.
std::vector<Entry<LayerPtr>> layer_registry(const SampleGraph& of_data = {});
/// How many labels of the training set each class has, counted when somebody asks.
using LabelCounts = std::function<std::vector<std::int64_t>()>;
/// Without `of_data` a loss that goes by the counts can be made and checked, but not computed.
std::vector<Entry<LossPtr>> loss_registry(const LabelCounts& of_data = {});
std::vector<Entry<OptimizerPtr>> optimizer_registry();
std::vector<Entry<RateSchedulePtr>> rate_schedule_registry();

}  // namespace zygos::nn
