// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/reading/padding.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>

namespace zygos::nn {
namespace {

/// Below all that a layer computes.
constexpr double lowest_number = -1e30;
constexpr std::int64_t max_padding = std::int64_t{1} << 30;

bool is_with(double value, PaddedWith with) {
  return with == PaddedWith::zeros ? value == 0.0 : value <= lowest_number;
}

}  // namespace

bool PaddedInput::is_padded() const {
  return std::ranges::any_of(padding, [](std::int64_t count) { return count != 0; });
}

PaddedInput padded_input(OnnxSource& source, const OnnxOperator& op, std::size_t axes,
                         PaddedWith with) {
  const OnnxOperator* pad = source.inner(op.input(0), "Pad");
  if (pad == nullptr) {
    return {op.input(0), std::vector<std::int64_t>(axes, 0)};
  }
  const OnnxConstant* given = pad->input(1).empty() ? nullptr : source.constant(pad->input(1));
  const std::vector<std::int64_t> pads =
      given != nullptr ? given->integers() : pad->integers("pads");
  const double value = onnx_scalar(source, pad->input(2)).value_or(pad->real("value", 0.0));
  const bool none = std::ranges::all_of(pads, [](std::int64_t count) { return count == 0; });
  const auto rank = static_cast<std::ptrdiff_t>(axes + 2);
  const bool adds = std::ranges::all_of(
      pads, [](std::int64_t count) { return count >= 0 && count <= max_padding; });
  const bool alike = adds && std::ssize(pads) == 2 * rank && pads[0] == 0 && pads[1] == 0 &&
                     std::equal(pads.begin(), pads.begin() + rank, pads.begin() + rank);
  if (!alike || pad->text("mode", "constant") != "constant" || !pad->input(3).empty() ||
      !(none || is_with(value, with))) {
    throw UsageError("the Pad '" + pad->name + "' before it does not add " +
                     (with == PaddedWith::zeros ? "zeros" : "the lowest number") +
                     " alike on both sides of height and width");
  }
  return {pad->input(0), {pads.begin() + 2, pads.begin() + rank}};
}

}  // namespace zygos::nn
