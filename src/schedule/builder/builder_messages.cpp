// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The tasks that carry something from one place to another.
#include "schedule/builder/buffer_uses.hpp"
#include "schedule/builder/stage_facts.hpp"

#include "zygos/core/error.hpp"
#include "zygos/schedule/builder.hpp"
#include "zygos/schedule/gradient_squares.hpp"

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

}  // namespace

Buffer ScheduleBuilder::new_message(Place from) {
  return {BufferKind::message, from, 0, 0, messages_++};
}

void ScheduleBuilder::read_message_of(Task& task, TaskId sender) const {
  const Task& sent = schedule_.tasks[static_cast<std::size_t>(sender)];
  task.reads.push_back(sent.writes.front());
  if (is_read_in_place(sent, host_accessible(sent.place))) {
    task.reads.insert(task.reads.end(), sent.reads.begin(), sent.reads.end());
  }
}

void ScheduleBuilder::read_others(Task& task, const std::vector<TaskId>& senders) const {
  for (const TaskId sender : senders) {
    const Task& sent = schedule_.tasks[static_cast<std::size_t>(sender)];
    if (sent.place != task.place) {
      read_message_of(task, sender);
      task.bytes += sent.bytes;
    }
  }
}

void ScheduleBuilder::carry_gradients(Task& task) const {
  task.payload = Payload::gradients;
  task.codec = outline_.codecs.of(task.payload);
  task.bytes = coded_bytes(task.codec, task.elements.count(), outline_.model.element_bytes);
  task.exact_bytes =
      task.codec == Codec::one_bit ? task.elements.count() * outline_.model.element_bytes : 0;
}

TaskId ScheduleBuilder::compress(Place place, std::int32_t part, bool of_sum) {
  ZYGOS_REQUIRE(outline_.one_bit.after > 0, "a policy compresses and does not say from when on");
  Task task = on(TaskKind::compress, place);
  task.elements = outline_.parts.at(static_cast<std::size_t>(part));
  task.reduced = of_sum;
  return add(std::move(task));
}

void ScheduleBuilder::carry_samples(Task& task, const StageLink& link) const {
  const std::int64_t element_bytes = outline_.model.activation_bytes;
  task.local = schedule_.lane_of(task.place) == schedule_.lane_of(task.peer);
  if (task.local) {
    task.queue = Queue::compute;
  } else {
    task.codec = outline_.codecs.of(task.payload);
  }
  task.bytes =
      coded_bytes(task.codec, task.samples.count() * bytes_of(outline_.model, link) / element_bytes,
                  element_bytes);
}

const StageLink* ScheduleBuilder::link_between(Stage from, Stage to) const {
  return find_link(from < to ? activation_links_ : gradient_links_, from, to);
}

void ScheduleBuilder::send(Place from, Place to, MicroBatch micro_batch) {
  send_samples(from, to, micro_batch, micro_batch);
}

void ScheduleBuilder::send_samples(Place from, Place to, MicroBatch micro_batch,
                                   MicroBatch carried) {
  const bool onward = stage_of(from) < stage_of(to);
  const StageLink* link = link_between(stage_of(from), stage_of(to));
  if (link == nullptr) {
    return;
  }
  Task task = on_samples(TaskKind::send, from, micro_batch);
  task.samples = samples(carried);
  task.payload = onward ? Payload::activations : Payload::activation_gradients;
  task.peer = to;
  carry_samples(task, *link);
  const Buffer message = new_message(from);
  task.writes = {message};
  on_the_way_[{from, to, carried}] = message;
  add(std::move(task));
}

void ScheduleBuilder::receive(Place from, Place to, MicroBatch micro_batch) {
  receive_samples(from, to, micro_batch, micro_batch);
}

void ScheduleBuilder::receive_samples(Place from, Place to, MicroBatch micro_batch,
                                      MicroBatch carried) {
  const bool onward = stage_of(from) < stage_of(to);
  const StageLink* link = link_between(stage_of(from), stage_of(to));
  if (link == nullptr) {
    return;
  }
  const auto message = on_the_way_.extract({from, to, carried});
  ZYGOS_REQUIRE(!message.empty(), "place " + std::to_string(to) + " receives micro-batch " +
                                      std::to_string(carried) + ", which place " +
                                      std::to_string(from) + " has not sent");
  Task task = on_samples(TaskKind::receive, to, micro_batch);
  task.samples = samples(carried);
  task.payload = onward ? Payload::activations : Payload::activation_gradients;
  task.peer = from;
  carry_samples(task, *link);
  task.reads = {message.mapped()};
  add(std::move(task));
}

void ScheduleBuilder::transfer(Place from, Place to, MicroBatch micro_batch) {
  transfer(from, to, micro_batch, micro_batch);
}

