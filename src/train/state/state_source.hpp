// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The tensors of a snapshot, read piece by piece from wherever places have them: no flat buffer of
// the whole model is made.
#pragma once

#include "train/state/model_state.hpp"

#include "zygos/graph/graph.hpp"
#include "zygos/io/tensor_source.hpp"
#include "zygos/nn/optimizer.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace zygos::train {

/// Of places that are all of this process. Names, types, shapes and bytes are those of
/// snapshot_of(), between steps; read() throws NumericError for a weight that is not finite.
class StateSource final : public io::TensorSource {
 public:
  StateSource(const ModelState& state, const nn::Optimizer& optimizer);

  std::span<const io::TensorRef> tensors() const override { return refs_; }
  void read(std::size_t tensor, std::size_t begin, std::span<std::byte> out) override;

 private:
  /// One flat buffer of the model.
  struct Buffer {
    schedule::BufferKind kind = schedule::BufferKind::weights;
    std::int32_t slot = 0;
    std::vector<Held> held;
  };
  /// Elements of a flat buffer of the model that runs; zeros where no place has them.
  void read_running(const Buffer& buffer, schedule::ElementRange elements,
                    std::span<std::byte> out) const;
  void add_buffer(const std::string& name, Buffer buffer);

  const ModelState& state_;
  std::vector<Buffer> buffers_;
  std::vector<graph::ElementRun> runs_;  ///< by `whole`; none: the model runs as it is
  std::vector<io::TensorRef> refs_;      ///< of all buffers, parameter by parameter
};

}  // namespace zygos::train
