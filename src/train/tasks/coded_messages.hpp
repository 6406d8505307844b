// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Messages that travel coded: the sender's lane encodes them, the receiver's decodes them. A lane
// that does not read host memory itself does so in its own memory, so only coded bytes cross its
// link.
#pragma once

#include "zygos/schedule/task.hpp"
#include "zygos/tensor/tensor.hpp"

#include <cstddef>
#include <span>

namespace zygos::train {

struct PlaceState;

/// Tensors, one behind the other, into the message; rounded where they lie, too, where
/// schedule::rounds_source() says so.
void send_coded(PlaceState& state, const schedule::Task& task, std::span<const Tensor> tensors,
                std::byte* message);
/// The message into tensors.
void receive_coded(PlaceState& state, const schedule::Task& task, std::span<const Tensor> tensors,
                   const std::byte* message);
/// sum = term + the message; `sum` may be `term`.
void add_coded(PlaceState& state, const schedule::Task& task, const Tensor& sum, const Tensor& term,
               const std::byte* message);

}  // namespace zygos::train
