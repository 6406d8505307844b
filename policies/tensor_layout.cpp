// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor_layout.hpp"

#include <algorithm>
#include <utility>

namespace zygos::policies {
namespace {

using schedule::ModelOutline;
using schedule::NodeOutline;

const NodeOutline& node_of(const ModelOutline& model, std::int32_t node) {
  return model.nodes[static_cast<std::size_t>(node)];
}

std::vector<std::vector<std::int32_t>> readers_of(const ModelOutline& model) {
  std::vector<std::vector<std::int32_t>> readers(model.nodes.size());
  for (std::int32_t reader = 0; reader < model.node_count(); ++reader) {
    for (const std::int32_t input : node_of(model, reader).inputs) {
      if (input >= 0) {
        readers[static_cast<std::size_t>(input)].push_back(reader);
      }
    }
  }
  return readers;
}

std::int64_t units_of(const ModelOutline& model, const TensorBlock& block) {
  return node_of(model, block.front()).shards.outputs.units;
}

/// The block that begins with a node, or why there is none.
struct Attempt {
  TensorBlock block{};
  std::string why{};
};

Attempt block_from(const ModelOutline& model, const std::vector<std::vector<std::int32_t>>& readers,
                   std::int32_t first, std::int64_t lanes) {
  Attempt attempt{{first}, {}};
  const std::int64_t units = units_of(model, attempt.block);
  if (units == 0) {
    return {{}, "can't be cut by columns"};
  }
  if (units < lanes) {
    return {{}, "has " + std::to_string(units) + " units for " + std::to_string(lanes) + " lanes"};
  }
  while (attempt.block.size() == 1 ||
         node_of(model, attempt.block.back()).shards.inputs.units == 0) {
    const auto& next = readers[static_cast<std::size_t>(attempt.block.back())];
    if (next.size() != 1) {
      return {{},
              "is not followed by one layer that is cut by rows: '" +
                  node_of(model, attempt.block.back()).name + "' is read by " +
                  std::to_string(next.size()) + " layers"};
    }
    const NodeOutline& reader = node_of(model, next.front());
    if (reader.shards.inputs.units != units && reader.shards.elements != units) {
      return {{},
              "is followed by '" + reader.name +
                  "', which can neither be cut by rows nor by elements, as what it reads is"};
    }
    attempt.block.push_back(next.front());
  }
  return attempt;
}

}  // namespace

TensorBlocks tensor_blocks(const ModelOutline& model, std::int64_t lanes) {
  const auto readers = readers_of(model);
  TensorBlocks found;
  std::vector<bool> taken(model.nodes.size(), false);
  for (std::int32_t node = 0; node < model.node_count(); ++node) {
    if (taken[static_cast<std::size_t>(node)] || node_of(model, node).parameters.count() == 0) {
      continue;
    }
    Attempt attempt = block_from(model, readers, node, lanes);
    for (const std::int32_t part : attempt.block) {
      taken[static_cast<std::size_t>(part)] = true;
    }
    if (!attempt.block.empty()) {
      found.blocks.push_back(std::move(attempt.block));
    } else {
      found.reasons += "\n  layer '" + node_of(model, node).name + "' " + attempt.why;
    }
  }
  return found;
}

TensorLayout::TensorLayout(const ModelOutline& model, std::vector<TensorBlock> blocks,
                           std::vector<std::vector<std::int64_t>> bounds)
    : model_(model), blocks_(std::move(blocks)), bounds_(std::move(bounds)) {
  std::int32_t done = 0;
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    done = add_whole(block, done);
    add_block(block);
  }
  add_whole(blocks_.size(), done);
}

bool TensorLayout::in_block(std::int32_t node) const {
  return std::ranges::any_of(blocks_, [&](const TensorBlock& block) {
    return std::ranges::find(block, node) != block.end();
  });
}

void TensorLayout::end_stage(std::size_t lane, std::size_t begin) {
  if (begin < slices_.size()) {
    stages_.push_back(
        {lane, {static_cast<std::int32_t>(begin), static_cast<std::int32_t>(slices_.size())}});
  }
}

std::int32_t TensorLayout::add_whole(std::size_t block, std::int32_t from) {
  const std::size_t begin = slices_.size();
  if (block > 0) {
    add_sum(blocks_[block - 1].back());
  }
  const std::int32_t end = block < blocks_.size() ? blocks_[block].front() : model_.node_count();
  for (std::int32_t node = from; node < end; ++node) {
    if (!in_block(node)) {
      slices_.push_back({node_of(model_, node).name, node, SliceKind::whole, 0, 0, 0});
    }
  }
  if (block < blocks_.size()) {
    add_copies(block);
  }
  end_stage(0, begin);
  return std::max(from, end);
}

void TensorLayout::add_sum(std::int32_t second) {
  const NodeOutline& node = node_of(model_, second);
  const bool fused = node.shards.has_epilogue;
  slices_.push_back({node.name + (fused ? ".sum" : ""), second, SliceKind::sum, 0, 0, 0});
  if (fused) {
    slices_.push_back({node.name, second, SliceKind::epilogue, 0, 0, 0});
  }
}

void TensorLayout::add_copies(std::size_t block) {
  const std::int32_t first = blocks_[block].front();
  const std::int32_t source = node_of(model_, first).inputs.front();
  const bool wanted = source >= 0 && node_of(model_, source).has_backward;
  for (std::size_t lane = 1; wanted && lane < lanes(); ++lane) {
    slices_.push_back({node_of(model_, first).name + ".in." + std::to_string(lane), source,
                       SliceKind::copy, bounds_[block][lane], bounds_[block][lane + 1],
                       bounds_[block].back()});
  }
}

void TensorLayout::add_block(std::size_t block) {
  for (std::size_t turn = 1; turn <= lanes(); ++turn) {
    const std::size_t lane = turn % lanes();  // the first one comes last
    const std::size_t begin = slices_.size();
    for (const std::int32_t node : blocks_[block]) {
      const SliceKind kind = node == blocks_[block].front()  ? SliceKind::outputs
                             : node == blocks_[block].back() ? SliceKind::inputs
                                                             : SliceKind::elements;
      slices_.push_back({node_of(model_, node).name + "." + std::to_string(lane), node, kind,
                         bounds_[block][lane], bounds_[block][lane + 1], bounds_[block].back()});
    }
    end_stage(lane, begin);
  }
}

}  // namespace zygos::policies
