// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The layer that docs/tutorial.md makes by copying a file, compiled beside the library.
#include "zygos/deck/deck.hpp"
#include "zygos/nn/registry.hpp"

#include <catch2/catch_test_macros.hpp>

namespace zygos::nn {

Entry<LayerPtr> steep_relu_entry();

TEST_CASE("The layer that the tutorial copies has a keyword and a default of its own") {
  const Entry<LayerPtr> entry = steep_relu_entry();
  deck::Schema schema("model", "A layer.");
  schema.variants("layers", "type", {entry.schema}, "Layers.").required();

  const deck::Deck deck = deck::Deck::parse("layers: [steep_relu]", "my_layer.yaml", schema);

  const deck::Section section = deck.root().sections("layers").front();
  CHECK(section.real("slope") == 0.2);
  CHECK(entry.make(section)->type() == "steep_relu");
}

}  // namespace zygos::nn
