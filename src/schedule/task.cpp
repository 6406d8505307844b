// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/schedule/task.hpp"

#include "zygos/core/error.hpp"

#include <array>

namespace zygos::schedule {

std::string_view name_of(Queue queue) {
  switch (queue) {
    case Queue::compute:
      return "compute";
    case Queue::outgoing:
      return "outgoing";
    case Queue::incoming:
      return "incoming";
  }
  throw InternalError("unknown queue");
}

namespace {

constexpr std::array<std::string_view, 19> task_kinds{
    "load",      "copy",    "forward", "recompute",  "loss",       "backward",   "send",
    "broadcast", "receive", "reduce",  "all_reduce", "statistics", "all_gather", "squares",
    "norm",      "update",  "stash",   "fetch",      "average"};
static_assert(static_cast<std::size_t>(TaskKind::average) + 1 == task_kinds.size());

}  // namespace

std::string_view name_of(TaskKind kind) { return task_kinds.at(static_cast<std::size_t>(kind)); }

std::string_view name_of(BufferKind kind) {
  switch (kind) {
    case BufferKind::batch:
      return "batch";
    case BufferKind::staging:
      return "staging";
    case BufferKind::inputs:
      return "inputs";
    case BufferKind::boundary:
      return "boundary";
    case BufferKind::activations:
      return "activations";
    case BufferKind::outputs:
      return "outputs";
    case BufferKind::scratch:
      return "scratch";
    case BufferKind::output_gradients:
      return "output_gradients";
    case BufferKind::input_gradients:
      return "input_gradients";
    case BufferKind::message:
      return "message";
    case BufferKind::gradients:
      return "gradients";
    case BufferKind::reduced_gradients:
      return "reduced_gradients";
    case BufferKind::statistics:
      return "statistics";
    case BufferKind::batch_statistics:
      return "batch_statistics";
    case BufferKind::squares:
      return "squares";
    case BufferKind::norm:
      return "norm";
    case BufferKind::weights:
      return "weights";
    case BufferKind::optimizer_state:
      return "optimizer_state";
  }
  throw InternalError("unknown buffer kind");
}

std::string_view name_of(Payload payload) {
  switch (payload) {
    case Payload::none:
      return "none";
    case Payload::activations:
      return "activations";
    case Payload::activation_gradients:
      return "activation_gradients";
    case Payload::gradients:
      return "gradients";
    case Payload::weights:
      return "weights";
    case Payload::statistics:
      return "statistics";
    case Payload::squares:
      return "squares";
  }
  throw InternalError("unknown payload");
}

namespace {

bool is_of_samples(BufferKind kind) {
  switch (kind) {
    case BufferKind::staging:
    case BufferKind::inputs:
    case BufferKind::boundary:
    case BufferKind::activations:
    case BufferKind::outputs:
    case BufferKind::scratch:
    case BufferKind::output_gradients:
    case BufferKind::input_gradients:
    case BufferKind::statistics:
      return true;
    default:
      return false;
  }
}

bool is_for_node(BufferKind kind) {
  return kind == BufferKind::statistics || kind == BufferKind::batch_statistics;
}

}  // namespace

std::string text_of(const Buffer& buffer, const std::vector<std::string>& places) {
  std::string out(name_of(buffer.kind));
  if (buffer.kind == BufferKind::batch) {
    return out;  // the caller's, on no place
  }
  const auto place = static_cast<std::size_t>(buffer.place);
  if (buffer.kind == BufferKind::message) {
    out += " " + std::to_string(buffer.part);
  }
  out += "@" + (place < places.size() ? places[place] : std::to_string(buffer.place));
  if (is_for_node(buffer.kind)) {
    out += " node " + std::to_string(buffer.part);
  }
  if (is_of_samples(buffer.kind)) {
    out += " mb " + std::to_string(buffer.micro_batch);
  }
  if (buffer.kind == BufferKind::batch_statistics && buffer.micro_batch > 0) {
    out += " update " + std::to_string(buffer.micro_batch);
  }
  if (buffer.slot != 0) {
    out += " slot " + std::to_string(buffer.slot);
  }
  const bool by_owner =
      buffer.kind == BufferKind::weights || buffer.kind == BufferKind::optimizer_state;
  if (buffer.kind == BufferKind::gradients || buffer.kind == BufferKind::reduced_gradients ||
      buffer.kind == BufferKind::squares || (by_owner && buffer.part > 0)) {
    out += " part " + std::to_string(buffer.part);
  }
  return out;
}

}  // namespace zygos::schedule
