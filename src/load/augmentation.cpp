// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/load/augmentation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace zygos::load {
namespace {

io::Flip flip_named(const std::string& word) {
  return word == "horizontal" ? io::Flip::horizontal
         : word == "vertical" ? io::Flip::vertical
         : word == "both"     ? io::Flip::both
                              : io::Flip::none;
}

/// The layer that takes the model's input for lines or positions, not for an image; null: none.
const graph::Node* reader_of_sequences(const graph::Graph& graph) {
  constexpr std::array<std::string_view, 6> types{"conv1d",           "positions", "attention",
                                                  "causal_attention", "lstm",      "gru"};
  const auto reads = [&](const graph::Node& node) {
    const bool first = std::ranges::find(node.inputs, graph::graph_input) != node.inputs.end();
    const bool by_row = node.layer->type() == "dense" && node.output_shape.rank() > 1;
    return first && (by_row || std::ranges::find(types, node.layer->type()) != types.end());
  };
  const auto found = std::ranges::find_if(graph.nodes(), reads);
  return found == graph.nodes().end() ? nullptr : &*found;
}

const graph::Node* reader_of_tokens(const graph::Graph& graph) {
  const auto found = std::ranges::find_if(
      graph.nodes(), [](const graph::Node& node) { return node.layer->token_limit() > 0; });
  return found == graph.nodes().end() ? nullptr : &*found;
}

/// Targets that have a place in the image for each of their elements.
bool has_target_images(const io::Dataset& data, const Shape& image) {
  const Shape& target = data.target_shape();
  const std::int64_t pixels =
      image.rank() < 2 ? 1 : image[image.rank() - 2] * image[image.rank() - 1];
  const bool flat = pixels > 1 && target.size() % pixels == 0;
  return target.rank() > 1 || (target.rank() == 1 && (data.classes > 0 || flat));
}

/// Where a deck asks for images that samples are not, or for too large a crop.
const deck::Position& place_of_moves(const deck::AugmentSpec& spec, const Shape& sample) {
  const bool image = sample.rank() == 2 || sample.rank() == 3;
  return spec.flip == "none" || (image && spec.crop > 0) ? spec.crop_position : spec.flip_position;
}

void refuse_moves(const deck::AugmentSpec& spec, const graph::Graph& graph,
                  const io::Dataset& training, deck::Findings& findings) {
  const deck::Position& where = spec.flip == "none" ? spec.crop_position : spec.flip_position;
  const std::string shape = graph.input_shape().text();
  if (const graph::Node* node = reader_of_sequences(graph)) {
    findings.error(where,
                   fmt::format("flip and crop change images, but layer '{}' ({}) reads samples {} "
                               "as sequences",
                               node->name, node->layer->type(), shape),
                   "leave them out; noise is possible");
  } else if (has_target_images(training, graph.input_shape())) {
    findings.error(where,
                   fmt::format("flip and crop change inputs alone, but targets {} belong to places "
                               "of the image",
                               training.target_shape().text()),
                   "leave them out; noise is possible");
  }
}

}  // namespace

io::AugmentationOptions augmentation_of(const deck::DataSpec& data, const graph::Graph& graph,
                                        const io::Dataset& training, deck::Findings findings) {
  if (!data.augment) {
    return {};
  }
  const deck::AugmentSpec& spec = *data.augment;
  const io::AugmentationOptions options{.flip = flip_named(spec.flip),
                                        .crop = spec.crop,
                                        .noise = spec.noise,
                                        .image = graph.input_shape()};
  if (const graph::Node* node = reader_of_tokens(graph); node != nullptr && options.noise > 0.0) {
    findings.error(
        spec.noise_position,
        fmt::format("noise is added to numbers, but layer '{}' reads token ids", node->name),
        "leave it out; a layer {type: dropout} behind that one disturbs what follows");
  }
  if (options.moves()) {
    refuse_moves(spec, graph, training, findings);
  }
  findings.throw_if_any();
  try {
    io::require_augmentable(options, training.sample_shape());
  } catch (const UsageError& refusal) {
    findings.error(place_of_moves(spec, graph.input_shape()), refusal.what());
    findings.throw_if_any();
  }
  return options;
}

}  // namespace zygos::load
