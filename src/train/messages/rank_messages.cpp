// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/messages/rank_messages.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace zygos::train {

using schedule::Buffer;
using schedule::BufferKind;

RankMessages::RankMessages(comm::Communicator& communicator, std::span<const int> owners,
                           const schedule::Schedule& schedule, MessageBoard& board)
    : communicator_(communicator), schedule_(schedule) {
  const auto owner = [&](schedule::Place place) { return owners[static_cast<std::size_t>(place)]; };
  std::map<Buffer, std::set<int>> readers;
  for (const schedule::Task& task : schedule.tasks) {
    for (const Buffer& buffer : task.reads) {
      if (buffer.kind == BufferKind::message && owner(buffer.place) != owner(task.place)) {
        readers[buffer].insert(owner(task.place));
      }
    }
  }
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    for (const Buffer& buffer : schedule.tasks[id].writes) {
      const auto found = readers.find(buffer);
      if (found == readers.end()) {
        continue;
      }
      if (owner(buffer.place) == communicator.rank()) {
        add_sender(id, buffer, std::vector<int>(found->second.begin(), found->second.end()), board);
      } else if (found->second.contains(communicator.rank())) {
        add_reader(id, buffer, owner(buffer.place), board);
      }
    }
  }
  pending_.reserve(crossings_.size());
}

std::vector<RankMessages::Sending> RankMessages::sendings_of(std::size_t task,
                                                             const Buffer& message) const {
  const schedule::Task& one = schedule_.tasks[task];
  std::vector<Sending> sendings{{one.codec, static_cast<std::size_t>(one.bytes), message.part}};
  if (one.exact_bytes > 0) {
    // Until compression begins; tags of all messages are taken.
    sendings.push_back({schedule::Codec::exact, static_cast<std::size_t>(one.exact_bytes),
                        message.part + static_cast<int>(schedule_.tasks.size())});
  }
  return sendings;
}

RankMessages::Crossing& RankMessages::add_crossing(std::size_t task, const Sending& sending) {
  Crossing& crossing = crossings_.emplace_back();
  crossing.task = task;
  crossing.codec = sending.codec;
  crossing.in_evaluation = evaluates(schedule_, schedule_.tasks[task]);
  return crossing;
}

void RankMessages::add_sender(std::size_t task, const Buffer& message, std::span<const int> readers,
                              MessageBoard& board) {
  for (const Sending& sending : sendings_of(task, message)) {
    for (const int reader : readers) {
      Crossing& crossing = add_crossing(task, sending);
      crossing.leaves = true;
      crossing.channel =
          communicator_.open_send({board.at(message), sending.bytes}, reader, sending.tag);
    }
  }
}

void RankMessages::add_reader(std::size_t task, const Buffer& message, int sender,
                              MessageBoard& board) {
  auto& memory = arriving_.emplace_back(static_cast<std::size_t>(max_bytes(schedule_.tasks[task])));
  board.set(message, memory.data());
  for (const Sending& sending : sendings_of(task, message)) {
    Crossing& crossing = add_crossing(task, sending);
    crossing.channel =
        communicator_.open_receive(std::span(memory).first(sending.bytes), sender, sending.tag);
  }
}

void RankMessages::begin(bool training, std::uint64_t step) {
  pending_.clear();
  for (Crossing& crossing : crossings_) {
    crossing.started = false;
    crossing.ended = false;
    const bool used = codec_in(schedule_, schedule_.tasks[crossing.task], step) == crossing.codec;
    if (used && (training || crossing.in_evaluation)) {
      pending_.push_back(&crossing);
    }
  }
  for (Crossing* crossing : pending_) {
    if (!crossing->leaves) {
      crossing->channel->start();
      crossing->started = true;
    }
  }
}

bool RankMessages::progress(TaskSignals& signals, std::uint32_t round, double now_s) {
  for (Crossing* crossing : pending_) {
    if (!crossing->started && signals.is_set(crossing->task, round) &&
        signals.end_s(crossing->task) <= now_s) {
      crossing->channel->start();
      crossing->started = true;
    }
    if (crossing->started && crossing->channel->done()) {
      crossing->ended = true;
      if (!crossing->leaves) {
        signals.set(crossing->task, round);
      }
    }
  }
  std::erase_if(pending_, [](const Crossing* crossing) { return crossing->ended; });
  communicator_.check();
  return pending_.empty();
}

}  // namespace zygos::train
