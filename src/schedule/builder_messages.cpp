// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The tasks that carry something from one place to another.
#include "zygos/core/error.hpp"
#include "zygos/schedule/builder.hpp"

#include <algorithm>
#include <utility>

namespace zygos::schedule {
namespace {

/// Links are in the order of their stages.
const StageLink* find_link(const std::vector<StageLink>& links, Stage from, Stage to) {
  const auto ends = [](const StageLink& link) { return std::pair(link.from, link.to); };
  const auto found = std::ranges::lower_bound(links, std::pair(from, to), {}, ends);
  return found == links.end() || ends(*found) != std::pair(from, to) ? nullptr : &*found;
}

Buffer buffer_of(BufferKind kind, Place place, MicroBatch micro_batch) {
  return {kind, place, micro_batch, 0, 0};
}

}  // namespace

Buffer ScheduleBuilder::new_message(Place from) {
  return {BufferKind::message, from, 0, 0, messages_++};
}

void ScheduleBuilder::read_message(Task& task, const Buffer& message,
                                   const std::vector<Buffer>& source) const {
  task.reads.push_back(message);
  if (host_accessible(message.place)) {
    task.reads.insert(task.reads.end(), source.begin(), source.end());
  }
}

const StageLink* ScheduleBuilder::link_between(Stage from, Stage to) const {
  return find_link(from < to ? activation_links_ : gradient_links_, from, to);
}

void ScheduleBuilder::send(Place from, Place to, MicroBatch micro_batch) {
  const bool onward = stage_of(from) < stage_of(to);
  const StageLink* link = link_between(stage_of(from), stage_of(to));
  if (link == nullptr) {
    return;
  }
  Task task = on_samples(TaskKind::send, from, micro_batch, Queue::outgoing);
  task.payload = onward ? Payload::activations : Payload::activation_gradients;
  task.peer = to;
  task.bytes = task.samples.count() * bytes_of(outline_.model, *link);
  task.reads = {
      buffer_of(onward ? BufferKind::outputs : BufferKind::input_gradients, from, micro_batch)};
  const Buffer message = new_message(from);
  task.writes = {message};
  on_the_way_[{from, to, micro_batch}] = message;
  add(std::move(task));
}

void ScheduleBuilder::receive(Place from, Place to, MicroBatch micro_batch) {
  const bool onward = stage_of(from) < stage_of(to);
  const StageLink* link = link_between(stage_of(from), stage_of(to));
  if (link == nullptr) {
    return;
  }
  const auto message = on_the_way_.extract({from, to, micro_batch});
  ZYGOS_REQUIRE(!message.empty(), "place " + std::to_string(to) + " receives micro-batch " +
                                      std::to_string(micro_batch) + ", which place " +
                                      std::to_string(from) + " has not sent");
  Task task = on_samples(TaskKind::receive, to, micro_batch, Queue::incoming);
  task.payload = onward ? Payload::activations : Payload::activation_gradients;
  task.peer = from;
  task.bytes = task.samples.count() * bytes_of(outline_.model, *link);
  task.reads = {message.mapped()};
  if (onward) {
    task.writes = {buffer_of(BufferKind::boundary, to, micro_batch)};
  } else {
    const NodeRange here = nodes_of(to);
    const auto made_here = [&](std::int32_t node) { return here.contains(node); };
    if (std::ranges::any_of(link->tensors, made_here)) {
      task.writes.push_back(buffer_of(BufferKind::output_gradients, to, micro_batch));
    }
    if (!std::ranges::all_of(link->tensors, made_here)) {
      task.writes.push_back(buffer_of(BufferKind::input_gradients, to, micro_batch));
    }
  }
  add(std::move(task));
}

void ScheduleBuilder::transfer(Place from, Place to, MicroBatch micro_batch) {
  send(from, to, micro_batch);
  receive(from, to, micro_batch);
}

void ScheduleBuilder::send_along(const std::vector<StageLink>& links, Place from,
                                 MicroBatch micro_batch) {
  const auto along = std::ranges::equal_range(links, stage_of(from), {}, &StageLink::from);
  std::vector<Place> targets;
  for (const StageLink& link : along) {
    const auto& places = needs_[static_cast<std::size_t>(link.to)].places;
    targets.insert(targets.end(), places.begin(), places.end());
  }
  std::ranges::sort(targets);
  for (const Place to : targets) {
    transfer(from, to, micro_batch);
  }
}

void ScheduleBuilder::send_activations(Place from, MicroBatch micro_batch) {
  send_along(activation_links_, from, micro_batch);
}

void ScheduleBuilder::send_activation_gradients(Place from, MicroBatch micro_batch) {
  send_along(gradient_links_, from, micro_batch);
}

TaskId ScheduleBuilder::send_gradients(Place place, Queue queue) {
  Task task = on(TaskKind::broadcast, place, queue);
  task.payload = Payload::gradients;
  task.elements = outline_.model.parameters_of(nodes_of(place));
  task.bytes = task.elements.count() * outline_.model.element_bytes;
  task.reads = by_part(BufferKind::gradients, place, task.elements);
  const Buffer message = new_message(place);
  task.writes = {message};
  state(place).sent = {message.part};
  return add(std::move(task));
}

void ScheduleBuilder::all_reduce(std::span<const Place> places) {
  for (const Place place : places) {
    all_reduce(places, place);
  }
}

void ScheduleBuilder::all_reduce(std::span<const Place> places, Place place) {
  Task task = on(TaskKind::all_reduce, place);
  task.payload = Payload::gradients;
  task.elements = outline_.model.parameters_of(nodes_of(place));
  task.bytes = static_cast<std::int64_t>(places.size() - 1) * task.elements.count() *
               outline_.model.element_bytes;
  task.reads = by_part(BufferKind::gradients, place, task.elements);
  for (const Place peer : places) {
    if (peer != place) {
      ZYGOS_REQUIRE(!state(peer).sent.empty(), "an all-reduce of gradients that were not sent");
      read_message(task, {BufferKind::message, peer, 0, 0, state(peer).sent.front()},
                   by_part(BufferKind::gradients, peer, task.elements));
    }
  }
  task.writes = by_part(BufferKind::reduced_gradients, place, task.elements);
  state(place).reduced = true;
  add(std::move(task));
}

void ScheduleBuilder::exchange_squares(std::span<const Place> places) {
  std::vector<Place> members(places.begin(), places.end());
  std::erase_if(members, [&](Place place) { return state(place).squares.empty(); });
  std::vector<std::pair<Buffer, std::int64_t>> messages;
  for (const Place place : members) {
    Task task = on(TaskKind::broadcast, place, Queue::outgoing);
    task.payload = Payload::squares;
    task.update = next_update(place);
    task.bytes = square_bytes(place);
    task.reads = state(place).squares;
    if (members.size() > 1) {
      messages.emplace_back(new_message(place), task.bytes);
      task.writes = {messages.back().first};
      add(std::move(task));
    }
  }
  for (const Place place : members) {
    PlaceState& here = state(place);
    Task task = on(TaskKind::norm, place);
    task.payload = Payload::squares;
    task.update = next_update(place);
    task.reads = std::exchange(here.squares, {});
    for (const auto& [message, bytes] : messages) {
      if (message.place != place) {
        task.reads.push_back(message);
        task.bytes += bytes;
      }
    }
    task.writes = {{BufferKind::norm, place, 0, 0, 0}};
    here.normed = true;
    add(std::move(task));
  }
}

void ScheduleBuilder::move_part(TaskKind kind, Place from, Place to, std::int32_t part) {
  const Buffer source{BufferKind::gradients, from, 0, 0, part};
  const Buffer target{BufferKind::gradients, to, 0, 0, part};
  Task send = on(TaskKind::send, from, Queue::outgoing);
  send.payload = Payload::gradients;
  send.peer = to;
  send.elements = outline_.parts.at(static_cast<std::size_t>(part));
  send.bytes = send.elements.count() * outline_.model.element_bytes;
  send.reads = {source};
  const Buffer message = new_message(from);
  send.writes = {message};
  Task receive = on(kind, to, Queue::incoming);
  receive.payload = Payload::gradients;
  receive.peer = from;
  receive.elements = send.elements;
  receive.bytes = send.bytes;
  read_message(receive, message, {source});
  if (kind == TaskKind::reduce) {
    receive.reads.push_back(target);
  }
  receive.writes = {target};
  add(std::move(send));
  add(std::move(receive));
}

void ScheduleBuilder::reduce(Place from, Place to, std::int32_t part) {
  move_part(TaskKind::reduce, from, to, part);
}

void ScheduleBuilder::replace(Place from, Place to, std::int32_t part) {
  move_part(TaskKind::receive, from, to, part);
}

void ScheduleBuilder::broadcast_weights(Place from, std::span<const Place> to,
                                        std::optional<std::int32_t> part) {
  Task send = on(TaskKind::broadcast, from, Queue::outgoing);
  send.payload = Payload::weights;
  send.version = version_of(from, part);
  send.elements = elements_of(from, part);
  send.bytes = send.elements.count() * outline_.model.element_bytes;
  send.reads = parameters(BufferKind::weights, from, send.elements);
  const Buffer message = new_message(from);
  send.writes = {message};
  add(send);
  for (const Place place : to) {
    Task receive = on(TaskKind::receive, place, Queue::incoming);
    receive.payload = Payload::weights;
    receive.peer = from;
    receive.version = send.version;
    receive.elements = send.elements;
    receive.bytes = send.bytes;
    read_message(receive, message, send.reads);
    receive.writes = parameters(BufferKind::weights, place, send.elements);
    renew(place, receive.writes, send.version);
    add(std::move(receive));
  }
}

}  // namespace zygos::schedule
