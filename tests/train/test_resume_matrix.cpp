// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Every optimizer of the build, in float and bf16, under every policy, stopped half way and gone on
// with other threads, policies and lanes: the bits of a run that nobody stopped. A new optimizer is
// in it by itself, a new policy is a row of the table below.
#include "nn/support/from_deck.hpp"
#include "small_run.hpp"
#include "support/temporary_folder.hpp"

#include "zygos/io/checkpoint_store.hpp"
#include "zygos/nn/registry.hpp"
#include "zygos/plan/activation_plan.hpp"
#include "zygos/plan/staleness.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

namespace zygos::test_resume_matrix {
namespace {

using test::SmallRun;

struct Row {
  std::string policy;  ///< as in a deck
  int lanes = 2;
  /// Strict mode can change to and from it: it is synchronous and has chunks.
  bool exchangeable = true;
  bool spills = false;  ///< all activations that backward does not need at once
  std::string only{};   ///< optimizer that it is for; empty: all

  bool fits(const std::string& optimizer) const { return only.empty() || only == optimizer; }
};

const std::vector<Row>& rows() {
  static const std::vector<Row> table{
      {"{type: single}", 1},
      {"{type: single, micro_batches: 2}", 1},
      {"{type: coarse_split, share: 0.375}"},
      {"{type: coarse_split, shares: [1, 2, 2]}", 3},
      {"{type: coarse_split, share: 0.4, pipeline: {lanes: [device1, device2], cuts: [fc2], "
       "micro_batches: 2}}",
       3},
      {"{type: layer_placement, cuts: [fc2]}"},
      {"{type: gpipe, micro_batches: 4, cuts: [fc2]}"},
      {"{type: gpipe, micro_batches: 2, recompute: always, cuts: [drop, fc2]}", 3},
      {"{type: one_f_one_b, micro_batches: 4, cuts: [fc2]}"},
      {"{type: hippie, micro_batches: 2, cuts: [fc2]}"},
      {"{type: hippie, micro_batches: 2, cuts: [fc2]}", 4},
      {"{type: data_parallel}", 3},
      {"{type: data_parallel, exchange: chunked_broadcast, chunks: 2}", 3},
      {"{type: mirrored}", 3},
      {"{type: multi_worker_mirrored}", 3},
      {"{type: central_storage}"},
      {"{type: central_storage, server: device1, server_trains: true}", 3},
      {"{type: zero_offload}"},
      {"{type: zero_offload, weights: host}", 2, false},
      {"{type: zero_offload, bucket: 64 B, states: file}"},
      {"{type: zero_offload, bucket: 64 B, states: file, weights: host}", 2, false},
      {"{type: cotrain, device_layers: 1}"},
      {"{type: cotrain, device_layers: 0.5, bucket: 64 B, states: file}"},
      {"{type: pipedream, micro_batches: 4, cuts: [fc2]}", 2, false},
      {"{type: pipedream, micro_batches: 4, cuts: [fc2], stash: host}", 2, false},
      // The first stage, on the host, has three versions; with vertical sync each has.
      {"{type: pipedream, micro_batches: 4, cuts: [drop, fc2], stash: file}", 3, false},
      {"{type: pipedream, micro_batches: 4, cuts: [drop, fc2], vertical_sync: true, stash: file}",
       3, false},
      {"{type: pipedream_2bw, updates: 2, cuts: [fc2]}", 2, false},
      {.policy = "{type: single}", .lanes = 1, .spills = true},
      {.policy = "{type: gpipe, micro_batches: 4, cuts: [fc2]}", .spills = true},
      {.policy = "{type: one_bit_adam}", .exchangeable = false, .only = "one_bit_adam"},
  };
  return table;
}

/// What `registry` makes of "{type: keyword, ...}".
template <class Entries>
auto from_deck(const Entries& registry, const std::string& text) {
  std::vector<deck::Schema> schemas;
  std::ranges::transform(registry, std::back_inserter(schemas),
                         [](const auto& entry) { return entry.schema; });
  deck::Schema schema("test", "One entry of a registry.");
  schema.variant("made", "type", schemas, "The entry.").required();
  const auto section =
      deck::Deck::parse("made: " + text, "test.yaml", schema).root().section("made");
  return std::ranges::find(registry, section.text("type"),
                           [](const auto& entry) { return entry.schema.name(); })
      ->make(section);
}

std::vector<lane::LaneSpec> lanes_of(int count, int threads) {
  std::vector<lane::LaneSpec> specs{test::host_lane(threads)};
  for (int i = 1; i < count; ++i) {
    specs.push_back(test::emulated_lane());
    specs.back().name = "device" + std::to_string(i);
    specs.back().threads = threads;
  }
  return specs;
}

struct Case {
  std::string optimizer;
  DType dtype = DType::f32;
  bool strict = false;
  bool wide = false;    ///< a model whose kernels are shared between threads
  bool frozen = false;  ///< all parameters of the first layer, and so of the first stage
};

constexpr std::uint64_t half = 2;
constexpr std::uint64_t whole = 4;

struct Result {
  std::string weights;    ///< their hash after all steps
  io::Checkpoint middle;  ///< the state half way
};

/// Of frozen parameters not a bit is another one, of each other one some are.
void require_frozen(const graph::Graph& graph, const std::vector<double>& begun,
                    const std::vector<double>& ended) {
  for (const graph::Parameter& parameter : graph.parameters()) {
    CAPTURE(parameter.name);
    const auto first = begun.begin() + parameter.offset;
    CHECK(std::equal(first, first + parameter.shape.size(), ended.begin() + parameter.offset) ==
          parameter.frozen);
  }
}

/// Trains from the seed, or from the state half way.
Result trained(const Case& one, const Row& row, int threads, const io::Checkpoint* from) {
  SmallRun run(lanes_of(row.lanes, threads), one.dtype, 20);
  // Compressed from the second step on, where it is exchanged in one bit an element.
  const std::string options = one.optimizer == "one_bit_adam" ? ", freeze: 1}"
                              : one.frozen                    ? ", weight_decay: 0.1}"
                                                              : "}";
  run.optimizer = from_deck(nn::optimizer_registry(), "{type: " + one.optimizer + options);
  if (one.wide) {
    run.use(test::wide_model());
  }
  if (one.frozen) {
    run.graph.freeze(0);
  }
  auto problem = run.problem();
  problem.chunk = one.strict ? 5 : 0;
  if (row.spills) {
    problem.activations = plan::spill_plan(problem.model).nodes;
    REQUIRE(!problem.activations.empty());
  }
  const auto engine =
      run.engine(from_deck(policies::registry(), row.policy)->schedule(problem, nullptr));
  CHECK((!row.exchangeable || plan::is_synchronous(engine->schedule())));
  if (from != nullptr) {
    engine->restore(*from);
  }
  Result result;
  const auto begun = engine->weights();
  for (std::uint64_t step = from == nullptr ? 1 : half + 1; step <= whole; ++step) {
    engine->step(run.batch(), step);
    if (step == half) {
      result.middle = test::saved_state(*engine);
    }
  }
  result.weights = engine->weights_hash();
  if (one.frozen) {
    require_frozen(run.graph, begun, engine->weights());
  }
  return result;
}

/// Same tensors, bit for bit.
bool same_state(const io::Checkpoint& a, const io::Checkpoint& b) {
  const auto key = [](const io::StoredTensor& tensor) {
    return std::tie(tensor.name, tensor.dtype, tensor.shape, tensor.bytes);
  };
  return std::ranges::is_permutation(a.tensors, b.tensors, std::ranges::equal_to{}, key, key);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::string& optimizer : zygos::testing::keywords(nn::optimizer_registry())) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
      all.push_back({optimizer, dtype});
    }
  }
  return all;
}

}  // namespace

