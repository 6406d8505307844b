// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "load/onnx/columns.hpp"

#include "load/onnx/movement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace zygos::load {
namespace {

/// A layer that columns are taken of.
struct Source {
  const ReadLayer* layer = nullptr;
  std::vector<double> kernel{};
  std::vector<double> bias{};  ///< empty: it has none
};

bool multiplies_vectors(const ReadLayer& layer) {
  const auto flatten = std::pair<std::string, std::string>("flatten", "false");
  return layer.type == "dense" &&
         std::ranges::find(layer.options, flatten) != layer.options.end() &&
         std::ranges::none_of(layer.options,
                              [](const auto& option) { return option.first == "activation"; });
}

/// By name; empty if they are not all dense layers of one input.
std::map<std::string, Source> sources_of(const std::vector<ReadLayer>& layers,
                                         std::span<const nn::OnnxColumn> columns) {
  std::map<std::string, Source> sources;
  for (const nn::OnnxColumn& column : columns) {
    if (sources.contains(column.layer)) {
      continue;
    }
    const auto found = std::ranges::find(layers, column.layer, &ReadLayer::name);
    if (found == layers.end() || !multiplies_vectors(*found) ||
        (!sources.empty() && sources.begin()->second.layer->inputs != found->inputs)) {
      return {};
    }
    Source source{.layer = &*found, .kernel = found->parameters.front().second.numbers()};
    if (found->parameters.size() == 2) {
      source.bias = found->parameters.back().second.numbers();
    }
    sources.emplace(column.layer, std::move(source));
  }
  return sources;
}

/// Of the layers in the order of their columns.
std::vector<std::string> names_of(std::span<const nn::OnnxColumn> columns) {
  std::vector<std::string> names;
  for (const nn::OnnxColumn& column : columns) {
    if (std::ranges::find(names, column.layer) == names.end()) {
      names.push_back(column.layer);
    }
  }
  return names;
}

/// "attn_q_k_v" of "attn_q", "attn_k" and "attn_v".
std::string name_after(const std::vector<std::string>& names) {
  if (std::ranges::any_of(names, [](const std::string& name) { return name.starts_with("."); })) {
    return {};
  }
  if (names.size() == 1) {
    return names.front() + "_columns";
  }
  std::size_t common = names.front().size();
  for (const std::string& name : names) {
    const auto differ = std::ranges::mismatch(names.front(), name);
    common = std::min(common, static_cast<std::size_t>(differ.in1 - names.front().begin()));
  }
  const std::size_t end = common == 0 ? std::string::npos : names.front().rfind('_', common - 1);
  const std::size_t behind = end == std::string::npos ? 0 : end + 1;
  std::string text = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) {
    text += "_" + names[i].substr(behind);
  }
  return text;
}

std::string note_of(const std::vector<std::string>& names) {
  if (names.size() == 1) {
    return "it has the columns of the file's weights in another order";
  }
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + (name.starts_with(".") ? "(no name)" : "'" + name + "'");
  }
  return "it has the weights of " + std::to_string(names.size()) +
         " layers of the file side by side: " + text;
}

}  // namespace

std::optional<ReadLayer> dense_with_columns(const std::vector<ReadLayer>& layers,
                                            std::span<const nn::OnnxColumn> columns) {
  const auto sources = sources_of(layers, columns);
  if (sources.empty()) {
    return std::nullopt;
  }
  const ReadLayer& first = *sources.at(columns.front().layer).layer;
  const nn::OnnxConstant& weights = first.parameters.front().second;
  const auto rows = static_cast<std::size_t>(weights.shape[0]);
  require_moderate(Shape{weights.shape[0], std::ssize(columns)});
  const bool has_bias =
      std::ranges::any_of(sources, [](const auto& source) { return !source.second.bias.empty(); });
  std::vector<double> kernel(rows * columns.size());
  std::vector<double> bias(columns.size(), 0.0);
  for (std::size_t to = 0; to < columns.size(); ++to) {
    const Source& source = sources.at(columns[to].layer);
    const auto from = static_cast<std::size_t>(columns[to].column);
    const std::size_t width = source.kernel.size() / rows;
    for (std::size_t row = 0; row < rows; ++row) {
      kernel[row * columns.size() + to] = columns[to].factor * source.kernel[row * width + from];
    }
    bias[to] = source.bias.empty() ? 0.0 : columns[to].factor * source.bias[from];
  }
  const auto units = std::ssize(columns);
  const auto names = names_of(columns);
  ReadLayer layer{.name = name_after(names),
                  .type = "dense",
                  .options = {{"units", std::to_string(units)}},
                  .inputs = first.inputs,
                  .output = Shape{first.output[0], units},
                  .parameters = {},
                  .note = note_of(names)};
  layer.parameters.emplace_back(
      "kernel",
      nn::onnx_constant(weights.name, weights.dtype, Shape{weights.shape[0], units}, kernel));
  if (has_bias) {
    layer.parameters.emplace_back("bias", nn::onnx_constant("", weights.dtype, Shape{units}, bias));
  } else {
    layer.options.emplace_back("bias", "false");
  }
  layer.options.emplace_back("flatten", "false");
  return layer;
}

}  // namespace zygos::load
