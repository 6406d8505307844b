// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Real models under every synchronous policy.
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <string>
#include <vector>

namespace zygos::test::test_deck_bits {
namespace {

using Catch::Matchers::WithinRel;

struct Deck {
  std::string name;
  std::vector<std::string> changes;  ///< data that does not ship is drawn
};

std::vector<Deck> decks() {
  return {{"unet", {"data.samples=40"}},
          {"gpt_char",
           {"data={format: tokens, sequence: 32, vocabulary: 65, samples: 40, test_samples: 8}"}},
          {"cifar10_quick", {"data={format: glyphs, size: 32, samples: 40, test_samples: 8}"}},
          {"gnn", {}}};
}

/// Weights after three steps of eight samples, with gradients that are clipped, and the figures
/// that go with them.
nlohmann::json trained(const Deck& deck, const std::string& policy, const std::string& lanes,
                       const Scratch& scratch) {
  std::vector<std::string> words{"train",
                                 (source_folder() / "inputs" / (deck.name + ".yaml")).string(),
                                 "--json",
                                 "--unmeasured",
                                 "--fresh",
                                 "lanes=" + lanes,
                                 "policy=" + policy,
                                 "train.steps=3",
                                 "train.batch=8",
                                 "train.strict=2",
                                 "train.evaluate_every=never",
                                 "checkpoint.every=never",
                                 "optimizer.clip_norm=0.05"};
  words.insert(words.end(), deck.changes.begin(), deck.changes.end());
  return json_of(words, scratch.path());
}

const std::string two_lanes =
    "{a: {kind: emulated, threads: 1}, b: {kind: emulated, threads: 2, link: {bandwidth: 12 GB/s, "
    "latency: 10 us}}}";

}  // namespace

TEST_CASE(
    "In strict mode U-Net, GPT, CIFAR and graph decks train to one lane's bits by any policy") {
  const Scratch scratch;
  for (const Deck& deck : decks()) {
    const auto one = trained(deck, "{type: single}", "{a: {kind: emulated, threads: 1}}", scratch);
    for (const std::string policy :
         {"{type: coarse_split, share: 0.25}", "{type: layer_placement}",
          "{type: gpipe, micro_batches: 4}",
          "{type: one_f_one_b, micro_batches: 4, recompute: true}",
          "{type: hippie, micro_batches: 2, replicas: 2}", "{type: data_parallel}",
          "{type: data_parallel, exchange: ring}", "{type: data_parallel, exchange: central}",
          "{type: data_parallel, exchange: chunked_broadcast, chunks: 2}", "{type: mirrored}",
          "{type: zero_offload, owner: a, bucket: 64 kB}"}) {
      CAPTURE(deck.name, policy);
      const auto several = trained(deck, policy, two_lanes, scratch);
      CHECK(several["weights_xxh64"] == one["weights_xxh64"]);
      // Its sum over lanes is in double, for reports alone.
      CHECK_THAT(several["loss"].get<double>(), WithinRel(one["loss"].get<double>(), 1e-14));
      CHECK(several["moved_bytes"] > 0);
    }
  }
}

}  // namespace zygos::test::test_deck_bits