TEST_CASE("Every optimizer under every policy resumes with 1, 2 and 4 threads to the same bits",
          "[train][resume]") {
  for (Case one : cases()) {
    // Threads are the same code for every optimizer's pass; one of them is enough on a wide model.
    one.wide = one.optimizer == "adam";
    for (const Row& row : rows()) {
      if (!row.fits(one.optimizer)) {
        continue;
      }
      const Result undisturbed = trained(one, row, 1, nullptr);
      for (const int threads : {1, 2, 4}) {
        CAPTURE(one.optimizer, name_of(one.dtype), row.policy, threads);
        CHECK(trained(one, row, threads, &undisturbed.middle).weights == undisturbed.weights);
      }
    }
  }
}

// Every policy's state half way has the same bits, so that going on from one is going on from all
// of them: a policy goes on from that of the row before it.
TEST_CASE("In strict mode every optimizer resumes under every other policy to the same bits",
          "[train][resume]") {
  for (Case one : cases()) {
    one.strict = true;
    const Result expected = trained(one, {"{type: single}", 1}, 1, nullptr);
    io::Checkpoint before = expected.middle;
    for (const Row& row : rows()) {
      if (!row.exchangeable) {
        continue;
      }
      CAPTURE(one.optimizer, name_of(one.dtype), row.policy);
      const Result begun = trained(one, row, 1, nullptr);
      CHECK(begun.weights == expected.weights);
      CHECK(same_state(begun.middle, expected.middle));
      CHECK(trained(one, row, 1, &before).weights == expected.weights);
      before = begun.middle;
    }
  }
}

TEST_CASE("A frozen layer keeps its bits with every optimizer under every policy, resumed or not",
          "[train][resume][frozen]") {
  for (Case one : cases()) {
    one.frozen = true;
    for (const Row& row : rows()) {
      if (!row.fits(one.optimizer) || row.spills) {
        continue;
      }
      CAPTURE(one.optimizer, name_of(one.dtype), row.policy);
      const Result undisturbed = trained(one, row, 1, nullptr);
      CHECK(trained(one, row, 2, &undisturbed.middle).weights == undisturbed.weights);
    }
  }
}

TEST_CASE("The matrix resumes from checkpoints in files as from those in memory",
          "[train][resume]") {
  const test::TemporaryFolder folder("resume-matrix");
  const Row row{"{type: cotrain, device_layers: 1}"};
  for (const Case& one : cases()) {
    CAPTURE(one.optimizer, name_of(one.dtype));
    const Result undisturbed = trained(one, row, 1, nullptr);
    io::CheckpointStore store(folder.path() / (one.optimizer + std::string(name_of(one.dtype))), 1);
    std::vector<io::TensorRef> tensors;
    for (const io::StoredTensor& tensor : undisturbed.middle.tensors) {
      tensors.push_back({tensor.name, tensor.dtype, tensor.shape, tensor.bytes.data()});
    }
    store.write(half, tensors, {});
    const auto read = store.load_newest();
    REQUIRE(read);
    CHECK(trained(one, row, 2, &*read).weights == undisturbed.weights);
  }
}

}  // namespace zygos::test_resume_matrix
