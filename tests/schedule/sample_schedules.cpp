// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/sample_schedules.hpp"

#include <algorithm>
#include <utility>

namespace zygos::test {

using schedule::MicroBatch;
using schedule::ModelOutline;
using schedule::Outline;
using schedule::Place;
using schedule::Schedule;
using schedule::ScheduleBuilder;

namespace {

std::string letter(std::int32_t index) {
  return index < 26 ? std::string(1, static_cast<char>('a' + index)) : "p" + std::to_string(index);
}

/// One stage of two nodes on every place, and a micro-batch of two samples for each.
Outline replicas(std::string policy, std::int32_t places) {
  Outline outline;
  outline.policy = std::move(policy);
  outline.model = chain(2);
  outline.batch = 2 * places;
  for (std::int32_t place = 0; place < places; ++place) {
    outline.places.push_back({letter(place), true, 0});
    outline.micro_batches.push_back({2 * place, 2 * place + 2});
  }
  return outline;
}

void pass(ScheduleBuilder& builder, Place place, MicroBatch micro_batch) {
  builder.load(place, micro_batch);
  builder.forward(place, micro_batch);
  builder.loss(place, micro_batch);
  builder.backward(place, micro_batch);
}

void add_forward(ScheduleBuilder& builder, Place place, MicroBatch micro_batch, bool keeps) {
  builder.load(place, micro_batch);
  builder.forward(place, micro_batch, keeps);
  builder.send_activations(place, micro_batch);
}

void add_backward(ScheduleBuilder& builder, Place place, MicroBatch micro_batch, bool recompute) {
  if (recompute) {
    builder.recompute(place, micro_batch);
  }
  if (builder.stage_of(place) == builder.last_stage()) {
    builder.loss(place, micro_batch);
  }
  builder.backward(place, micro_batch);
  builder.send_activation_gradients(place, micro_batch);
}

Schedule fill_and_drain(ScheduleBuilder builder, std::int32_t stages, std::int32_t micro_batches,
                        bool recompute) {
  for (MicroBatch micro_batch = 0; micro_batch < micro_batches; ++micro_batch) {
    for (Place place = 0; place < stages; ++place) {
      add_forward(builder, place, micro_batch, !recompute);
    }
  }
  for (MicroBatch micro_batch = 0; micro_batch < micro_batches; ++micro_batch) {
    for (Place place = stages - 1; place >= 0; --place) {
      add_backward(builder, place, micro_batch, recompute);
    }
  }
  std::vector<Place> places;
  for (Place place = 0; place < stages; ++place) {
    places.push_back(place);
    if (builder.outline().clips) {
      builder.squares(place);
    }
  }
  builder.exchange_squares(places);
  for (const Place place : places) {
    builder.update(place);
  }
  return std::move(builder).build();
}

/// How far a stage has come with 1F1B.
struct Progress {
  std::int32_t forwards = 0;
  std::int32_t backwards = 0;
  bool used = false;  ///< the current weights, by a forward whose backward is still to come
};

}  // namespace

ModelOutline chain(std::int32_t nodes) {
  ModelOutline model;
  model.input_bytes = 16;
  model.target_bytes = 4;
  for (std::int32_t node = 0; node < nodes; ++node) {
    schedule::NodeOutline& outline = model.nodes.emplace_back();
    outline.name = "n" + std::to_string(node);
    outline.inputs = {node - 1};
    outline.parameters = {10 * node, 10 * node + 10};
    outline.output_bytes = 8;
    outline.flops = 100.0;
  }
  return model;
}

ModelOutline skipping() {
  ModelOutline model = chain(6);
  model.nodes[2].inputs = {1, 0};
  model.nodes[5].inputs = {4, 0};
  return model;
}

Outline pipeline_outline(std::string policy, std::int32_t stages, std::int32_t micro_batches) {
  Outline outline;
  outline.policy = std::move(policy);
  outline.model = chain(2 * stages);
  outline.batch = 2 * micro_batches;
  for (std::int32_t stage = 0; stage < stages; ++stage) {
    outline.places.push_back({letter(stage), true, stage});
    outline.stages.push_back({2 * stage, 2 * stage + 2});
  }
  for (MicroBatch micro_batch = 0; micro_batch < micro_batches; ++micro_batch) {
    outline.micro_batches.push_back({2 * micro_batch, 2 * micro_batch + 2});
  }
  return outline;
}

Schedule two_place_split() {
  Outline outline;
  outline.policy = "split";
  outline.places = {{"host", true, 0}, {"device", false, 0}};
  outline.batch = 10;
  outline.model = chain(3);
  outline.micro_batches = {{0, 3}, {3, 10}};
  ScheduleBuilder builder(std::move(outline));
  const Place both[] = {0, 1};
  for (const Place place : both) {
    pass(builder, place, place);
  }
  for (const Place place : both) {
    builder.send_gradients(place);
  }
  builder.all_reduce(both);
  for (const Place place : both) {
    builder.update(place);
  }
  return std::move(builder).build();
}

Schedule gpipe(std::int32_t stages, std::int32_t micro_batches, bool recompute) {
  return fill_and_drain(ScheduleBuilder(pipeline_outline("gpipe", stages, micro_batches)), stages,
                        micro_batches, recompute);
}

Schedule clipped_gpipe(std::int32_t stages, std::int32_t micro_batches) {
  Outline outline = pipeline_outline("gpipe", stages, micro_batches);
  outline.clips = true;
  return fill_and_drain(ScheduleBuilder(std::move(outline)), stages, micro_batches, false);
}

Schedule gpipe_with_skip(std::int32_t micro_batches) {
  Outline outline = pipeline_outline("gpipe", 3, micro_batches);
  outline.model = skipping();
  return fill_and_drain(ScheduleBuilder(std::move(outline)), 3, micro_batches, false);
}

Schedule gpipe_with_segments(std::int32_t micro_batches) {
  using schedule::Keeping;
  Outline outline = pipeline_outline("gpipe", 2, micro_batches);
  outline.model = chain(8);
  outline.model.nodes[3].inputs.push_back(0);
  outline.stages = {{0, 4}, {4, 8}};
  outline.places[0].host_accessible = false;
  outline.activations = {{{0, 1}, Keeping::offloaded},
                         {{1, 2}, Keeping::recomputed},
                         {{2, 3}, Keeping::recomputed},
                         {{4, 5}, Keeping::offloaded},
                         {{5, 7}, Keeping::recomputed}};
  return fill_and_drain(ScheduleBuilder(std::move(outline)), 2, micro_batches, false);
}

Schedule gpipe_with_spilled_segments(std::int32_t micro_batches) {
  using schedule::Keeping;
  Outline outline = pipeline_outline("gpipe", 2, micro_batches);
  outline.model = chain(8);
  outline.model.nodes[3].inputs.push_back(0);
  outline.stages = {{0, 4}, {4, 8}};
  outline.places[0].host_accessible = false;
  outline.activations = {{{0, 1}, Keeping::spilled},
                         {{1, 2}, Keeping::offloaded},
                         {{2, 3}, Keeping::spilled},
                         {{4, 5}, Keeping::spilled},
                         {{5, 7}, Keeping::recomputed}};
  return fill_and_drain(ScheduleBuilder(std::move(outline)), 2, micro_batches, false);
}

Schedule statistics() {
  Outline outline = replicas("statistics", 2);
  outline.model = chain(3);
  outline.model.nodes[0].statistics = 1;
  outline.model.nodes[1].statistics = 2;
  outline.batch = 6;
  outline.micro_batches.push_back({4, 6});
  ScheduleBuilder builder(std::move(outline));
  pass(builder, 0, 0);
  pass(builder, 0, 1);
  pass(builder, 1, 2);
  const Place both[] = {0, 1};
  for (const Place place : both) {
    builder.send_gradients(place);
  }
  builder.all_reduce(both);
  for (const Place place : both) {
    builder.update(place);
  }
  return std::move(builder).build();
}

Schedule gpipe_with_statistics(std::int32_t micro_batches) {
  Outline outline = pipeline_outline("gpipe", 2, micro_batches);
  outline.model.nodes[2].statistics = 4;
  return fill_and_drain(ScheduleBuilder(std::move(outline)), 2, micro_batches, true);
}

Schedule pipedream(std::int32_t stages, std::int32_t micro_batches, bool averages,
                   schedule::Tier tier, bool staged) {
  Outline outline = pipeline_outline("pipedream", stages, micro_batches);
  outline.places[0].host_accessible = !staged;
  outline.updates = outline.micro_batches;
  ScheduleBuilder builder(std::move(outline));
  std::vector<Progress> progress(static_cast<std::size_t>(stages));
  for (Place place = 0; place < stages; ++place) {
    builder.keep_versions(place, stages - place, tier);
  }
  const auto advance = [&](Place place) {
    const auto at = static_cast<std::size_t>(place);
    Progress& here = progress[at];
    const bool last = place == stages - 1;
    const bool full = here.forwards - here.backwards > stages - 1 - place;
    const bool fed = place == 0 || progress[at - 1].forwards > here.forwards;
    const bool led = last || progress[at + 1].backwards > here.backwards;
    if (here.forwards < micro_batches && !full && fed) {
      add_forward(builder, place, here.forwards++, true);
      here.used = true;
    } else if (here.backwards < here.forwards && led) {
      add_backward(builder, place, here.backwards++, false);
      if (here.used && here.forwards > here.backwards) {
        builder.stash(place);
      }
      here.used = false;
      builder.update(place);
    }
  };
  while (progress.front().backwards < micro_batches) {
    for (Place place = stages - 1; place >= 0; --place) {
      advance(place);
    }
  }
  for (Place place = 0; averages && place < stages; ++place) {
    builder.average(place, 2);
  }
  return std::move(builder).build();
}

Schedule ring(std::int32_t places) {
  Outline outline = replicas("ring", places);
  outline.model = chain(2 * places);
  for (std::int32_t part = 0; part < places; ++part) {
    outline.parts.push_back({20 * part, 20 * part + 20});
  }
  ScheduleBuilder builder(std::move(outline));
  for (Place place = 0; place < places; ++place) {
    pass(builder, place, place);
  }
  for (std::int32_t round = 0; round < places - 1; ++round) {
    for (Place place = 0; place < places; ++place) {
      builder.reduce(place, (place + 1) % places, (place - round + places) % places);
    }
  }
  for (std::int32_t round = 0; round < places - 1; ++round) {
    for (Place place = 0; place < places; ++place) {
      builder.replace(place, (place + 1) % places, (place + 1 - round + places) % places);
    }
  }
  for (Place place = 0; place < places; ++place) {
    builder.update(place);
  }
  return std::move(builder).build();
}

Schedule buckets() {
  Outline outline = replicas("buckets", 2);
  outline.parts = {{0, 10}, {10, 20}};
  ScheduleBuilder builder(std::move(outline));
  for (Place place = 0; place < 2; ++place) {
    builder.load(place, place);
    builder.forward(place, place);
    builder.loss(place, place);
  }
  for (const std::int32_t node : {1, 0}) {
    builder.backward(0, 0, schedule::NodeRange{node, node + 1});
    builder.backward(1, 1, schedule::NodeRange{node, node + 1});
    builder.reduce(0, 1, node);
    builder.replace(1, 0, node);
  }
  builder.update(0);
  builder.update(1);
  return std::move(builder).build();
}

Schedule shards(bool clips) {
  Outline outline = replicas("shards", 2);
  outline.parts = {{0, 10}, {10, 20}};
  outline.part_owners = {0, 1};
  outline.clips = clips;
  ScheduleBuilder builder(std::move(outline));
  for (const Place place : {0, 1}) {
    pass(builder, place, place);
  }
  for (const Place owner : {0, 1}) {
    builder.reduce(1 - owner, owner, owner);
    clips ? builder.squares(owner, owner) : builder.update(owner, owner);
  }
  const Place both[] = {0, 1};
  builder.exchange_squares(both);
  for (const Place owner : both) {
    if (clips) {
      builder.update(owner, owner);
    }
  }
  for (const Place owner : {0, 1}) {
    const Place other = 1 - owner;
    builder.broadcast_weights(owner, std::span(&other, 1), owner);
  }
  return std::move(builder).build();
}

Schedule rounded_hub(std::int32_t places) {
  Outline outline = replicas("rounded_hub", places);
  outline.places.front().host_accessible = false;
  outline.codecs.gradients = schedule::Codec::bf16;
  ScheduleBuilder builder(std::move(outline));
  for (Place place = 0; place < places; ++place) {
    pass(builder, place, place);
  }
  for (Place place = 1; place < places; ++place) {
    builder.reduce(place, 0, 0);
  }
  for (Place place = 1; place < places; ++place) {
    builder.replace(0, place, 0);
  }
  for (Place place = 0; place < places; ++place) {
    builder.update(place);
  }
  return std::move(builder).build();
}

Schedule one_bit_hub(std::int32_t places) {
  Outline outline = replicas("one_bit_hub", places);
  outline.places.front().host_accessible = false;
  outline.codecs.gradients = schedule::Codec::one_bit;
  outline.one_bit.after = 3;
  ScheduleBuilder builder(std::move(outline));
  for (Place place = 0; place < places; ++place) {
    pass(builder, place, place);
    builder.compress(place, 0, false);
  }
  for (Place place = 1; place < places; ++place) {
    builder.reduce(place, 0, 0);
  }
  builder.compress(0, 0, true);
  for (Place place = 1; place < places; ++place) {
    builder.replace(0, place, 0);
  }
  for (Place place = 0; place < places; ++place) {
    builder.update(place);
  }
  return std::move(builder).build();
}

Schedule hub(std::int32_t workers) {
  ScheduleBuilder builder(replicas("hub", workers));
  std::vector<Place> others;
  for (Place place = 0; place < workers; ++place) {
    pass(builder, place, place);
    if (place > 0) {
      builder.reduce(place, 0, 0);
      others.push_back(place);
    }
  }
  builder.update(0);
  builder.broadcast_weights(0, others);
  return std::move(builder).build();
}

Schedule owner(std::int32_t workers, bool clips, bool streams, bool speculates, bool spills) {
  Outline outline = replicas("owner", workers);
  outline.places.push_back({"owner", true, -1});
  outline.parts = {{0, 10}, {10, 20}};
  outline.part_owners = {workers, workers};
  outline.clips = clips;
  if (streams) {
    outline.places[0].host_accessible = false;
    outline.streams.assign(outline.places.size(), true);
    outline.streams.back() = false;
  }
  if (spills) {
    outline.optimizer_states = 2;
    outline.prefetch = 0;
    outline.spills_states.assign(outline.places.size(), false);
    outline.spills_states.back() = true;
  }
  ScheduleBuilder builder(std::move(outline));
  std::vector<Place> all;
  for (Place place = 0; place < workers; ++place) {
    builder.load(place, place);
    builder.forward(place, place);
    builder.loss(place, place);
    all.push_back(place);
  }
  for (const std::int32_t node : {1, 0}) {
    for (const Place place : all) {
      builder.backward(place, place, schedule::NodeRange{node, node + 1});
      place == 0 ? builder.replace(place, workers, node) : builder.reduce(place, workers, node);
    }
    if (clips) {
      builder.squares(workers, node);
    }
    if (speculates && node == 1) {
      builder.speculate(workers, node);
    }
  }
  builder.exchange_squares({&workers, 1});
  for (const std::int32_t node : {1, 0}) {
    speculates&& node == 1 ? builder.confirm(workers, node) : builder.update(workers, node);
    if (!streams) {
      builder.broadcast_weights(workers, all, node);
    }
  }
  return std::move(builder).build();
}

Schedule gathered() {
  Outline outline;
  outline.policy = "gathered";
  outline.places = {{"a", true, 0}, {"b", false, 0}, {"c", true, 1}};
  outline.batch = 5;
  outline.model = chain(4);
  outline.stages = {{0, 2}, {2, 4}};
  outline.micro_batches = {{0, 2}, {2, 5}, {0, 5}};
  ScheduleBuilder builder(std::move(outline));
  const Place both[] = {0, 1};
  for (const Place place : both) {
    builder.load(place, place);
    builder.forward(place, place);
    builder.transfer(place, 2, place, 2);
  }
  pass(builder, 2, 2);
  for (const Place place : both) {
    builder.transfer(2, place, 2, place);
    builder.backward(place, place);
    builder.send_gradients(place);
  }
  builder.all_reduce(both);
  for (const Place place : {0, 1, 2}) {
    builder.update(place);
  }
  return std::move(builder).build();
}

std::vector<Sample> all_samples() {
  return {{"two-place split", two_place_split()},
          {"GPipe of two stages", gpipe(2, 3, false)},
          {"GPipe of three stages, recomputed", gpipe(3, 2, true)},
          {"GPipe with a skip", gpipe_with_skip(2)},
          {"GPipe with segments", gpipe_with_segments(2)},
          {"GPipe with spilled segments", gpipe_with_spilled_segments(2)},
          {"PipeDream of two stages", pipedream(2, 4)},
          {"PipeDream of three stages, averaged", pipedream(3, 4, true)},
          {"PipeDream of three stages, stashed in host memory",
           pipedream(3, 4, false, schedule::Tier::host)},
          {"PipeDream of three stages, stashed in a file",
           pipedream(3, 5, false, schedule::Tier::file)},
          {"PipeDream of three stages, stashed in a file over host memory",
           pipedream(3, 5, false, schedule::Tier::file, true)},
          {"ring of four", ring(4)},
          {"one bit an element", one_bit_hub(3)},
          {"gradients as bf16", rounded_hub(3)},
          {"buckets", buckets()},
          {"shards", shards()},
          {"clipped shards", shards(true)},
          {"clipped GPipe of three stages", clipped_gpipe(3, 2)},
          {"statistics of two replicas", statistics()},
          {"GPipe with statistics", gpipe_with_statistics(2)},
          {"samples of two replicas together", gathered()},
          {"hub of three", hub(3)},
          {"owner of two workers' weights", owner(2)},
          {"owner that clips", owner(1, true)},
          {"owner that speculates", owner(2, true, false, true)},
          {"owner of streamed weights", owner(2, false, true)},
          {"owner of states in a file", owner(2, false, false, false, true)}};
}

}  // namespace zygos::test
