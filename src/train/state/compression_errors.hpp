// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What compressed exchanges have left out so far and will send later, in checkpoints. Errors of a
// worker belong to its lane: "compression_error/<lane>/<parameter>". Those of sums belong to the
// model, whoever owns a part: "sum_error/<parameter>".
#pragma once

#include "train/state/model_state.hpp"

#include "zygos/io/checkpoint_store.hpp"

#include <string>
#include <vector>

namespace zygos::train {

/// Errors that make one flat buffer of the model.
struct ErrorBuffer {
  std::string name;
  schedule::BufferKind kind = schedule::BufferKind::sum_error;
  std::vector<Held> held;
};
/// One for each worker, and one for all sums.
std::vector<ErrorBuffer> error_buffers(const ModelState& state);

/// Appends them to a snapshot; in host memory, until the next time. Collective.
void append_errors(ModelState& state, std::vector<io::TensorRef>& refs);
/// Puts back what the checkpoint has for the lanes of this run; errors of a lane that it does not
/// know stay zero. Behind write_state(), which makes all of them zero.
void restore_errors(const ModelState& state, const io::Checkpoint& checkpoint);

}  // namespace zygos::train
