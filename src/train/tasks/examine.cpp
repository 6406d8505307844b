// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/tasks/examine.hpp"

#include "train/place/place_state.hpp"

#include "zygos/tensor/convert.hpp"

#include <vector>

namespace zygos::train {

void examine(PlaceState& state, graph::NodeId node, const Tensor& output) {
  if (state.first_bad >= 0 && state.first_bad <= node) {
    return;
  }
  std::vector<std::byte> host(output.bytes());
  state.lane().copy_to_host(host.data(), output.raw(), host.size(), "zygos::train::examine");
  state.lane().fence("zygos::train::examine");
  if (first_not_finite(output.dtype(), host.data(), output.size())) {
    state.first_bad = node;
  }
}

}  // namespace zygos::train
