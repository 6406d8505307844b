// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/expected_buffers.hpp"

#include "zygos/schedule/batch_statistics.hpp"

#include <algorithm>

namespace zygos::schedule {
namespace {

class Finder {
 public:
  Finder(const Schedule& schedule, const StageFacts& stage, const Task& task, ExpectedBuffers& out)
      : schedule_(schedule), stage_(stage), task_(task), out_(out) {}

  void find() {
    switch (task_.kind) {
      case TaskKind::load:
        out_.reads.push_back({BufferKind::batch, 0, 0, 0, 0});
        write(reads_host_memory() ? BufferKind::inputs : BufferKind::staging);
        break;
      case TaskKind::copy:
        read(BufferKind::staging);
        write(BufferKind::inputs);
        break;
      case TaskKind::forward:
      case TaskKind::recompute:
        forward();
        break;
      case TaskKind::loss:
        read(BufferKind::inputs);
        read(BufferKind::outputs);
        write(BufferKind::output_gradients);
        break;
      case TaskKind::backward:
        backward();
        break;
      default:
        find_other();
    }
  }

 private:
  void find_other() {
    switch (task_.kind) {
      case TaskKind::send:
      case TaskKind::broadcast:
        sent();
        break;
      case TaskKind::receive:
      case TaskKind::reduce:
        received();
        break;
      case TaskKind::all_reduce:
        by_part(BufferKind::gradients, stage_.elements, out_.reads);
        by_part(BufferKind::reduced_gradients, stage_.elements, out_.writes);
        break;
      case TaskKind::statistics:
        statistics();
        break;
      case TaskKind::all_gather:
        own_statistics();
        out_.writes.push_back(
            batch_statistics(task_.nodes.begin, task_.update, task_.of_gradients));
        break;
      default:
        find_update();
    }
  }

  void find_update() {
    switch (task_.kind) {
      case TaskKind::norm:
        own_squares();
        out_.writes.push_back({BufferKind::norm, task_.place, 0, 0, 0});
        break;
      case TaskKind::squares:
        taken_gradients();
        by_part(BufferKind::squares, task_.elements, out_.writes);
        break;
      case TaskKind::update:
        update();
        break;
      case TaskKind::stash:
        weights(0, out_.reads);
        weights(task_.slot, out_.writes);
        break;
      case TaskKind::average:
        average();
        break;
      default:
        out_.known = false;
    }
  }

  void pass() {
    read(BufferKind::inputs);
    parameters(BufferKind::weights, elements_of(schedule_, task_.nodes), task_.slot, out_.reads);
    if (!stage_.activations_from.empty()) {
      read(BufferKind::boundary);
    }
  }

  /// Of all nodes that the task goes through.
  void read_batch_statistics(bool of_gradients) {
    for (const std::int32_t node : divided_nodes(schedule_, task_.samples, task_.nodes)) {
      out_.reads.push_back(
          batch_statistics(node, update_of(schedule_, task_.samples), of_gradients));
    }
  }

  Buffer batch_statistics(std::int32_t node, std::int32_t update, bool of_gradients) const {
    return {BufferKind::batch_statistics, task_.place, update, of_gradients ? 1 : 0, node};
  }

  /// Those which it says: check_statistics() knows whether they are all.
  void own_statistics() {
    for (const Buffer& buffer : task_.reads) {
      if (buffer.kind == BufferKind::statistics && buffer.place == task_.place &&
          buffer.part == task_.nodes.begin && buffer.slot == (task_.of_gradients ? 1 : 0)) {
        out_.reads.push_back(buffer);
      }
    }
  }

  void statistics() {
    read(BufferKind::inputs);
    if (!stage_.activations_from.empty()) {
      read(BufferKind::boundary);
    }
    if (task_.of_gradients || task_.nodes.begin > stage_.nodes.begin) {
      read_made();
    }
    if (task_.of_gradients) {
      read_incoming_gradients();
      if (task_.nodes.end < stage_.nodes.end) {
        read(BufferKind::scratch);
      }
    }
    out_.writes.push_back({BufferKind::statistics, task_.place, task_.micro_batch,
                           task_.of_gradients ? 1 : 0, task_.nodes.begin});
  }

  /// What forward has made, or recompute.
  void read_made() {
    // check_contents() knows which of the two it must be.
    read(BufferKind::activations, has(task_.reads, samples(BufferKind::activations, 1)) ? 1 : 0);
    read(BufferKind::outputs);
  }

  void read_incoming_gradients() {
    const bool last = stage_.nodes == schedule_.stages.back();
    if (last || receives(&GradientSource::of_own_outputs)) {
      read(BufferKind::output_gradients);
    }
    if (receives(&GradientSource::of_others_outputs)) {
      read(BufferKind::input_gradients);
    }
  }

  void forward() {
    pass();
    read_batch_statistics(false);
    write(BufferKind::activations, task_.kind == TaskKind::recompute ? 1 : 0);
    write(BufferKind::outputs);
    write(BufferKind::scratch, 1);
    if (task_.nodes.begin > stage_.nodes.begin) {
      read(BufferKind::activations);
      read(BufferKind::outputs);
    }
  }

