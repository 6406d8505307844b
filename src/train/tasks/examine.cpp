// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/tasks/examine.hpp"

#include "train/finite.hpp"
#include "train/place/place_state.hpp"

#include <vector>

namespace zygos::train {

void examine(PlaceState& state, graph::NodeId node, const Tensor& output) {
  if (state.first_bad >= 0 && state.first_bad <= node) {
    return;
  }
  std::vector<std::byte> host(output.bytes());
  state.lane().copy_to_host(host.data(), output.raw(), host.size(), "zygos::train::examine");
  state.lane().fence("zygos::train::examine");
  if (!all_finite(Tensor(host.data(), output.dtype(), output.shape()))) {
    state.first_bad = node;
  }
}

}  // namespace zygos::train
