// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/nn/onnx_reading.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace zygos::nn {

/// By gate of the operator its number in our layer: i, o, f, c in i, f, g, o.
inline constexpr std::array<std::int64_t, 4> lstm_onnx_gates{0, 3, 1, 2};
/// The same: z, r, h in r, z, n.
inline constexpr std::array<std::int64_t, 3> gru_onnx_gates{1, 0, 2};

/// lstm and gru as the operators LSTM and GRU of one direction or the other, positions first, from
/// a state of zeros. What has the batch first, as PyTorch does with batch_first=True, is transposed
/// around them.
std::optional<OnnxLayer> read_lstm(OnnxSource& source, const OnnxOperator& op);
std::optional<OnnxLayer> read_gru(OnnxSource& source, const OnnxOperator& op);

}  // namespace zygos::nn
