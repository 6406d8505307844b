// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A model of ONNX that Zygos has not written, as a deck and weights.
#include "load/onnx/import.hpp"

#include "load/onnx/layer_text.hpp"
#include "load/onnx/model_reading.hpp"

#include "zygos/core/error.hpp"
#include "zygos/tensor/convert.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace zygos::load {
namespace {

namespace fs = std::filesystem;

/// Single quotes, as YAML doubles them.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    out += c == '\'' ? "''" : std::string(1, c);
  }
  return out + "'";
}

std::string text_of_layers(const std::vector<ReadLayer>& layers) {
  std::string text;
  std::string before = "input";
  for (const ReadLayer& layer : layers) {
    auto options = layer.options;
    if (layer.frozen) {
      options.emplace_back("frozen", "true");
    }
    if (layer.inputs != std::vector<std::string>{before}) {
      options.emplace_back("inputs", fmt::format("[{}]", fmt::join(layer.inputs, ", ")));
    }
    const std::string line = flow_text(layer.type, options);
    text += fmt::format("    - {{name: {}, {}  # {}\n", layer.name, line.substr(1),
                        layer.output.text());
    before = layer.name;
  }
  return text;
}

bool reads_tokens(const ReadModel& model) {
  return std::ranges::any_of(model.layers,
                             [](const ReadLayer& layer) { return layer.type == "embedding"; });
}

DType precision_of(const ReadModel& model) {
  for (const ReadLayer& layer : model.layers) {
    for (const auto& [name, constant] : layer.parameters) {
      if (constant.dtype == DType::f64) {
        return DType::f64;
      }
    }
  }
  return DType::f32;
}

constexpr std::string_view deck_format = R"(# The model of {file}, read by zygos import.
#
#   zygos predict {file} --input samples.npy --output predictions.npy   # needs nothing of this deck
#   zygos train THIS_DECK                                               # once the data below are yours
deck_version: 1
precision: {precision}

data:                     # yours: a model of ONNX says nothing of data
  format: hdf5            # or idx, text, graph ...: docs/data.md
  train: {{file: train.h5}} # arrays 'inputs' (samples, {sample}) and 'targets'
  # test: {{file: test.h5}}

model:
  input: [{sample}]
{pretrained}  layers:                 # behind each the shape of its output
{layers}  loss: {loss}{about_loss}

optimizer: {{type: adam, learning_rate: 0.0001}} # small, as the weights are trained

lanes:
  host: {{kind: host}}

policy: single

train: {{epochs: 1, batch: 16}}
)";

std::string deck_of(const ReadModel& model, const OnnxFile& file, const fs::path& path,
                    const std::string& pretrained) {
  const bool classes = model.loss || reads_tokens(model);
  return fmt::format(
      deck_format, fmt::arg("file", path.filename().string()),
      fmt::arg("precision", precision_of(model) == DType::f64 ? "float64" : "float32"),
      fmt::arg("sample", fmt::format("{}", fmt::join(file.sample.dimensions(), ", "))),
      fmt::arg("pretrained", pretrained.empty()
                                 ? std::string()
                                 : fmt::format("  pretrained: {{file: {}, match: operators}}\n",
                                               quoted(pretrained))),
      fmt::arg("layers", text_of_layers(model.layers)),
      fmt::arg("loss", model.loss.value_or(classes ? "cross_entropy" : "mse")),
      fmt::arg("about_loss", model.loss
                                 ? "  # with the softmax that the file has at its end"
                                 : "  # a guess: ONNX has no loss; of classes cross_entropy, "
                                   "of logits of yes or no bce"));
}

io::StoredTensor weight_of(const std::string& name, const nn::OnnxConstant& constant) {
  io::StoredTensor weight{name, constant.dtype, constant.shape, *constant.bytes};
  if (constant.dtype != DType::f32 && constant.dtype != DType::f64) {
    const auto numbers = constant.numbers();
    const nn::OnnxConstant floats = nn::onnx_constant(name, DType::f32, constant.shape, numbers);
    weight.dtype = DType::f32;
    weight.bytes = *floats.bytes;
  }
  return weight;
}

}  // namespace

ForeignModel foreign_model(const fs::path& path, const std::string& pretrained) {
  const OnnxFile file = read_onnx_file(path);
  ReadModel model = ModelReading(file).read();
  ForeignModel out{.deck = deck_of(model, file, path, pretrained),
                   .sample = file.sample,
                   .weights = {},
                   .notes = std::move(model.notes)};
  for (const ReadLayer& layer : model.layers) {
    for (const auto& [name, constant] : layer.parameters) {
      out.weights.push_back(weight_of(layer.name + "/" + name, constant));
    }
  }
  return out;
}

}  // namespace zygos::load
