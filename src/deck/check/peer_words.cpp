// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/check/peer_words.hpp"

#include "deck/read/text.hpp"

#include <algorithm>
#include <array>

namespace zygos::deck {
namespace {

using Word = PeerWord;

constexpr std::array keys{
    Word{"lr", "learning_rate"},
    Word{"stepsize", "learning_rate"},
    Word{"eps", "epsilon"},
    Word{"betas", "beta1"},
    Word{"l2", "weight_decay"},
    Word{"decay", "weight_decay"},
    Word{"clipnorm", "clip_norm"},
    Word{"maxnorm", "clip_norm"},
    Word{"lrscheduler", "schedule"},
    Word{"lrschedule", "schedule"},
    Word{"scheduler", "schedule"},
    Word{"outfeatures", "units"},
    Word{"width", "units"},
    Word{"neurons", "units"},
    Word{"nodes", "units"},
    Word{"outputdim", "units"},
    Word{"embeddingdim", "units"},
    Word{"hiddensize", "units"},
    Word{"dmodel", "units"},
    Word{"outchannels", "filters"},
    Word{"channels", "filters"},
    Word{"kernelsize", "kernel"},
    Word{"poolsize", "kernel"},
    Word{"strides", "stride"},
    Word{"dilationrate", "dilation"},
    Word{"p", "rate"},
    Word{"dropout", "rate"},
    Word{"usebias", "bias"},
    Word{"numgroups", "groups"},
    Word{"numheads", "heads"},
    Word{"nhead", "heads"},
    Word{"numembeddings", "vocabulary"},
    Word{"vocabsize", "vocabulary"},
    Word{"negativeslope", "slope"},
    Word{"returnsequences", "sequences"},
    Word{"dim", "axis"},
    Word{"batchsize", "batch"},
    Word{"minibatch", "batch"},
    Word{"accumulategradbatches", "accumulate"},
    Word{"gradientaccumulationsteps", "accumulate"},
    Word{"accumulationsteps", "accumulate"},
    Word{"numepochs", "epochs"},
    Word{"nepochs", "epochs"},
    Word{"maxepochs", "epochs"},
    Word{"maxsteps", "steps"},
    Word{"numclasses", "classes"},
    Word{"targetshape", "shape"},
    Word{"weight", "class_weights"},
    Word{"classweight", "class_weights"},
    Word{"freeze", "frozen"},
    Word{"augmentation", "augment"},
    Word{"dataaugmentation", "augment"},
    Word{"transform", "augment"},
    Word{"transforms", "augment"},
    Word{"randomflip", "flip"},
    Word{"randomhorizontalflip", "flip"},
    Word{"randomverticalflip", "flip"},
    Word{"hflip", "flip"},
    Word{"vflip", "flip"},
    Word{"randomcrop", "crop"},
    Word{"padding", "crop"},
    Word{"gaussiannoise", "noise"},
};

/// Keys that peers have in another section than Zygos, with ours as a path.
constexpr std::array keys_elsewhere{
    Word{"accumulate", "train.accumulate"},
    Word{"accumulategradbatches", "train.accumulate"},
    Word{"gradientaccumulationsteps", "train.accumulate"},
    Word{"accumulationsteps", "train.accumulate"},
};

/// Zygos takes the shape of what a layer reads from the layer before.
constexpr std::array input_keys{"infeatures", "inchannels", "inputdim", "inputshape", "inputsize"};

/// What peers say of what is trained, Zygos says of what is not.
constexpr std::array trained_keys{"trainable", "requiresgrad"};

constexpr std::array choices_of_peers{
    Word{"linear", "none"},
    Word{"identity", "none"},
    Word{"linear", "dense"},
    Word{"fc", "dense"},
    Word{"fullyconnected", "dense"},
    Word{"conv2dtranspose", "conv_transpose2d"},
    Word{"deconv2d", "conv_transpose2d"},
    Word{"maxpooling2d", "max_pool2d"},
    Word{"avgpool2d", "average_pool2d"},
    Word{"averagepooling2d", "average_pool2d"},
    Word{"upsampling2d", "upsample"},
    Word{"batchnorm1d", "batch_norm"},
    Word{"batchnorm2d", "batch_norm"},
    Word{"batchnormalization", "batch_norm"},
    Word{"layernormalization", "layer_norm"},
    Word{"groupnormalization", "group_norm"},
    Word{"localresponsenorm", "lrn"},
    Word{"positionalencoding", "positions"},
    Word{"positionalembedding", "positions"},
    Word{"clstoken", "class_token"},
    Word{"cls", "class_token"},
    Word{"gather", "select"},
    Word{"indexselect", "select"},
    Word{"multiheadattention", "attention"},
    Word{"selfattention", "attention"},
    Word{"gcn", "graph_conv"},
    Word{"gcnconv", "graph_conv"},
    Word{"sageconv", "graph_conv"},
    Word{"swish", "silu"},
    Word{"concatenate", "concat"},
    Word{"cat", "concat"},
    Word{"view", "reshape"},
    Word{"unflatten", "reshape"},
    Word{"permute", "transpose"},
    Word{"reducelronplateau", "plateau"},
    Word{"crossentropy", "cross_entropy"},
    Word{"categoricalcrossentropy", "cross_entropy"},
    Word{"sparsecategoricalcrossentropy", "cross_entropy"},
    Word{"nll", "cross_entropy"},
    Word{"meansquarederror", "mse"},
    Word{"l2", "mse"},
    Word{"meanabsoluteerror", "mae"},
    Word{"l1", "mae"},
    Word{"binarycrossentropy", "bce"},
    Word{"bcewithlogits", "bce"},
    Word{"float", "float32"},
    Word{"single", "float32"},
    Word{"fp32", "float32"},
    Word{"double", "float64"},
    Word{"fp64", "float64"},
    Word{"bfloat16", "bf16"},
    Word{"cpu", "host"},
    Word{"gpu", "device"},
    Word{"cuda", "device"},
};

/// Functions that are layers of their own and no option `activation`.
constexpr std::array functions_of_layers{
    Word{"swish", "silu"},
    Word{"silu", "silu"},
    Word{"gelu", "gelu"},
    Word{"leakyrelu", "leaky_relu"},
};

/// Functions that are no part of Zygos, with the layer whose curve is the closest.
constexpr std::array close_layers{
    Word{"mish", "silu"},        Word{"hardswish", "silu"},  Word{"elu", "leaky_relu"},
    Word{"selu", "leaky_relu"},  Word{"celu", "leaky_relu"}, Word{"prelu", "leaky_relu"},
    Word{"rrelu", "leaky_relu"}, Word{"relu6", "relu"},      Word{"softplus", "relu"},
    Word{"softsign", "tanh"},
};

std::string normalised(std::string_view word) {
  std::string result;
  for (const char c : word) {
    if (c >= 'A' && c <= 'Z') {
      result += static_cast<char>(c - 'A' + 'a');
    } else if (c != '_' && c != '-' && c != ' ') {
      result += c;
    }
  }
  constexpr std::string_view ending = "loss";
  if (result.size() > ending.size() && result.ends_with(ending)) {
    result.resize(result.size() - ending.size());
  }
  return result;
}

std::optional<std::string> ours_for(std::span<const Word> table, std::string_view peer,
                                    const std::vector<std::string>& allowed) {
  for (const Word& word : table) {
    if (word.peer == peer && contains(allowed, word.ours)) {
      return std::string(word.ours);
    }
  }
  return std::nullopt;
}

}  // namespace

std::span<const PeerWord> peer_keys() { return keys; }
std::span<const PeerWord> peer_choices() { return choices_of_peers; }
std::span<const PeerWord> peer_functions() { return close_layers; }

std::optional<std::string> meant_by_peer(std::string_view key,
                                         const std::vector<std::string>& allowed) {
  return ours_for(keys, normalised(key), allowed);
}

std::optional<std::string> advice_for_peer_key(std::string_view key,
                                               const std::vector<std::string>& allowed) {
  const std::string peer = normalised(key);
  if (std::find(input_keys.begin(), input_keys.end(), peer) != input_keys.end()) {
    return "leave it out: the layer before tells it";
  }
  if (contains(allowed, "frozen") &&
      std::find(trained_keys.begin(), trained_keys.end(), peer) != trained_keys.end()) {
    return "write 'frozen: true' for '" + std::string(key) + ": false'";
  }
  const auto ours = meant_by_peer(key, allowed);
  return ours ? std::optional("did you mean '" + *ours + "'?") : std::nullopt;
}

std::optional<std::string> path_for_peer_key(std::string_view key) {
  const std::string peer = normalised(key);
  const auto found = std::ranges::find(keys_elsewhere, peer, &Word::peer);
  return found == keys_elsewhere.end() ? std::nullopt : std::optional(std::string(found->ours));
}

std::optional<std::string> advice_for_peer_choice(std::string_view word,
                                                  const std::vector<std::string>& choices) {
  const std::string peer = normalised(word);
  for (const std::string& choice : choices) {
    if (normalised(choice) == peer) {
      return "did you mean '" + choice + "'?";
    }
  }
  if (const auto ours = ours_for(choices_of_peers, peer, choices)) {
    return "did you mean '" + *ours + "'?";
  }
  const bool layer = contains(choices, "dense");
  const bool function = contains(choices, "none") && contains(choices, "relu");
  if (!layer && !function) {
    return std::nullopt;
  }
  if (peer == "softmax" || peer == "logsoftmax") {
    return "leave it out: the loss cross_entropy applies the softmax itself";
  }
  const auto own = std::ranges::find(functions_of_layers, peer, &Word::peer);
  // A choice with gelu is for all hidden layers of a network, with nothing behind a single one.
  if (function && !contains(choices, "gelu") && own != functions_of_layers.end()) {
    return "put a layer {type: " + std::string(own->ours) + "} behind this one";
  }
  for (const Word& close : close_layers) {
    if (close.peer == peer) {
      return function && contains(choices, close.ours)
                 ? "the closest is '" + std::string(close.ours) + "'"
                 : "the closest is a layer {type: " + std::string(close.ours) + "}" +
                       (function ? " behind this one" : "");
    }
  }
  return std::nullopt;
}

}  // namespace zygos::deck
