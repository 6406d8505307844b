// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/schedule/task.hpp"

namespace zygos::schedule {

std::string text_of(const Buffer& buffer, const std::vector<std::string>& places) {
  const BufferTraits& kind = traits_of(buffer.kind);
  std::string out(kind.name);
  if (buffer.kind == BufferKind::batch) {
    return out;  // the caller's, on no place
  }
  const auto place = static_cast<std::size_t>(buffer.place);
  if (buffer.kind == BufferKind::message) {
    out += " " + std::to_string(buffer.part);
  }
  out += "@" + (place < places.size() ? places[place] : std::to_string(buffer.place));
  if (kind.for_node) {
    out += " node " + std::to_string(buffer.part);
  }
  if (kind.of_samples) {
    out += " mb " + std::to_string(buffer.micro_batch);
  } else if (buffer.micro_batch > 0) {
    out += " update " + std::to_string(buffer.micro_batch);
  }
  if (buffer.slot != 0) {
    out += " slot " + std::to_string(buffer.slot);
  }
  if (kind.by_part || ((kind.by_owner || kind.by_segment) && buffer.part > 0)) {
    out += " part " + std::to_string(buffer.part);
  }
  return out;
}

}  // namespace zygos::schedule
