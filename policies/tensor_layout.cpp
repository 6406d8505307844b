// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor_layout.hpp"

#include <algorithm>
#include <numeric>
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

/// A block as far as it goes: how the last node's output is cut, as (outer, units, inner).
struct Growing {
  TensorBlock block{};
  CutAxis cut{};
};

/// True if the tensor, cut as it is, has whole units of the reader's axis in every slice.
bool fits(const CutAxis& cut, const CutAxis& axis) {
  return axis.units > 0 &&
         cut.outer * cut.units * cut.inner == axis.outer * axis.units * axis.inner &&
         cut.outer % axis.outer == 0 && cut.inner % axis.inner == 0;
}

/// Cuts units into `parts` with a range of each on a lane, as attention has to have queries, keys
/// and values.
bool divide_units(Growing& growing, std::int64_t parts) {
  if (growing.cut.units % (parts * growing.block.together) != 0) {
    return false;
  }
  for (TensorBlockNode& node : growing.block.nodes) {
    node.parts *= parts;
  }
  growing.block.units /= parts;
  growing.cut.outer *= parts;
  growing.cut.units /= parts;
  return true;
}

/// Appends a node that is cut along the axes of `form`; false if it cannot be as what it reads is.
bool append(Growing& growing, std::int32_t node, const ShardForm& form) {
  Growing grown = growing;
  const std::int64_t outer = form.input.outer;
  if (form.units() > 0 && outer > grown.cut.outer && outer % grown.cut.outer == 0 &&
      !divide_units(grown, outer / grown.cut.outer)) {
    return false;
  }
  if (!fits(grown.cut, form.input)) {
    return false;
  }
  const std::int64_t parts = grown.cut.outer / form.input.outer;
  const std::int64_t width = grown.cut.inner / form.input.inner;
  if (form.together % width != 0 && width % form.together != 0) {
    return false;
  }
  const std::int64_t together = std::max<std::int64_t>(1, form.together / width);
  grown.block.together = std::lcm(grown.block.together, together);
  grown.block.nodes.push_back({node, parts});
  grown.cut = {parts * form.output.outer, grown.cut.units, width * form.output.inner};
  growing = std::move(grown);
  return true;
}

/// The block that begins with a node, or why there is none.
struct Attempt {
  TensorBlock block{};
  std::string why{};
};

/// Goes on to the second layer; says why if there is none.
std::string complete(Growing& growing, const ModelOutline& model,
                     const std::vector<std::vector<std::int32_t>>& readers) {
  for (bool complete = false; !complete;) {
    const std::int32_t last = growing.block.last();
    const auto& next = readers[static_cast<std::size_t>(last)];
    if (next.size() != 1) {
      return "is not followed by one layer that is cut by rows: '" + node_of(model, last).name +
             "' is read by " + std::to_string(next.size()) + " layers";
    }
    const NodeOutline& reader = node_of(model, next.front());
    complete = append(growing, next.front(), reader.shards.inputs.form);
    if (!complete && !append(growing, next.front(), reader.shards.elements.form)) {
      return "is followed by '" + reader.name +
             "', which can neither be cut by rows nor by elements, as what it reads is";
    }
  }
  return {};
}

Attempt block_from(const ModelOutline& model, const std::vector<std::vector<std::int32_t>>& readers,
                   std::int32_t first, std::int64_t lanes) {
  const ShardForm& form = node_of(model, first).shards.outputs.form;
  if (form.units() == 0) {
    return {{}, "can't be cut by columns"};
  }
  Growing growing{{{{first, 1}}, form.units(), 1}, form.output};
  const std::string why = complete(growing, model, readers);
  if (!why.empty()) {
    return {{}, why};
  }
  const std::int64_t pieces = growing.block.pieces();
  if (pieces < lanes) {
    const bool single = growing.block.together == 1;
    return {{},
            "has " + std::to_string(pieces) + (single ? " units" : " heads") + " for " +
                std::to_string(lanes) + " lanes"};
  }
  return {std::move(growing.block), {}};
}

}  // namespace

TensorBlocks tensor_blocks(const ModelOutline& model, std::int64_t lanes, std::int32_t from) {
  const auto readers = readers_of(model);
  TensorBlocks found;
  std::vector<bool> taken(model.nodes.size(), false);
  for (std::int32_t node = from; node < model.node_count(); ++node) {
    if (taken[static_cast<std::size_t>(node)] || node_of(model, node).parameters.count() == 0) {
      continue;
    }
    Attempt attempt = block_from(model, readers, node, lanes);
    for (const TensorBlockNode& part : attempt.block.nodes) {
      taken[static_cast<std::size_t>(part.node)] = true;
    }
    if (!attempt.block.nodes.empty()) {
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
    return std::ranges::find(block.nodes, node, &TensorBlockNode::node) != block.nodes.end();
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
    add_sum(blocks_[block - 1].last());
  }
  const std::int32_t end = block < blocks_.size() ? blocks_[block].first() : model_.node_count();
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
  const std::int32_t first = blocks_[block].first();
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
    for (const auto& [node, parts] : blocks_[block].nodes) {
      const SliceKind kind = node == blocks_[block].first()  ? SliceKind::outputs
                             : node == blocks_[block].last() ? SliceKind::inputs
                                                             : SliceKind::elements;
      slices_.push_back({node_of(model_, node).name + "." + std::to_string(lane), node, kind,
                         bounds_[block][lane], bounds_[block][lane + 1], bounds_[block].back(),
                         parts});
    }
    end_stage(lane, begin);
  }
}

}  // namespace zygos::policies
