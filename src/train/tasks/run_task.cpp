// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/tasks/run_task.hpp"

#include "train/place/place_state.hpp"
#include "train/tasks/batch.hpp"
#include "train/tasks/compress.hpp"
#include "train/tasks/pass.hpp"
#include "train/tasks/reduce.hpp"
#include "train/tasks/spill.hpp"

#include <string>

namespace zygos::train {

void run_task(PlaceState& state, schedule::TaskId id, const MessageBoard& board) {
  using schedule::TaskKind;
  const TaskKind kind = state.task(id).kind;
  switch (kind) {
    case TaskKind::load:
      return run_load(state, id);
    case TaskKind::copy:
      return run_copy(state, id);
    case TaskKind::forward:
    case TaskKind::recompute:
      return run_forward(state, id);
    case TaskKind::loss:
      return run_loss(state, id);
    case TaskKind::backward:
      return run_backward(state, id);
    case TaskKind::statistics:
      return run_statistics(state, id);
    case TaskKind::all_gather:
      return run_all_gather(state, id, board);
    case TaskKind::squares:
      return run_squares(state, id);
    case TaskKind::norm:
      return run_norm(state, id, board);
    case TaskKind::compress:
      return run_compress(state, id);
    case TaskKind::update:
    case TaskKind::speculate:
    case TaskKind::confirm:
      return run_update(state, id);
    case TaskKind::average:
      return run_average(state, id);
    case TaskKind::stash:
    case TaskKind::offload:
    case TaskKind::fetch:
      return run_copy_weights(state, id);
    case TaskKind::offload_activations:
    case TaskKind::fetch_activations:
      return run_copy_activations(state, id);
    case TaskKind::write_activations:
    case TaskKind::write_states:
    case TaskKind::write_weights:
      return run_write(state, id);
    case TaskKind::read_activations:
    case TaskKind::read_states:
    case TaskKind::read_weights:
      return run_read(state, id);
    case TaskKind::send:
    case TaskKind::broadcast:
      return run_send(state, id, board);
    case TaskKind::receive:
      return run_receive(state, id, board);
    case TaskKind::reduce:
      return run_reduce(state, id, board);
    case TaskKind::all_reduce:
      return run_all_reduce(state, id, board);
  }
  throw InternalError("the engine cannot execute a task of kind '" + std::string(name_of(kind)) +
                      "'");
}

}  // namespace zygos::train
