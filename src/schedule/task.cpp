// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/schedule/task.hpp"

#include "zygos/core/error.hpp"

namespace zygos::schedule {

std::string_view name_of(TaskKind kind) {
  switch (kind) {
    case TaskKind::load:
      return "load";
    case TaskKind::copy:
      return "copy";
    case TaskKind::forward:
      return "forward";
    case TaskKind::loss:
      return "loss";
    case TaskKind::backward:
      return "backward";
    case TaskKind::send:
      return "send";
    case TaskKind::all_reduce:
      return "all_reduce";
    case TaskKind::update:
      return "update";
  }
  throw InternalError("unknown task kind");
}

std::string_view name_of(BufferKind kind) {
  switch (kind) {
    case BufferKind::batch:
      return "batch";
    case BufferKind::staging:
      return "staging";
    case BufferKind::inputs:
      return "inputs";
    case BufferKind::activations:
      return "activations";
    case BufferKind::prediction_gradient:
      return "prediction_gradient";
    case BufferKind::gradients:
      return "gradients";
    case BufferKind::sent_gradients:
      return "sent_gradients";
    case BufferKind::reduced_gradients:
      return "reduced_gradients";
    case BufferKind::weights:
      return "weights";
    case BufferKind::optimizer_state:
      return "optimizer_state";
  }
  throw InternalError("unknown buffer kind");
}

std::string text_of(const SampleRange& samples) {
  return std::to_string(samples.begin) + "-" + std::to_string(samples.end);
}

std::string text_of(const NodeRange& nodes) {
  return std::to_string(nodes.begin) + "-" + std::to_string(nodes.end);
}

std::string text_of(const Buffer& buffer, const std::vector<std::string>& places) {
  if (buffer.kind == BufferKind::batch) {
    return std::string(name_of(buffer.kind));  // the caller's, on no place
  }
  const auto place = static_cast<std::size_t>(buffer.place);
  return std::string(name_of(buffer.kind)) + "@" + (place < places.size() ? places[place] : "?") +
         " mb" + std::to_string(buffer.micro_batch) + " v" + std::to_string(buffer.version);
}

}  // namespace zygos::schedule
