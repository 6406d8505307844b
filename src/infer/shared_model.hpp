// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "infer/block_size.hpp"
#include "infer/evaluation.hpp"
#include "infer/unit_standards.hpp"
#include "infer/weights.hpp"

#include "zygos/core/error.hpp"
#include "zygos/infer/model.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

namespace zygos::infer {

/// What models that share weights have in common.
class SharedModel {
 public:
  SharedModel(const graph::Graph& graph, std::span<const Weight> weights, const Options& options)
      : graph_(checked(graph, options)),
        dtype_(options.dtype),
        block_(options.block > 0 ? options.block
                                 : std::max(block_size(graph_, options.dtype), options.min_block)),
        evaluation_(graph_, options.dtype),
        constants_(graph_, wide(options.dtype)),
        standards_(graph_.input_shape(), options.inputs, graph_.output_shape(), options.outputs),
        weights_(flat_weights(graph_, wide(options.dtype), weights)) {}

  const graph::Graph& graph() const noexcept { return graph_; }
  DType dtype() const noexcept { return dtype_; }
  std::int64_t block() const noexcept { return block_; }
  const Evaluation& evaluation() const noexcept { return evaluation_; }
  Constants& constants() noexcept { return constants_; }
  UnitStandards& standards() noexcept { return standards_; }

  /// Changes with every assign().
  std::uint64_t version() const noexcept { return version_.load(std::memory_order_acquire); }
  std::shared_ptr<SharedBlock> weights() const {
    const std::lock_guard lock(mutex_);
    return weights_;
  }
  void assign(std::span<const Weight> weights) {
    auto block = flat_weights(graph_, wide(dtype_), weights);
    const std::lock_guard lock(mutex_);
    weights_ = std::move(block);
    version_.fetch_add(1, std::memory_order_release);
  }

 private:
  static const graph::Graph& checked(const graph::Graph& graph, const Options& options) {
    if (options.block < 0) {
      throw UsageError("a block of " + std::to_string(options.block) +
                       " samples; it must be 1 or more, or 0 to let the model choose");
    }
    static_cast<void>(graph.output_shape());  // throws if there is none
    graph.require_precision(options.dtype);
    return graph;
  }

  const graph::Graph graph_;
  const DType dtype_;
  const std::int64_t block_;
  const Evaluation evaluation_;
  Constants constants_;
  UnitStandards standards_;
  mutable std::mutex mutex_;
  std::shared_ptr<SharedBlock> weights_;
  std::atomic<std::uint64_t> version_{1};
};

}  // namespace zygos::infer
