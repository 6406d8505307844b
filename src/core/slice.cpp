// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/slice.hpp"

#include "zygos/core/error.hpp"

namespace zygos {
namespace {

bool is_range(SliceKind kind) {
  return kind == SliceKind::outputs || kind == SliceKind::inputs || kind == SliceKind::elements;
}

/// True if a slice's output is an input of `reader`, which reads the layer that it is of.
bool feeds(const ModelSlice& source, const ModelSlice& reader) {
  if (source.kind == SliceKind::copy) {
    return reader.kind == SliceKind::outputs && source.begin == reader.begin &&
           source.end == reader.end && source.units == reader.units;
  }
  const bool wants_range = reader.kind == SliceKind::inputs || reader.kind == SliceKind::elements;
  const bool is_of_outputs =
      source.kind == SliceKind::outputs || source.kind == SliceKind::elements;
  return wants_range ? is_of_outputs && source.begin == reader.begin && source.end == reader.end
                     : !is_range(source.kind);
}

/// The node of the sharded model that stands for an input of the whole one's.
std::int32_t source_of(std::span<const ModelSlice> slices, std::size_t reader,
                       std::int32_t whole_source) {
  // Last first: where a sum has an epilogue, that is the layer's output, and copies are behind it.
  for (std::size_t i = reader; i-- > 0;) {
    if (slices[i].node == whole_source && feeds(slices[i], slices[reader])) {
      return static_cast<std::int32_t>(i);
    }
  }
  throw UsageError("layer '" + slices[reader].name + "' reads node " +
                   std::to_string(whole_source) + " of the whole model, of which the sharded " +
                   "model has no slice that fits; shard both or neither");
}

}  // namespace

std::string_view name_of(SliceKind kind) {
  switch (kind) {
    case SliceKind::whole:
      return "whole";
    case SliceKind::outputs:
      return "outputs";
    case SliceKind::inputs:
      return "inputs";
    case SliceKind::elements:
      return "elements";
    case SliceKind::sum:
      return "sum";
    case SliceKind::epilogue:
      return "epilogue";
    case SliceKind::copy:
      break;
  }
  return "copy";
}

double ModelSlice::share() const {
  switch (kind) {
    case SliceKind::whole:
      return 1.0;
    case SliceKind::sum:
    case SliceKind::epilogue:
    case SliceKind::copy:
      return 0.0;
    case SliceKind::outputs:
    case SliceKind::inputs:
    case SliceKind::elements:
      break;
  }
  return static_cast<double>(end - begin) / static_cast<double>(units);
}

bool ModelSlice::fits(std::int64_t count) const {
  return units > 0 && parts > 0 && count > 0 && count % (parts * units) == 0 && begin >= 0 &&
         begin < end && end <= units;
}

ShardRange ModelSlice::range_of(std::int64_t count) const {
  const std::int64_t width = count / (parts * units);
  return {kind, begin * width, end * width, parts};
}

std::vector<std::int32_t> slices_of(std::span<const ModelSlice> slices, std::int32_t node,
                                    SliceKind kind) {
  std::vector<std::int32_t> found;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (slices[i].node == node && slices[i].kind == kind) {
      found.push_back(static_cast<std::int32_t>(i));
    }
  }
  return found;
}

std::vector<std::int32_t> slice_inputs(std::span<const ModelSlice> slices, std::size_t slice,
                                       std::span<const std::int32_t> whole_inputs) {
  const ModelSlice& reader = slices[slice];
  if (reader.kind == SliceKind::sum) {
    return slices_of(slices, reader.node, SliceKind::inputs);
  }
  if (reader.kind == SliceKind::epilogue) {
    return slices_of(slices, reader.node, SliceKind::sum);
  }
  if (reader.kind == SliceKind::copy) {
    return {source_of(slices, slice, reader.node)};
  }
  std::vector<std::int32_t> inputs;
  for (const std::int32_t source : whole_inputs) {
    inputs.push_back(source < 0 ? source : source_of(slices, slice, source));
  }
  return inputs;
}

std::string text_of(const ModelSlice& slice) {
  const auto range = [&](const char* what) {
    return slice.name + " " + what + " " + std::to_string(slice.begin) + "-" +
           std::to_string(slice.end) + " of " + std::to_string(slice.units) +
           (slice.parts > 1 ? ", " + std::to_string(slice.parts) + " times" : "");
  };
  switch (slice.kind) {
    case SliceKind::whole:
      return slice.name;
    case SliceKind::outputs:
      return range("columns");
    case SliceKind::inputs:
      return range("rows");
    case SliceKind::elements:
      return range("elements");
    case SliceKind::sum:
      return slice.name + " sum";
    case SliceKind::epilogue:
      return slice.name + " epilogue";
    case SliceKind::copy:
      return slice.name + " copy";
  }
  return slice.name;
}

}  // namespace zygos
