// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "pipeline.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace zygos::policies {
namespace {

using schedule::MicroBatch;
using schedule::Place;
using schedule::Stage;
using schedule::StageLink;
using schedule::Version;

class Weaver {
 public:
  Weaver(schedule::ScheduleBuilder& builder, const PipelineLayout& layout,
         const std::vector<Program>& programs)
      : builder_(builder),
        layout_(layout),
        programs_(programs),
        next_(programs.size(), 0),
        activations_(activation_links(builder.outline().model, layout.stages)),
        gradients_(gradient_links(builder.outline().model, layout.stages)) {}

  void run(const std::vector<Place>& turns) {
    meet();
    for (const Place place : turns) {
      ZYGOS_REQUIRE(can_move(place), "place " + std::to_string(place) + " has its turn too early");
      move(place);
      meet();
    }
    move_all();
    for (std::size_t place = 0; place < programs_.size(); ++place) {
      ZYGOS_REQUIRE(next_[place] == programs_[place].size(),
                    "place " + std::to_string(place) + " waits for what no other place does");
    }
  }

 private:
  void move_all() {
    while (true) {
      std::vector<Place> ready;
      for (const auto& replicas : layout_.places) {
        std::ranges::copy_if(replicas, std::back_inserter(ready),
                             [&](Place place) { return can_move(place); });
      }
      if (ready.empty()) {
        break;
      }
      for (const Place place : ready) {
        move(place);
      }
      meet();
    }
  }

  /// What replicas or stages do together.
  void meet() {
    exchange_stages();
    builder_.outline().clips ? update_all() : update_stages();
  }

  const Move* head(Place place) const {
    const auto index = static_cast<std::size_t>(place);
    return next_[index] < programs_[index].size() ? &programs_[index][next_[index]] : nullptr;
  }

  void pass(Place place) { ++next_[static_cast<std::size_t>(place)]; }

  schedule::NodeRange nodes_of(Stage stage) const {
    return layout_.stages[static_cast<std::size_t>(stage)];
  }

  bool updates(Stage stage) const { return has_weights(builder_.outline().model, nodes_of(stage)); }

  bool can_move(Place place) const {
    const Move* move = head(place);
    if (move == nullptr ||
        (move->kind != Move::Kind::forward && move->kind != Move::Kind::backward)) {
      return false;
    }
    const bool forward = move->kind == Move::Kind::forward;
    const auto& done = forward ? forwards_ : backwards_;
    return std::ranges::all_of(forward ? activations_ : gradients_, [&](const StageLink& link) {
      return link.to != builder_.stage_of(place) || done.contains({link.from, move->micro_batch});
    });
  }

  void move(Place place) {
    const Move& move = *head(place);
    if (move.kind == Move::Kind::forward) {
      forward(place, move);
    } else {
      backward(place, move.micro_batch);
    }
    pass(place);
  }

  void receive(const std::vector<StageLink>& links, Place place, MicroBatch micro_batch) {
    for (const StageLink& link : links) {
      if (link.to == builder_.stage_of(place)) {
        builder_.receive(layout_.place_of(link.from, micro_batch), place, micro_batch);
      }
    }
  }

  void send(const std::vector<StageLink>& links, Place place, MicroBatch micro_batch) {
    for (const StageLink& link : links) {
      if (link.from == builder_.stage_of(place)) {
        builder_.send(place, layout_.place_of(link.to, micro_batch), micro_batch);
      }
    }
  }

  /// Behind the first stage with weights all have one, so that none is missing in between.
  bool has_backward(Stage stage) const {
    return has_weights(builder_.outline().model, schedule::NodeRange{0, nodes_of(stage).end});
  }

  void forward(Place place, const Move& move) {
    const MicroBatch micro_batch = move.micro_batch;
    const Stage stage = builder_.stage_of(place);
    builder_.load(place, micro_batch);
    receive(activations_, place, micro_batch);
    const bool keeps = move.keeps || !has_backward(stage);
    builder_.forward(place, micro_batch, keeps,
                     updates(stage) ? move.version : std::optional<Version>());
    if (!keeps) {
      recomputed_.insert({stage, micro_batch});
    }
    send(activations_, place, micro_batch);
    if (stage == builder_.last_stage()) {
      builder_.loss(place, micro_batch);
    }
    forwards_.insert({stage, micro_batch});
  }

  void backward(Place place, MicroBatch micro_batch) {
    const Stage stage = builder_.stage_of(place);
    if (has_backward(stage)) {
      // Before the gradients are there: it does not need them.
      if (recomputed_.contains({stage, micro_batch})) {
        builder_.recompute(place, micro_batch);
      }
      receive(gradients_, place, micro_batch);
      builder_.backward(place, micro_batch);
      send(gradients_, place, micro_batch);
    }
    backwards_.insert({stage, micro_batch});
  }

  bool are_at(Move::Kind kind, const std::vector<Place>& replicas) const {
    return std::ranges::all_of(replicas, [&](Place place) {
      const Move* move = head(place);
      return move != nullptr && move->kind == kind;
    });
  }

  void exchange_stages() {
    for (std::size_t stage = 0; stage < layout_.depth(); ++stage) {
      const auto& replicas = layout_.places[stage];
      if (are_at(Move::Kind::exchange, replicas)) {
        if (updates(static_cast<Stage>(stage))) {
          exchange(stage);
          exchanged_.insert(stage);
        }
        std::ranges::for_each(replicas, [&](Place place) { pass(place); });
      }
    }
  }

