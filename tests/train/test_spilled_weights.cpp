// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Versions of the weights that rest in files while PipeDream does not use them: every bit is that
// of versions in memory.
#include "small_run.hpp"
#include "support/temporary_folder.hpp"

#include "zygos/core/error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace zygos::test_spilled_weights {
namespace {

using schedule::Tier;
using test::SmallRun;

constexpr std::uint64_t steps = 4;

/// Lanes that read host memory themselves, and lanes that do not, in turn.
std::vector<lane::LaneSpec> lanes_of(std::size_t count, int threads) {
  std::vector<lane::LaneSpec> specs{test::host_lane(threads)};
  while (specs.size() < count) {
    lane::LaneSpec spec = test::emulated_lane();
    spec.name = "lane" + std::to_string(specs.size());
    spec.threads = threads;
    spec.unified = specs.size() % 2 == 0;
    specs.push_back(spec);
  }
  return specs;
}

graph::Graph four_layers() {
  graph::Graph graph(Shape{10}, nn::cross_entropy());
  for (const std::string name : {"fc1", "fc2", "fc3"}) {
    graph.add(name, test::tanh_layer(24));
  }
  graph.add("fc4", nn::dense({.units = 3, .bias = true, .activation = nn::Activation::none}));
  return graph;
}

struct Variant {
  std::string name;
  int threads = 1;
  bool vertical_sync = false;
  DType dtype = DType::f64;
  std::vector<std::int64_t> replicas{};
};

/// A run and the engine that works on it.
struct Piped {
  Piped(Tier stash, const Variant& variant, const std::filesystem::path& folder = {})
      : run(lanes_of(variant.replicas.empty() ? 4 : 5, variant.threads), variant.dtype) {
    run.use(four_layers());
    run.options.spill_folder = folder;
    engine = run.engine(
        run.schedule_of(policies::pipedream({.micro_batches = 10,
                                             .replicas = variant.replicas,
                                             .vertical_sync = variant.vertical_sync,
                                             .stages = {.cuts = {"fc2", "fc3", "fc4"}, .lanes = {}},
                                             .stash = stash})));
  }

  SmallRun run;
  std::unique_ptr<train::Engine> engine;
};

io::Checkpoint trained(Tier stash, const Variant& variant) {
  Piped piped(stash, variant);
  train::Batch incomplete = piped.run.batch();
  incomplete.ids = incomplete.ids.first(7);
  for (std::uint64_t step = 1; step <= steps; ++step) {
    piped.engine->step(step == 3 ? incomplete : piped.run.batch(), step);
    piped.engine->evaluate(piped.run.batch());
  }
  return test::saved_state(*piped.engine);
}

void check_same(const io::Checkpoint& one, const io::Checkpoint& other) {
  REQUIRE(one.tensors.size() == other.tensors.size());
  for (std::size_t i = 0; i < one.tensors.size(); ++i) {
    CAPTURE(one.tensors[i].name);
    CHECK(one.tensors[i].name == other.tensors[i].name);
    CHECK(one.tensors[i].bytes == other.tensors[i].bytes);
  }
}

/// While it lives, a file of this process grows no further than its first page.
class NoRoom {
 public:
  NoRoom() : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit little{4096, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &little);
  }
  ~NoRoom() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  NoRoom(const NoRoom&) = delete;
  NoRoom& operator=(const NoRoom&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

}  // namespace

TEST_CASE("Versions in files give the bits of versions in memory, for all threads and precisions",
          "[train][memory]") {
  const std::vector<Variant> variants{
      {"plain"},
      {"two threads", 2},
      {"vertical sync", 1, true},
      {"bf16", 1, false, DType::bf16},
      {"bf16, vertical sync", 2, true, DType::bf16},
      {"first stage on two lanes", 1, false, DType::f64, {2, 1, 1, 1}}};
  for (const Variant& variant : variants) {
    CAPTURE(variant.name);
    const io::Checkpoint expected = trained(Tier::host, variant);
    check_same(trained(Tier::lane, variant), expected);
    check_same(trained(Tier::file, variant), expected);
  }
}

TEST_CASE("A run resumes with its versions in files, in memory or on the lanes, to the same bits",
          "[train][resume]") {
  const Variant plain{"plain"};
  Piped whole(Tier::host, plain);
  for (std::uint64_t step = 1; step <= steps; ++step) {
    whole.engine->step(whole.run.batch(), step);
  }
  for (const Tier before : {Tier::lane, Tier::file}) {
    for (const Tier after : {Tier::host, Tier::file}) {
      Piped first(before, plain);
      for (std::uint64_t step = 1; step <= steps / 2; ++step) {
        first.engine->step(first.run.batch(), step);
      }
      Piped second(after, plain);
      second.engine->step(second.run.batch(), 1);  // what restore() has to replace
      second.engine->restore(test::saved_state(*first.engine));
      for (std::uint64_t step = steps / 2 + 1; step <= steps; ++step) {
        second.engine->step(second.run.batch(), step);
      }
      check_same(test::saved_state(*second.engine), test::saved_state(*whole.engine));
    }
  }
}

TEST_CASE("A file that takes no more ends the step with an I/O error, and restoring cures it",
          "[train]") {
  const test::TemporaryFolder folder("spilled-weights");
  Piped piped(Tier::file, {"plain"}, folder.path());
  piped.engine->step(piped.run.batch(), 1);
  const io::Checkpoint good = test::saved_state(*piped.engine);

  {
    const NoRoom no_room;
    try {
      piped.engine->step(piped.run.batch(), 2);
      FAIL("nobody has noticed");
    } catch (const LaneError& error) {
      CHECK(error.code() == ExitCode::io);
      CHECK_THAT(error.what(), Catch::Matchers::ContainsSubstring("write_weights@") &&
                                   Catch::Matchers::ContainsSubstring("spilled_weights@") &&
                                   Catch::Matchers::ContainsSubstring("Checkpoints are untouched"));
    }
  }
  piped.engine->restore(good);
  piped.engine->step(piped.run.batch(), 2);

  Piped undisturbed(Tier::host, {"plain"});
  undisturbed.engine->step(undisturbed.run.batch(), 1);
  undisturbed.engine->step(undisturbed.run.batch(), 2);
  check_same(test::saved_state(*piped.engine), test::saved_state(*undisturbed.engine));
}

TEST_CASE("A folder without room for the versions is refused before the first step", "[train]") {
  const test::TemporaryFolder folder("spilled-weights-full");
  const NoRoom no_room;
  CHECK_THROWS_AS(Piped(Tier::file, {"plain"}, folder.path()), IoError);
  CHECK(std::filesystem::is_empty(folder.path()));
}

}  // namespace zygos::test_spilled_weights
