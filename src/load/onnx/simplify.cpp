// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "load/onnx/simplify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace zygos::load {
namespace {

using Entries = std::vector<nn::Entry<nn::LayerPtr>>;

std::vector<ReadLayer> needed(std::vector<ReadLayer> layers, const std::string& last) {
  std::set<std::string> wanted{last};
  std::vector<ReadLayer> kept;
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    if (wanted.contains(layer->name)) {
      wanted.insert(layer->inputs.begin(), layer->inputs.end());
      kept.push_back(std::move(*layer));
    }
  }
  std::ranges::reverse(kept);
  return kept;
}

/// Whether the layer has an option `activation` of this value, not set yet.
bool takes_activation(const ReadLayer& layer, const std::string& activation,
                      const Entries& entries) {
  const auto entry = std::ranges::find_if(
      entries, [&](const auto& one) { return one.schema.name() == layer.type; });
  const deck::Key* key = entry->schema.find("activation");
  return key != nullptr &&
         std::ranges::find(key->facts().choices, activation) != key->facts().choices.end() &&
         std::ranges::none_of(layer.options,
                              [](const auto& option) { return option.first == "activation"; });
}

void rename(std::vector<ReadLayer>& layers, const std::string& from, const std::string& to) {
  for (ReadLayer& layer : layers) {
    std::ranges::replace(layer.inputs, from, to);
    layer.name = layer.name == from ? to : layer.name;
  }
}

/// A layer that has another's weights has its name as well if that one is not needed.
void name_by_twin(std::vector<ReadLayer>& layers) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string twin = layers[i].twin;
    if (!twin.empty() && std::ranges::find(layers, twin, &ReadLayer::name) == layers.end()) {
      rename(layers, std::string(layers[i].name), twin);
    }
  }
}

void name_by_type(std::vector<ReadLayer>& layers) {
  std::set<std::string> names;
  for (const ReadLayer& layer : layers) {
    names.insert(layer.name);
  }
  std::map<std::string, int> counts;
  for (const ReadLayer& layer : layers) {
    if (layer.name.starts_with(".")) {
      std::string name;
      do {
        name = layer.type + std::to_string(++counts[layer.type]);
      } while (!names.insert(name).second);
      rename(layers, std::string(layer.name), name);
    }
  }
}

/// Gain, shift and mean of a frozen batch_norm, whose variance is one.
std::vector<double> numbers_of(const ReadLayer& layer, std::size_t parameter) {
  return layer.parameters.at(parameter).second.numbers();
}

bool is_scale(const ReadLayer& layer) { return layer.type == "batch_norm" && layer.frozen; }

/// The constants of `second` behind those of `first`, as one layer: (x - mean) gain + shift.
void join_scale(ReadLayer& first, const ReadLayer& second) {
  auto gain = numbers_of(first, 0);
  auto shift = numbers_of(first, 1);
  auto mean = numbers_of(first, 2);
  const auto next_gain = numbers_of(second, 0);
  const auto next_shift = numbers_of(second, 1);
  const auto next_mean = numbers_of(second, 2);
  for (std::size_t i = 0; i < gain.size(); ++i) {
    if (gain[i] == 1.0 && shift[i] == 0.0) {  // a difference stays one, so that nothing cancels
      mean[i] += next_mean[i];
      gain[i] = next_gain[i];
      shift[i] = next_shift[i];
    } else {
      shift[i] = next_gain[i] * (shift[i] - next_mean[i]) + next_shift[i];
      gain[i] *= next_gain[i];
    }
  }
  for (const auto& [index, values] :
       {std::pair(std::size_t{0}, &gain), {std::size_t{1}, &shift}, {std::size_t{2}, &mean}}) {
    nn::OnnxConstant& constant = first.parameters[index].second;
    constant = nn::onnx_constant(constant.name, constant.dtype, constant.shape, *values);
  }
}

/// Frozen batch_norms that follow each other become one.
void join_scales(std::vector<ReadLayer>& layers, std::map<std::string, int>& readers) {
  for (auto layer = layers.begin(); layer != layers.end();) {
    const auto before = std::ranges::find(layers, layer->inputs.front(), &ReadLayer::name);
    const bool joins = is_scale(*layer) && before != layers.end() && is_scale(*before) &&
                       readers[before->name] == 1 && before->output == layer->output;
    if (!joins) {
      ++layer;
      continue;
    }
    join_scale(*before, *layer);
    for (ReadLayer& reader : layers) {
      std::ranges::replace(reader.inputs, layer->name, before->name);
    }
    readers[before->name] = readers[layer->name];
    layer = layers.erase(layer);
  }
}

}  // namespace

std::vector<ReadLayer> simplified(std::vector<ReadLayer> layers, std::string last,
                                  const Entries& entries) {
  layers = needed(std::move(layers), last);
  name_by_twin(layers);
  std::map<std::string, int> readers;
  for (const ReadLayer& layer : layers) {
    for (const std::string& input : layer.inputs) {
      ++readers[input];
    }
  }
  join_scales(layers, readers);
  for (auto layer = layers.begin(); layer != layers.end();) {
    const auto before = std::ranges::find(layers, layer->inputs.front(), &ReadLayer::name);
    if (layer->inputs.size() != 1 || before == layers.end() || readers[before->name] != 1 ||
        !layer->options.empty() || !takes_activation(*before, layer->type, entries)) {
      ++layer;
      continue;
    }
    before->options.emplace_back("activation", layer->type);
    for (ReadLayer& reader : layers) {
      std::ranges::replace(reader.inputs, layer->name, before->name);
    }
    readers[before->name] = readers[layer->name];
    layer = layers.erase(layer);
  }
  name_by_type(layers);
  return layers;
}

void add_notes(const std::vector<ReadLayer>& layers, std::vector<std::string>& notes) {
  std::map<const void*, std::string> first;
  for (const ReadLayer& layer : layers) {
    if (!layer.note.empty()) {
      notes.push_back(fmt::format("layer '{}': {}", layer.name, layer.note));
    }
    for (const auto& [name, constant] : layer.parameters) {
      if (constant.shape.rank() < 2) {
        continue;
      }
      const auto [found, is_new] = first.emplace(constant.bytes.get(), layer.name);
      if (!is_new) {
        notes.push_back(fmt::format(
            "layers '{}' and '{}' share '{}' in the file; here each has a copy, which training "
            "changes on its own",
            found->second, layer.name, constant.name));
      }
    }
  }
}

}  // namespace zygos::load
