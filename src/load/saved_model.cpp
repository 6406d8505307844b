// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/load/saved_model.hpp"

#include "load/graph_data.hpp"
#include "load/saved_graph.hpp"
#include "load/weight_prefix.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/weight_file.hpp"
#include "zygos/load/data.hpp"
#include "zygos/load/exchange.hpp"
#include "zygos/load/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

namespace zygos::load {

namespace fs = std::filesystem;

namespace {

io::Checkpoint checkpoint_in(const fs::path& checkpoints, bool best, const LogSink& log) {
  const io::CheckpointStore store(checkpoints, 1, log);
  if (best) {
    return store.load_best();
  }
  auto newest = store.load_newest();
  if (!newest) {
    throw CheckpointError(checkpoints.string() + " holds no checkpoint; train first");
  }
  return std::move(*newest);
}

std::optional<Shape> shape_in(const io::Checkpoint& checkpoint) {
  const auto found = checkpoint.facts.find(std::string(sample_shape_fact));
  if (found == checkpoint.facts.end()) {
    return std::nullopt;
  }
  std::istringstream text(found->second);
  std::vector<std::int64_t> dimensions;
  for (std::int64_t extent = 0; text >> extent;) {
    dimensions.push_back(extent);
  }
  if (!text.eof()) {
    throw CheckpointError(fmt::format("{}: fact '{}' is '{}', not a shape",
                                      checkpoint.path.string(), sample_shape_fact, found->second));
  }
  return Shape(dimensions);
}

/// `address_of`: where a tensor's elements lie.
template <class Tensor, class F>
std::vector<infer::Weight> weights_among(const std::vector<Tensor>& tensors, const F& address_of) {
  std::vector<infer::Weight> weights;
  for (const Tensor& tensor : tensors) {
    if (tensor.name.starts_with(weight_prefix)) {
      weights.push_back({tensor.name.substr(weight_prefix.size()), tensor.dtype, tensor.shape,
                         address_of(tensor)});
    }
  }
  return weights;
}

}  // namespace

graph::Graph saved_graph(const io::Checkpoint& checkpoint, const CheckedDeck& deck) {
  const auto shape = shape_in(checkpoint);
  if (shape && !samples_are_graphs(deck.spec.data)) {
    return build_model(deck.spec, *shape, {}, deck.deck.findings());
  }
  return build_model(deck.spec, load_data(deck.spec, deck.deck.findings(), 1).training,
                     deck.deck.findings());
}

std::string text_of_sample_shape(const Shape& shape) {
  return fmt::format("{}", fmt::join(shape.dimensions(), " "));
}

io::Checkpoint load_checkpoint(const fs::path& path, bool best, const LogSink& log) {
  if (!fs::is_directory(path)) {
    throw UsageError(
        fmt::format("{} is not a directory; name a checkpoint such as "
                    "runs/NAME/checkpoints/step-000100, or the folder of a run",
                    path.string()));
  }
  if (fs::is_directory(path / "checkpoints")) {
    return checkpoint_in(path / "checkpoints", best, log);
  }
  const fs::path plain = path.has_filename() ? path : path.parent_path();
  if (plain.filename() == "checkpoints") {
    return checkpoint_in(plain, best, log);
  }
  if (best) {
    throw UsageError(fmt::format(
        "{} is one checkpoint; the best one is chosen among those of a run", plain.string()));
  }
  return io::CheckpointStore::load(plain);
}

SavedModel load_saved_model(const fs::path& path, bool best,
                            const std::vector<std::string>& overrides, const LogSink& log) {
  if (!fs::is_directory(path) && io::is_weight_file(path)) {
    return import_model(path, overrides, log);
  }
  io::Checkpoint checkpoint = load_checkpoint(path, best, log);
  CheckedDeck deck = parse_deck(checkpoint.fact("deck"), checkpoint.path / "deck.yaml", overrides);
  graph::Graph graph = saved_graph(checkpoint, deck);
  return {std::move(checkpoint), std::move(deck), std::move(graph)};
}

std::vector<infer::Weight> weights_of(const io::Checkpoint& checkpoint) {
  return weights_among(checkpoint.tensors,
                       [](const io::StoredTensor& tensor) { return tensor.bytes.data(); });
}

std::vector<infer::Weight> weights_of(train::Engine& engine) {
  return weights_among(engine.snapshot(), [](const io::TensorRef& tensor) { return tensor.data; });
}

}  // namespace zygos::load
