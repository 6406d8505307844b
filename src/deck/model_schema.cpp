// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/model_schema.hpp"

#include "deck/describe/describe.hpp"

namespace zygos::deck {
namespace {

constexpr const char* repeat_type = "repeat";

std::vector<Schema> with_layer_keys(std::vector<Schema> layers) {
  for (Schema& layer : layers) {
    layer
        .text("name", "Layer name in messages, checkpoints and `inputs`; default: type and number.")
        .optional()
        .example("fc1");
    layer
        .texts("inputs",
               "Input layers: those that feed this one, or `input`; default: the layer before.")
        .optional()
        .length(1, 1024)
        .example("[fc1]");
    const bool is_repeat = layer.name() == repeat_type;
    layer
        .boolean("frozen", is_repeat
                               ? "Training leaves the parameters of every layer in every copy as "
                                 "they are, but for layers that say `frozen: false`."
                               : "Training leaves the layer's parameters as they are; the layer "
                                 "runs as in evaluation. Only of a layer that has parameters; "
                                 "false: not even where a repetition or `pretrained.freeze` says "
                                 "so.")
        .optional()
        .example("true");
  }
  return layers;
}

/// The layers and, beside them, their repetition.
std::vector<Schema> with_repeat(const std::vector<Schema>& layers) {
  Schema repeat(
      repeat_type,
      "Repetition: layers several times over, a copy behind the other, named after repetition, "
      "copy and layer: `repeat1.2.dense1`. Within it `input` is what a copy reads, and other names "
      "are those of the same copy. The repetition's own name is its last layer.");
  repeat.integer("times", "Number of copies.").required().in_range(1, 1000).example("4");
  repeat
      .variants("layers", "type", with_layer_keys(layers),
                "Layers of a copy in order, of any type but `repeat`.")
      .required()
      .length(1)
      .named_by("name")
      .example("[{type: dense, units: 10}]");
  std::vector<Schema> all = layers;
  all.push_back(std::move(repeat));
  return all;
}

Schema pretrained_schema() {
  Schema schema("pretrained",
                "Pretrained weights to begin with instead of those from the seed: fine-tuning. "
                "Read when a run starts, not when it goes on.");
  schema
      .path("file",
            "Weight file: a .safetensors, .npz or .onnx, with PyTorch's names and layouts or "
            "Zygos' own; or a run's folder, or one of its checkpoints.")
      .required()
      .example("resnet.safetensors");
  schema
      .choice("match", {"names", "order", "operators"},
              "Matching of tensors and layers; names: the tensors fc1.weight and fc1.bias are of "
              "the layer fc1; order: the first module of the file is the first layer with "
              "parameters, and so on, as torch.nn.Sequential counts them; operators: of an .onnx, "
              "each weight is of the layer that zygos import makes of the operator which reads it.")
      .fallback("names");
  schema
      .texts("rename",
             "Renaming: modules of the file that are layers of another name: `module -> layer`.")
      .fallback("[]")
      .example("[features.0 -> conv1]");
  schema
      .boolean("partial",
               "Partial loading: whether layers that the file has nothing for begin from the seed, "
               "and tensors that are of no layer are left out; false: both are refused.")
      .fallback(false);
  schema
      .texts("freeze",
             "Frozen layers: those whose parameters training leaves as the file has them. loaded: "
             "all that get every parameter from it; or names, in which * stands for any characters "
             "and ? for one, and the name of a repetition for all in it. A layer that says "
             "`frozen: false` is trained. Default: none.")
      .length(1)
      .or_word("loaded")
      .or_word("none")
      .optional()
      .example("[conv*, block.2]");
  return schema;
}

}  // namespace

Schema model_schema(const RunTables& tables) {
  Schema schema("model", "Model: the network, its loss and its pretrained weights.");
  schema.integers("input", "Input shape of one sample; default: that of the data.")
      .at_least(1)
      .length(1, 5)
      .optional()
      .example("[784]");
  schema
      .variants("layers", "type", with_layer_keys(with_repeat(tables.layers)),
                "Layers of the network in order.")
      .required()
      .length(1)
      .named_by("name")
      .example("[{type: dense, units: 10}]");
  Key& loss = schema.variant("loss", "type", tables.losses, "Loss function to minimise.");
  if (find_schema(tables.losses, "cross_entropy") != nullptr) {
    loss.fallback("cross_entropy");
  } else {
    loss.required();
  }
  schema.section("pretrained", pretrained_schema()).optional().example("{file: base.safetensors}");
  return schema;
}

}  // namespace zygos::deck
