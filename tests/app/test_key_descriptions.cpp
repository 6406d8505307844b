// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What the keys of decks are called in their descriptions: who searches for the usual name of a
// thing finds the key.
#include "zygos/deck/reference.hpp"
#include "zygos/load/deck_file.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace zygos::test_key_descriptions {

namespace {

using deck::Key;
using deck::KeyFacts;
using deck::Schema;

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Of every key, and of every keyword of a table, by its whole path. Layers of a repetition are
/// those around them and are left out.
void collect(const Schema& schema, const std::string& path, const KeyFacts* around,
             std::map<std::string, std::string>& descriptions) {
  for (const Key& key : schema.keys()) {
    const KeyFacts& facts = key.facts();
    const std::string here = path + facts.name;
    descriptions[here] = facts.doc;
    if (around != nullptr && around->name == facts.name) {
      continue;
    }
    for (const Schema& inner : facts.schemas) {
      const bool keyword = !facts.discriminator.empty();
      const std::string inside = keyword ? here + "." + inner.name() : here;
      if (keyword) {
        descriptions[inside] = inner.doc();
      }
      collect(inner, inside + ".", &facts, descriptions);
    }
  }
}

std::map<std::string, std::string> all_descriptions() {
  std::map<std::string, std::string> descriptions;
  collect(load::whole_schema(), "", nullptr, descriptions);
  return descriptions;
}

/// The names that textbooks and other programs have for what people search for most.
const std::vector<std::pair<std::string, std::string>>& usual_names() {
  static const std::vector<std::pair<std::string, std::string>> names{
      {"seed", "random seed"},
      {"precision", "floating-point precision"},
      {"data", "data set"},
      {"data.idx.train", "training set"},
      {"data.idx.test", "test set"},
      {"data.hdf5.validation", "validation split"},
      {"data.csv.normalise", "normalisation"},
      {"data.csv.classes", "number of classes"},
      {"data.text.sequence", "sequence length"},
      {"model.loss", "loss function to minimise"},
      {"model.loss.mse", "mean squared error"},
      {"model.loss.cross_entropy", "cross-entropy"},
      {"model.loss.cross_entropy.label_smoothing", "label smoothing"},
      {"model.loss.cross_entropy.class_weights", "class weights"},
      {"model.pretrained", "pretrained weights"},
      {"model.layers.dense.units", "output features"},
      {"model.layers.dense.bias", "bias"},
      {"model.layers.dense.activation", "activation function"},
      {"model.layers.conv2d.filters", "output channels"},
      {"model.layers.conv2d.kernel", "kernel size"},
      {"model.layers.conv2d.stride", "stride"},
      {"model.layers.conv2d.padding", "padding"},
      {"model.layers.conv2d.dilation", "dilation"},
      {"model.layers.max_pool2d", "max pooling"},
      {"model.layers.batch_norm", "batch normalisation"},
      {"model.layers.dropout.rate", "dropout rate"},
      {"model.layers.embedding.units", "embedding dimension"},
      {"model.layers.attention.heads", "number of attention heads"},
      {"model.layers.lstm", "long short-term memory"},
      {"model.layers.gru", "gated recurrent unit"},
      {"model.layers.lstm.units", "hidden size"},
      {"model.layers.causal_attention.heads", "number of attention heads"},
      {"optimizer", "optimizer"},
      {"optimizer.sgd.learning_rate", "learning rate"},
      {"optimizer.adam.learning_rate", "learning rate"},
      {"optimizer.sgd.momentum", "momentum"},
      {"optimizer.sgd.weight_decay", "weight decay"},
      {"optimizer.adamw.weight_decay", "weight decay"},
      {"optimizer.adam.clip_norm", "gradient clipping"},
      {"optimizer.adam.schedule", "learning rate schedule"},
      {"optimizer.adam.schedule.cosine.warm_up", "warm-up"},
      {"lanes.threads", "number of threads"},
      {"lanes.memory", "memory budget"},
      {"policy.single.micro_batches", "micro-batches (gradient accumulation)"},
      {"policy.gpipe.micro_batches", "micro-batches"},
      {"policy.pipedream_2bw.accumulate", "gradient accumulation"},
      {"policy.data_parallel", "data parallelism"},
      {"policy.tensor_parallel", "tensor parallelism"},
      {"policy.gpipe", "pipeline parallelism"},
      {"train.epochs", "number of epochs"},
      {"train.steps", "number of training steps"},
      {"train.batch", "batch size"},
      {"train.shuffle", "shuffling"},
      {"train.patience", "early stopping patience"},
      {"train.evaluate_every", "evaluation interval"},
      {"train.metrics", "metrics"},
      {"memory_plan.recompute", "activation recomputation (checkpointing)"},
      {"memory_plan.offload", "activation offloading"},
      {"checkpoint.every", "checkpoint interval"},
  };
  return names;
}

}  // namespace

TEST_CASE("the description of what is searched for most begins with its usual name") {
  const std::map<std::string, std::string> descriptions = all_descriptions();

  for (const auto& [path, name] : usual_names()) {
    const auto found = descriptions.find(path);
    CAPTURE(path, name);
    REQUIRE(found != descriptions.end());
    CAPTURE(found->second);
    CHECK(lower(found->second).starts_with(name));
  }
}

TEST_CASE("every key and keyword has a description that is a sentence") {
  const std::map<std::string, std::string> descriptions = all_descriptions();

  REQUIRE(descriptions.size() > 300);
  for (const auto& [path, description] : descriptions) {
    CAPTURE(path, description);
    CHECK(description.size() > 1);
    CHECK(description.ends_with('.'));
  }
}

TEST_CASE("usual names find their keys, by paths that explain takes") {
  const Schema schema = load::whole_schema();

  std::set<std::string> names;
  for (const auto& [path, name] : usual_names()) {
    const std::string last = path.substr(path.rfind('.') + 1);
    const std::string text = schema.find(name) != nullptr ? "" : deck::explain(schema, name);
    CAPTURE(path, name, text);
    CHECK((text.empty() || text.find(last + " ") != std::string::npos));
    names.insert(name);
  }
  for (const std::string& name : names) {
    if (schema.find(name) != nullptr) {
      continue;
    }
    const std::string text = deck::explain(schema, name);
    for (std::size_t at = text.find("\n  "); at != std::string::npos;
         at = text.find("\n  ", at + 1)) {
      const std::string found = text.substr(at + 3, text.find(' ', at + 3) - at - 3);
      CAPTURE(name, found);
      CHECK((found == "and" || !deck::explain(schema, found).starts_with("'")));
    }
  }
}

}  // namespace zygos::test_key_descriptions
