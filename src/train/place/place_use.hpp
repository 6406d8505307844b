// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Measured memory of a place: tasks note their operands when they run. Nothing here asks the memory
// plan for a size, which is what the measured bytes are compared with.
#pragma once

#include "train/place/stage_binding.hpp"

#include "zygos/memory/used_memory.hpp"
#include "zygos/schedule/task.hpp"
#include "zygos/tensor/tensor.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace zygos::train {

class PlaceUse {
 public:
  /// The arenas must outlive this.
  PlaceUse(const memory::Arena& lane, const memory::Arena& staging);

  /// Whether tasks note their operands from here on. A call that is not measured pays one
  /// comparison for each task of a layer.
  void begin(bool measures) noexcept { measures_ = measures; }
  /// Between calls: puts together what the threads of the place's queues have noted.
  void end();

  /// Each queue of the place has a log of its own, because each may have a thread of its own.
  template <class... Operands>
  void note(const schedule::Task& task, const Operands&... operands) {
    if (measures_) {
      (add(logs_[static_cast<std::size_t>(task.queue)], operands), ...);
    }
  }
  void note_bytes(const schedule::Task& task, const void* begin, std::size_t bytes);

  const memory::Usage& lane() const noexcept { return lane_; }
  const memory::Usage& staging() const noexcept { return staging_; }

 private:
  struct Log {
    memory::UsedMemory lane;
    memory::UsedMemory staging;
  };
  static void add(Log& log, const Tensor& tensor);
  static void add(Log& log, const std::vector<Tensor>& tensors);
  static void add(Log& log, const NodePass& pass);
  static void add(Log& log, const NodeBackward& backward);

  Log all_;
  std::array<Log, schedule::queue_count> logs_;
  memory::Usage lane_;
  memory::Usage staging_;
  bool measures_ = false;
};

}  // namespace zygos::train