  void backward() {
    pass();
    read_batch_statistics(true);
    read_made();
    read_incoming_gradients();
    if (task_.nodes.end < stage_.nodes.end) {
      read(BufferKind::scratch);
    }
    const ElementRange elements = elements_of(schedule_, task_.nodes);
    if (task_.accumulates) {
      by_part(BufferKind::gradients, elements, out_.reads);
    }
    by_part(BufferKind::gradients, elements, out_.writes);
    write(BufferKind::scratch);
    if (stage_.sends_gradients) {
      write(BufferKind::input_gradients);
    }
  }

  void update() {
    taken_gradients();
    parameters(BufferKind::weights, task_.elements, 0, out_.writes);
    parameters(BufferKind::optimizer_state, task_.elements, 0, out_.writes);
    out_.reads.insert(out_.reads.end(), out_.writes.begin(), out_.writes.end());
    if (task_.clips) {
      out_.reads.push_back({BufferKind::norm, task_.place, 0, 0, 0});
    }
  }

  void taken_gradients() {
    by_part(task_.reduced ? BufferKind::reduced_gradients : BufferKind::gradients, task_.elements,
            out_.reads);
  }

  /// Of all that the place updates.
  void own_squares() {
    for (const std::int32_t part : stage_.parts) {
      if (schedule_.part_owners.empty() ||
          schedule_.part_owners[static_cast<std::size_t>(part)] == task_.place) {
        out_.reads.push_back({BufferKind::squares, task_.place, 0, 0, part});
      }
    }
  }

  void sent() {
    switch (task_.payload) {
      case Payload::activations:
        read(BufferKind::outputs);
        break;
      case Payload::activation_gradients:
        read(BufferKind::input_gradients);
        break;
      case Payload::gradients:
        by_part(BufferKind::gradients, task_.elements, out_.reads);
        break;
      case Payload::weights:
        parameters(BufferKind::weights, task_.elements, 0, out_.reads);
        break;
      case Payload::statistics:
        own_statistics();
        break;
      case Payload::squares:
        own_squares();
        break;
      case Payload::none:
        break;
    }
  }

  void received() {
    switch (task_.payload) {
      case Payload::activations:
        write(BufferKind::boundary);
        break;
      case Payload::activation_gradients:
        received_activation_gradients();
        break;
      case Payload::gradients:
        by_part(BufferKind::gradients, task_.elements, out_.writes);
        if (task_.kind == TaskKind::reduce) {
          out_.reads = out_.writes;
        }
        break;
      case Payload::weights:
        parameters(BufferKind::weights, task_.elements, 0, out_.writes);
        break;
      case Payload::statistics:
      case Payload::squares:
      case Payload::none:
        break;
    }
  }

  void received_activation_gradients() {
    if (task_.peer < 0) {
      return;
    }
    const Stage from = schedule_.stage_of[static_cast<std::size_t>(task_.peer)];
    const auto source = std::ranges::find(stage_.gradients_from, from, &GradientSource::stage);
    if (source == stage_.gradients_from.end()) {
      return;  // check_messages() says so
    }
    if (source->of_own_outputs) {
      write(BufferKind::output_gradients);
    }
    if (source->of_others_outputs) {
      write(BufferKind::input_gradients);
    }
  }

  void average() {
    weights(0, out_.writes);
    weights(0, out_.reads);
    for (const Buffer& buffer : task_.reads) {
      std::vector<Buffer> kept;
      weights(buffer.slot, kept);
      if (buffer.slot > 0 && has(kept, buffer)) {
        out_.reads.push_back(buffer);
      }
    }
  }

  bool receives(bool GradientSource::*what) const {
    return std::ranges::any_of(stage_.gradients_from, what);
  }
  bool reads_host_memory() const {
    return schedule_.host_accessible[static_cast<std::size_t>(task_.place)];
  }
  Buffer samples(BufferKind kind, std::int32_t slot = 0) const {
    return {kind, task_.place, task_.micro_batch, slot, 0};
  }
  /// Of the whole stage.
  void weights(std::int32_t slot, std::vector<Buffer>& out) const {
    parameters(BufferKind::weights, stage_.elements, slot, out);
  }
  void read(BufferKind kind, std::int32_t slot = 0) { out_.reads.push_back(samples(kind, slot)); }
  void write(BufferKind kind, std::int32_t slot = 0) { out_.writes.push_back(samples(kind, slot)); }
  static bool has(const std::vector<Buffer>& buffers, const Buffer& buffer) {
    return std::ranges::find(buffers, buffer) != buffers.end();
  }

  void by_part(BufferKind kind, const ElementRange& elements, std::vector<Buffer>& out,
               std::int32_t slot = 0) const {
    for (const std::int32_t part : stage_.parts) {
      if (overlap(schedule_.parts[static_cast<std::size_t>(part)], elements)) {
        out.push_back({kind, task_.place, 0, slot, part});
      }
    }
  }

  void parameters(BufferKind kind, const ElementRange& elements, std::int32_t slot,
                  std::vector<Buffer>& out) const {
    if (schedule_.part_owners.empty()) {
      out.push_back({kind, task_.place, 0, slot, 0});
    } else {
      by_part(kind, elements, out, slot);
    }
  }

  const Schedule& schedule_;
  const StageFacts& stage_;
  const Task& task_;
  ExpectedBuffers& out_;
};

}  // namespace

void find_expected(const Schedule& schedule, const StageFacts& stage, const Task& task,
                   ExpectedBuffers& expected) {
  expected.reads.clear();
  expected.writes.clear();
  expected.known = true;
  Finder(schedule, stage, task, expected).find();
}

}  // namespace zygos::schedule
