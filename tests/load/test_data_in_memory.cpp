// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/temporary_folder.hpp"
#include "train/small_run.hpp"

#include "zygos/io/hdf5_dataset.hpp"
#include "zygos/load/data.hpp"
#include "zygos/load/deck_file.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <string>

namespace zygos::test_data_in_memory {

namespace {

constexpr const char* deck_text = R"(deck_version: 1
data: {format: hdf5, train: {file: train.h5}, test: {file: test.h5}}
model:
  layers: [{type: dense, units: 3}]
  loss: cross_entropy
optimizer: sgd
lanes:
  host: {kind: host}
policy: single
train: {batch: 16, epochs: 1}
)";

/// 60 and 20 samples of ten floats and a label.
constexpr std::uint64_t bytes_of_both = (60 + 20) * (10 * 4 + 4);

/// What is loaded where a process may use so much memory.
load::RunData loaded(const test::TemporaryFolder& folder, std::uint64_t memory,
                     const std::string& in_memory) {
  const load::CheckedDeck deck =
      load::parse_deck(deck_text, folder.path() / "deck.yaml", {"data.in_memory=" + in_memory});
  return load::load_data(deck.spec, deck.deck.findings(), 0, memory);
}

}  // namespace

TEST_CASE("data.in_memory: auto loads sets of up to half of the memory that may be used",
          "[load]") {
  const test::TemporaryFolder folder("in-memory");
  io::write_hdf5_dataset(folder.path() / "train.h5", test::small_data(60));
  io::write_hdf5_dataset(folder.path() / "test.h5", test::small_data(20));

  const load::RunData small = loaded(folder, 2 * bytes_of_both, "auto");
  CHECK(small.training.source == nullptr);
  CHECK(small.test.value().source == nullptr);
  CHECK(small.training.inputs.bytes() + small.training.targets.bytes() +
            small.test->inputs.bytes() + small.test->targets.bytes() ==
        bytes_of_both);

  const load::RunData large = loaded(folder, 2 * bytes_of_both - 2, "auto");
  CHECK(large.training.source != nullptr);
  CHECK(large.test.value().source != nullptr);
  CHECK(large.training.size() == 60);
}

TEST_CASE("a deck that says where its samples are is obeyed whatever the memory", "[load]") {
  const test::TemporaryFolder folder("in-memory-said");
  io::write_hdf5_dataset(folder.path() / "train.h5", test::small_data(60));
  io::write_hdf5_dataset(folder.path() / "test.h5", test::small_data(20));

  CHECK(loaded(folder, 1, "true").training.source == nullptr);
  CHECK(loaded(folder, 1000 * bytes_of_both, "false").training.source != nullptr);
}

}  // namespace zygos::test_data_in_memory
