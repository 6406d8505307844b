// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/messages/message_board.hpp"
#include "train/queues/task_signals.hpp"

#include "zygos/comm/communicator.hpp"
#include "zygos/lane/lane_set.hpp"
#include "zygos/schedule/schedule.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace zygos::train {

/// The messages of a schedule that cross from process to process. To this process' lanes, the task
/// on another rank that sends has ended as soon as its message has arrived. All calls come from the
/// thread that called the engine.
class RankMessages {
 public:
  /// `owners`: rank of every place. Puts what arrives on the board, where what leaves must be
  /// already.
  RankMessages(comm::Communicator& communicator, std::span<const int> owners,
               const schedule::Schedule& schedule, MessageBoard& board);

  /// Starts a round, of step `step` if it is training: everything that will arrive may do so from
  /// now on.
  void begin(bool training, std::uint64_t step);
  /// Moves messages on: sends what has been made, signals what has arrived. True when nothing is
  /// left to be moved. Throws PeerError if another rank has failed.
  bool progress(TaskSignals& signals, std::uint32_t round, double now_s);

 private:
  struct Crossing {
    std::size_t task = 0;  ///< that makes the message
    bool in_evaluation = false;
    schedule::Codec codec = schedule::Codec::exact;  ///< of the steps in which it is used
    bool leaves = false;
    bool started = false;
    bool ended = false;
    std::unique_ptr<comm::Channel> channel;
  };

  /// How a message travels in some of the steps.
  struct Sending {
    schedule::Codec codec = schedule::Codec::exact;
    std::size_t bytes = 0;
    int tag = 0;
  };

  std::vector<Sending> sendings_of(std::size_t task, const schedule::Buffer& message) const;
  Crossing& add_crossing(std::size_t task, const Sending& sending);
  void add_sender(std::size_t task, const schedule::Buffer& message, std::span<const int> readers,
                  MessageBoard& board);
  void add_reader(std::size_t task, const schedule::Buffer& message, int sender,
                  MessageBoard& board);

  comm::Communicator& communicator_;
  const schedule::Schedule& schedule_;
  std::vector<std::vector<std::byte>> arriving_;
  std::vector<Crossing> crossings_;
  std::vector<Crossing*> pending_;
};

}  // namespace zygos::train
