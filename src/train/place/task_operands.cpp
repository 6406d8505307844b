// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/place/task_operands.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <string>

namespace zygos::train {
namespace {

using schedule::Buffer;
using schedule::BufferKind;

/// Of a stage without parameters.
const Elements none;

const Elements& find(const std::vector<Elements>& operands, BufferKind kind, std::int32_t slot) {
  if (operands.empty()) {
    return none;
  }
  for (const Elements& operand : operands) {
    if (operand.kind == kind && operand.slot == slot) {
      return operand;
    }
  }
  throw InternalError("a task names no " + std::string(name_of(kind)) + " in slot " +
                      std::to_string(slot));
}

void add_elements(const schedule::Task& task, const std::vector<Buffer>& named,
                  const PlaceBuffers& buffers, std::vector<Elements>& out) {
  for (const Buffer& buffer : named) {
    const schedule::BufferTraits& traits = traits_of(buffer.kind);
    const bool known = std::ranges::any_of(out, [&](const Elements& operand) {
      return operand.kind == buffer.kind && operand.slot == buffer.slot;
    });
    const bool in_memory = traits.of_elements && traits.tier != schedule::Tier::file;
    if (!in_memory || buffer.place != task.place || known) {
      continue;
    }
    const std::int32_t end = traits.slots_as_one ? buffers.slots_of(buffer.kind) : buffer.slot + 1;
    for (std::int32_t slot = buffer.slot; slot < end; ++slot) {
      out.push_back(buffers.named(named, buffer.kind, buffer.slot, slot, task.elements));
    }
  }
}

}  // namespace

Tensor statistics_in(const PlaceBuffers& buffers, const Buffer& buffer) {
  const auto* planned = buffers.find(buffer.kind, buffer.slot, buffer.part, buffer.micro_batch);
  const auto* table = buffers.plan().statistics.find(buffer.part, buffer.slot == 1);
  if (planned == nullptr || table == nullptr || planned->bytes == 0) {
    return {};
  }
  const auto rows = static_cast<std::int64_t>(planned->bytes / sizeof(double)) / table->length;
  return buffers.bind(*planned, {plan::Role::contents}, DType::f64, Shape{rows, table->length});
}

namespace {

void add_statistics(const schedule::Task& task, const PlaceBuffers& buffers, TaskOperands& out) {
  const schedule::NodeRange& nodes = buffers.plan().stage.nodes;
  for (const Buffer& buffer : task.reads) {
    if (buffer.kind != BufferKind::batch_statistics) {
      continue;
    }
    const auto count = static_cast<std::size_t>(nodes.end - nodes.begin);
    out.batch_statistics.resize(count);
    out.own_statistics.resize(count);
    const auto index = static_cast<std::size_t>(buffer.part - nodes.begin);
    out.batch_statistics[index] = statistics_in(buffers, buffer);
    out.own_statistics[index] = statistics_in(
        buffers, {BufferKind::statistics, task.place, task.micro_batch, buffer.slot, buffer.part});
  }
}

}  // namespace

const Elements& TaskOperands::source() const { return reads.empty() ? none : reads.front(); }

const Elements& TaskOperands::target() const { return writes.empty() ? none : writes.front(); }

const Elements& TaskOperands::read(BufferKind kind, std::int32_t slot) const {
  return find(reads, kind, slot);
}

const Elements& TaskOperands::write(BufferKind kind, std::int32_t slot) const {
  return find(writes, kind, slot);
}

TaskOperands find_operands(const schedule::Task& task, const PlaceBuffers& buffers) {
  TaskOperands out;
  if (schedule::is_pass(task.kind)) {
    add_statistics(task, buffers, out);
  } else {
    add_elements(task, task.reads, buffers, out.reads);
    add_elements(task, task.writes, buffers, out.writes);
  }
  return out;
}

}  // namespace zygos::train
