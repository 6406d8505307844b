// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The norm of the model's gradient, of which a place has a part: it sums the squares of that,
// gets the other places' sums and makes the factor that its updates are clipped with. The host
// waits for nothing.
#pragma once

#include "train/messages/message_board.hpp"

#include "zygos/lane/lane.hpp"
#include "zygos/schedule/task.hpp"
#include "zygos/tensor/tensor.hpp"

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace zygos::train {

struct PlaceState;

/// What the norm of a gradient is made in, and the factor that it gives.
struct Norm {
  Tensor pieces;     ///< (pieces, 2) i64: elements from the task's first one
  Tensor first;      ///< (own sums + 1) i64
  Tensor workspace;  ///< f64
  Tensor sums;       ///< (sums of the model) f64
  Tensor factor;     ///< (1) f64
  /// What a task sums, of all this.
  struct Squares {
    Tensor pieces;
    Tensor first;
    Tensor sums;
    std::size_t begin = 0;  ///< first piece of NormPlan::pieces
    std::size_t end = 0;    ///< behind the last one
  };
  std::map<schedule::TaskId, Squares> squares;
  /// Where the sums of other places go, by their messages; room for the copies.
  struct Arrivals {
    std::vector<std::pair<schedule::Buffer, Tensor>> sums;
    std::vector<lane::CopyPiece> pieces;
  };
  std::map<schedule::TaskId, Arrivals> arrivals;
};

/// Without tensors where nothing is clipped.
Norm bind_norm(const PlaceState& state);
/// Writes what squares are summed by; part of putting state on a place.
void write_norm_plan(const PlaceState& state);

void run_squares(PlaceState& state, schedule::TaskId id);
/// What a send of squares does: the place's own sums.
void send_squares(PlaceState& state, schedule::TaskId id, std::byte* message);
void run_norm(PlaceState& state, schedule::TaskId id, const MessageBoard& board);

}  // namespace zygos::train
