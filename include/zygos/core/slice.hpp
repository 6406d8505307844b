// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor parallelism: a model whose nodes are slices of layers. A list of slices says how such a
// model follows from the whole one; the graph, its outline and its costs are made from that list.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zygos {

enum class SliceKind : std::uint8_t {
  whole,     ///< the whole layer
  outputs,   ///< a range of its outputs: a column-parallel layer
  inputs,    ///< its product with a range of its inputs, a partial sum: a row-parallel layer
  elements,  ///< a range of the elements of an element-wise layer
  sum,       ///< the sum of the layer's partial sums
  epilogue,  ///< what follows the sum: the activation that the layer fuses
  copy,  ///< of the layer's output, for the slice of the same range that reads it: the gradients
         ///< of copies meet where the output was made, each when it is there
};

inline constexpr std::array all_slice_kinds{
    SliceKind::whole, SliceKind::outputs,  SliceKind::inputs, SliceKind::elements,
    SliceKind::sum,   SliceKind::epilogue, SliceKind::copy};
std::string_view name_of(SliceKind kind);

/// A sample as (outer, units, inner): it can be cut along the units.
struct CutAxis {
  std::int64_t outer = 1;
  std::int64_t units = 0;
  std::int64_t inner = 1;
  friend bool operator==(const CutAxis&, const CutAxis&) = default;
};

/// How a layer can be cut in one way. An axis that stays whole has no units.
struct ShardForm {
  CutAxis input{};
  CutAxis output{};
  std::int64_t together = 1;  ///< units that cannot be parted, such as a head's columns
  std::int64_t units() const { return output.units > 0 ? output.units : input.units; }
};

/// Units of a layer's form that a slice has: [begin, end) of each of `parts` equal parts.
struct ShardRange {
  SliceKind kind = SliceKind::whole;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t parts = 1;
};

/// What a node of a sharded model computes of a node of the whole one.
struct ModelSlice {
  std::string name;       ///< of the node
  std::int32_t node = 0;  ///< of the whole model
  SliceKind kind = SliceKind::whole;
  std::int64_t begin = 0;  ///< range of units (outputs, inputs or elements); 0 of other kinds
  std::int64_t end = 0;
  std::int64_t units = 0;  ///< of the whole layer
  /// The layer's axis is (parts, units, width), of which the slice has the range of units: three
  /// parts of a layer that makes queries, keys and values.
  std::int64_t parts = 1;

  /// Share of the layer's work, 0 to 1. A sum and an epilogue are counted as a part of the slices
  /// before them.
  double share() const;
  /// In units of the layer's form, of which there are `count`. The slice divides them evenly.
  ShardRange range_of(std::int64_t count) const;
  /// True if a form with so many units can be cut so.
  bool fits(std::int64_t count) const;
  friend bool operator==(const ModelSlice&, const ModelSlice&) = default;
};

/// Slices of one node of the whole model, in the order of the list, as indices into it.
std::vector<std::int32_t> slices_of(std::span<const ModelSlice> slices, std::int32_t node,
                                    SliceKind kind);

/// Inputs of a node of the sharded model, where the node of the whole one has `whole_inputs` (-1:
/// the model's input): a partial sum and an element-wise slice read the slice of the same range, a
/// sum all partial sums, everything else whole outputs or copies of them. Throws UsageError for an
/// input of which there is none.
std::vector<std::int32_t> slice_inputs(std::span<const ModelSlice> slices, std::size_t slice,
                                       std::span<const std::int32_t> whole_inputs);

/// "fc1.0 columns 0-64 of 128"
std::string text_of(const ModelSlice& slice);

}  // namespace zygos
