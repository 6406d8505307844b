// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/load/exchange.hpp"

#include "load/onnx/import.hpp"
#include "load/onnx_model.hpp"
#include "load/saved_graph.hpp"
#include "load/weight_prefix.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/atomic_file.hpp"
#include "zygos/io/weight_file.hpp"
#include "zygos/load/data_facts.hpp"
#include "zygos/load/state_dict.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace zygos::load {
namespace {

/// Keys of the metadata; `format: pt` is what PyTorch's loaders ask for.
constexpr const char* format_key = "format";
constexpr const char* deck_key = "zygos.deck";
constexpr const char* shape_key = "zygos.sample_shape";
constexpr const char* step_key = "zygos.step";
constexpr const char* data_key = "zygos.data";

/// By Zygos' own names, in the order of the parameters.
std::vector<io::TensorRef> own_tensors(const SavedModel& saved) {
  std::vector<io::TensorRef> refs;
  for (const infer::Weight& weight : weights_of(saved.checkpoint)) {
    refs.push_back({weight.name, weight.dtype, weight.shape, weight.data});
  }
  return refs;
}

std::int64_t step_in(const std::map<std::string, std::string>& metadata) {
  const auto found = metadata.find(step_key);
  std::int64_t step = 0;
  if (found != metadata.end()) {
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), step);
  }
  return step;
}

}  // namespace

void export_model(const SavedModel& saved, const std::filesystem::path& file) {
  if (file.extension() == ".npz") {
    return io::write_weight_file(file, own_tensors(saved), {});
  }
  std::map<std::string, std::string> metadata{
      {deck_key, saved.checkpoint.fact("deck")},
      {shape_key, text_of_sample_shape(saved.graph.input_shape())},
      {step_key, std::to_string(saved.checkpoint.step)}};
  if (const auto data = saved.checkpoint.facts.find(data_fact);
      data != saved.checkpoint.facts.end()) {
    metadata[data_key] = data->second;
  }
  if (file.extension() == ".onnx") {
    const DataFacts facts = data_facts_in(saved.checkpoint.facts);
    return io::write_file_atomically(file, onnx_model_of(saved.graph, weights_of(saved.checkpoint),
                                                         facts.inputs, facts.targets, metadata));
  }
  metadata[format_key] = "pt";
  const auto tensors = state_dict_of(saved.graph, weights_of(saved.checkpoint));
  std::vector<io::TensorRef> refs;
  for (const io::StoredTensor& tensor : tensors) {
    refs.push_back(tensor.ref());
  }
  io::write_weight_file(file, refs, metadata);
}

ForeignModel import_onnx(const std::filesystem::path& file, const std::string& pretrained) {
  if (file.extension() != ".onnx") {
    throw UsageError(file.string() +
                     " is no .onnx, the one kind of file that says what a model is");
  }
  try {
    return foreign_model(file, pretrained);
  } catch (const UsageError& refusal) {
    throw UsageError(fmt::format("{}: {}", file.string(), refusal.what()));
  }
}

SavedModel import_model(const std::filesystem::path& file,
                        const std::vector<std::string>& overrides, const LogSink& log) {
  io::WeightFile content = io::read_weight_file(file);
  if (file.extension() == ".onnx" && !content.metadata.contains(deck_key)) {
    content.tensors.clear();  // they are read again, by what reads them
    ForeignModel foreign = import_onnx(file);
    for (const std::string& note : foreign.notes) {
      zygos::log(log, LogLevel::info, note);
    }
    content.metadata = {{deck_key, std::move(foreign.deck)},
                        {shape_key, text_of_sample_shape(foreign.sample)}};
    content.tensors = std::move(foreign.weights);
  }
  const auto deck_text = content.metadata.find(deck_key);
  if (deck_text == content.metadata.end()) {
    throw UsageError(fmt::format(
        "{} holds weights and no deck, which only files of zygos export have; name it in "
        "model.pretrained.file of a deck whose model it fits",
        file.string()));
  }
  io::Checkpoint checkpoint{file, step_in(content.metadata), {{"deck", deck_text->second}}, {}};
  if (const auto shape = content.metadata.find(shape_key); shape != content.metadata.end()) {
    checkpoint.facts[std::string(sample_shape_fact)] = shape->second;
  }
  if (const auto data = content.metadata.find(data_key); data != content.metadata.end()) {
    checkpoint.facts[data_fact] = data->second;
  }
  CheckedDeck deck = parse_deck(deck_text->second, file.string() + ": deck", overrides);
  graph::Graph graph = saved_graph(checkpoint, deck);
  for (io::StoredTensor& weight : match_weights(graph, content.tensors, file.string()).weights) {
    weight.name.insert(0, weight_prefix);
    checkpoint.tensors.push_back(std::move(weight));
  }
  return {std::move(checkpoint), std::move(deck), std::move(graph)};
}

}  // namespace zygos::load