void ScheduleBuilder::transfer(Place from, Place to, MicroBatch sent, MicroBatch received) {
  const MicroBatch carried = samples(sent).count() <= samples(received).count() ? sent : received;
  const SampleRange& part = samples(carried);
  const SampleRange& whole = samples(carried == sent ? received : sent);
  ZYGOS_REQUIRE(whole.begin <= part.begin && part.end <= whole.end,
                "micro-batch " + std::to_string(sent) + " is sent to a place that works on " +
                    std::to_string(received) + ", and neither holds the other's samples");
  send_samples(from, to, sent, carried);
  receive_samples(from, to, received, carried);
}

void ScheduleBuilder::send_along(const std::vector<StageLink>& links, Place from,
                                 MicroBatch micro_batch) {
  const auto along = std::ranges::equal_range(links, stage_of(from), {}, &StageLink::from);
  std::vector<Place> targets;
  for (const StageLink& link : along) {
    const auto& places = places_of_[static_cast<std::size_t>(link.to)];
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
  Task task = on(TaskKind::broadcast, place);
  task.queue = queue;
  task.elements = outline_.model.parameters_of(nodes_of(place));
  carry_gradients(task);
  task.writes = {new_message(place)};
  state(place).sent = add(std::move(task));
  return state(place).sent;
}

void ScheduleBuilder::all_reduce(std::span<const Place> places) {
  for (const Place place : places) {
    all_reduce(places, place);
  }
}

void ScheduleBuilder::all_reduce(std::span<const Place> places, Place place) {
  Task task = on(TaskKind::all_reduce, place);
  task.elements = outline_.model.parameters_of(nodes_of(place));
  carry_gradients(task);
  task.bytes *= static_cast<std::int64_t>(places.size() - 1);
  for (const Place peer : places) {
    if (peer != place) {
      ZYGOS_REQUIRE(state(peer).sent != nobody, "an all-reduce of gradients that were not sent");
      read_message_of(task, state(peer).sent);
    }
  }
  state(place).reduced = true;
  add(std::move(task));
}

std::vector<TaskId> ScheduleBuilder::broadcast_squares(std::span<const Place> places) {
  std::vector<std::int64_t> sums;
  {
    const TasksByPlace tasks(schedule_);
    for (const Place place : places) {
      sums.push_back(sums_of(tasks, place).count());
    }
  }
  std::vector<TaskId> sent;
  for (std::size_t i = 0; i < places.size(); ++i) {
    Task task = on(TaskKind::broadcast, places[i]);
    task.payload = Payload::squares;
    task.update = next_update(places[i]);
    task.bytes = sums[i] * static_cast<std::int64_t>(sizeof(double));
    task.writes = {new_message(places[i])};
    sent.push_back(add(std::move(task)));
  }
  return sent;
}

void ScheduleBuilder::exchange_squares(std::span<const Place> places) {
  std::vector<Place> members(places.begin(), places.end());
  std::erase_if(members, [&](Place place) { return !state(place).squared; });
  const std::vector<TaskId> sent =
      members.size() > 1 ? broadcast_squares(members) : std::vector<TaskId>();
  for (const Place place : members) {
    PlaceState& here = state(place);
    Task task = on(TaskKind::norm, place);
    task.payload = Payload::squares;
    task.update = next_update(place);
    read_others(task, sent);
    here.squared = false;
    here.normed = true;
    add(std::move(task));
  }
}

void ScheduleBuilder::move_part(TaskKind kind, Place from, Place to, std::int32_t part) {
  Task send = on(TaskKind::send, from);
  send.peer = to;
  send.elements = outline_.parts.at(static_cast<std::size_t>(part));
  carry_gradients(send);
  send.writes = {new_message(from)};
  Task receive = on(kind, to);
  receive.peer = from;
  receive.elements = send.elements;
  carry_gradients(receive);
  read_message_of(receive, add(std::move(send)));
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
  Task send = on(TaskKind::broadcast, from);
  send.payload = Payload::weights;
  send.version = version_of(from, part);
  send.elements = elements_of(from, part);
  send.bytes = send.elements.count() * outline_.model.element_bytes;
  send.writes = {new_message(from)};
  Task receive = on(TaskKind::receive, from);
  receive.payload = Payload::weights;
  receive.peer = from;
  receive.version = send.version;
  receive.elements = send.elements;
  receive.bytes = send.bytes;
  const TaskId sent = add(std::move(send));
  for (const Place place : to) {
    Task copy = receive;
    copy.place = place;
    read_message_of(copy, sent);
    renew(add(std::move(copy)));
  }
}

}  // namespace zygos::schedule
