// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/place/place_use.hpp"

namespace zygos::train {

PlaceUse::PlaceUse(const memory::Arena& lane, const memory::Arena& staging)
    : all_{memory::UsedMemory(lane), memory::UsedMemory(staging)}, logs_{all_, all_, all_, all_} {
  static_assert(schedule::queue_count == 4);
}

void PlaceUse::end() {
  if (!measures_) {
    return;
  }
  for (Log& log : logs_) {
    all_.lane.take(log.lane);
    all_.staging.take(log.staging);
  }
  lane_ = all_.lane.usage();
  staging_ = all_.staging.usage();
  measures_ = false;
}

void PlaceUse::note_bytes(const schedule::Task& task, const void* begin, std::size_t bytes) {
  if (measures_) {
    Log& log = logs_[static_cast<std::size_t>(task.queue)];
    log.lane.note(begin, bytes);
    log.staging.note(begin, bytes);
  }
}

void PlaceUse::add(Log& log, const Tensor& tensor) {
  log.lane.note(tensor.raw(), tensor.bytes());
  log.staging.note(tensor.raw(), tensor.bytes());
}

void PlaceUse::add(Log& log, const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) {
    add(log, tensor);
  }
}

void PlaceUse::add(Log& log, const NodePass& pass) {
  add(log, pass.inputs);
  add(log, pass.workspace);
  add(log, pass.output);
}

void PlaceUse::add(Log& log, const NodeBackward& backward) {
  add(log, backward.pass);
  add(log, backward.d_output);
  add(log, backward.d_inputs);
  for (const auto& [part, whole] : backward.added) {
    add(log, part);
    add(log, whole);
  }
}

}  // namespace zygos::train
