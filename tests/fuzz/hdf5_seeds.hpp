// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace zygos::fuzz {

/// Files with the data sets "x" and "y": contiguous, compact, and packed in chunks.
std::vector<std::string> hdf5_seeds();
/// The tensors of a checkpoint in the oldest format, whose structure has no check sums.
std::string old_checkpoint_image();
/// A file that load_node_graph() reads.
std::string graph_seed();

}  // namespace zygos::fuzz