  void exchange(std::size_t stage) {
    const auto& replicas = layout_.places[stage];
    if (!layout_.buckets.empty()) {
      return add_ring(builder_, replicas, layout_.buckets[stage], 2);
    }
    for (const Place place : replicas) {
      builder_.send_gradients(place, schedule::Queue::outgoing);
    }
    builder_.all_reduce(replicas);
  }

  void update_stages() {
    for (std::size_t stage = 0; stage < layout_.depth(); ++stage) {
      while (are_at(Move::Kind::update, layout_.places[stage])) {
        end_update(stage);
      }
    }
  }

  /// Where the norm is that of all stages' gradients, they update together.
  void update_all() {
    while (std::ranges::all_of(layout_.places, [&](const auto& replicas) {
      return are_at(Move::Kind::update, replicas);
    })) {
      const std::size_t updating = exchanged_.empty() ? 1 : layout_.places.front().size();
      for (std::size_t replica = 0; replica < updating && layout_.depth() > 1; ++replica) {
        measure(replica);
      }
      for (std::size_t stage = 0; stage < layout_.depth(); ++stage) {
        end_update(stage);
      }
    }
  }

  /// The norm, on that replica of each stage.
  void measure(std::size_t replica) {
    std::vector<Place> measured;
    for (std::size_t stage = 0; stage < layout_.depth(); ++stage) {
      if (updates(static_cast<Stage>(stage))) {
        measured.push_back(layout_.places[stage][replica]);
        builder_.squares(measured.back());
      }
    }
    builder_.exchange_squares(measured);
  }

  void end_update(std::size_t stage) {
    const auto& replicas = layout_.places[stage];
    if (updates(static_cast<Stage>(stage))) {
      update(static_cast<Stage>(stage), *head(replicas.front()));
    }
    std::ranges::for_each(replicas, [&](Place place) { pass(place); });
  }

  void update(Stage stage, const Move& move) {
    const auto& replicas = layout_.places[static_cast<std::size_t>(stage)];
    if (exchanged_.erase(static_cast<std::size_t>(stage)) > 0) {
      for (const Place place : replicas) {
        builder_.update(place);
      }
      return;
    }
    const std::vector<Place> others(replicas.begin() + 1, replicas.end());
    const Place first = replicas.front();
    for (const Place place : replicas) {
      if (move.stash) {
        builder_.stash(place);
      }
    }
    for (const Place place : others) {
      builder_.reduce(place, first, stage);  // stages are the parts of the gradient
    }
    builder_.update(first);
    if (move.average_every > 0) {
      builder_.average(first, move.average_every);
    }
    if (!others.empty()) {
      builder_.broadcast_weights(first, others);
    }
  }

  schedule::ScheduleBuilder& builder_;
  const PipelineLayout& layout_;
  const std::vector<Program>& programs_;
  std::vector<std::size_t> next_;
  std::vector<StageLink> activations_;
  std::vector<StageLink> gradients_;
  std::set<std::pair<Stage, MicroBatch>> forwards_;
  std::set<std::pair<Stage, MicroBatch>> backwards_;
  std::set<std::pair<Stage, MicroBatch>> recomputed_;
  std::set<std::size_t> exchanged_;  ///< stages whose replicas have the sum, before their update
};

}  // namespace

Place PipelineLayout::place_of(Stage stage, MicroBatch micro_batch) const {
  const auto& replicas = places[static_cast<std::size_t>(stage)];
  return replicas[static_cast<std::size_t>(micro_batch / micro_batches_in_turn) % replicas.size()];
}

Move forward_of(MicroBatch micro_batch, bool keeps) {
  return {Move::Kind::forward, micro_batch, keeps, {}, false, 0};
}

Move backward_of(MicroBatch micro_batch) {
  return {Move::Kind::backward, micro_batch, true, {}, false, 0};
}

Move exchange_now() { return {Move::Kind::exchange, 0, true, {}, false, 0}; }

Move update_now() { return {Move::Kind::update, 0, true, {}, false, 0}; }

Program alternating(const std::vector<MicroBatch>& own, std::size_t warm_ups,
                    std::size_t per_update, bool keeps) {
  Program program;
  const std::size_t ahead = std::min(warm_ups, own.size());
  for (std::size_t i = 0; i < ahead; ++i) {
    program.push_back(forward_of(own[i], keeps));
  }
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (i + ahead < own.size()) {
      program.push_back(forward_of(own[i + ahead], keeps));
    }
    program.push_back(backward_of(own[i]));
    if ((i + 1) % per_update == 0 || i + 1 == own.size()) {
      program.push_back(update_now());
    }
  }
  return program;
}

std::int32_t mark_stashes(Program& program, std::int32_t last) {
  std::map<MicroBatch, Version> used;
  std::map<Version, std::size_t> last_use;
  Version made = 0;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Move& move = program[i];
    if (move.kind == Move::Kind::update) {
      ++made;
      continue;
    }
    if (move.kind == Move::Kind::forward) {
      used[move.micro_batch] = move.version.value_or(made);
    }
    last_use[used.at(move.micro_batch)] = i;
  }
  std::vector<Version> kept;
  std::size_t most = 0;
  Version current = 0;
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (program[i].kind != Move::Kind::update) {
      continue;
    }
    std::erase_if(kept,
                  [&](Version version) { return version < made - last && last_use[version] < i; });
    program[i].stash = last_use[current] > i || current >= made - last;
    if (program[i].stash) {
      kept.push_back(current);
      most = std::max(most, kept.size());
    }
    ++current;
  }
  return static_cast<std::int32_t>(most) + 1;
}

void add_programs(schedule::ScheduleBuilder& builder, const PipelineLayout& layout,
                  const std::vector<Program>& programs, const std::vector<Place>& turns) {
  Weaver(builder, layout, programs).run(turns);
}

}  // namespace zygos::policies
