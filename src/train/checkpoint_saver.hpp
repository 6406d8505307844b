// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// How a trainer writes its checkpoints: one of the ranks has the store, the others hear from it.
#pragma once

#include "zygos/io/checkpoint_writer.hpp"
#include "zygos/train/trainer.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace zygos::train {

/// What has become of a checkpoint.
struct SaveEnd {
  std::int64_t committed = -1;  ///< its step; -1: none is complete
  bool failed = false;
  std::string problem;  ///< of one that failed, where the store is
};

class CheckpointSaver {
 public:
  /// `store`: null where another rank, or none, has it. `max_failures`: see TrainerOptions.
  /// `streams`: no copy of the state is made; start() writes it piece by piece, and returns when it
  /// has. Throws UsageError for that on several ranks.
  CheckpointSaver(Engine& engine, io::CheckpointStore* store, int max_failures, bool streams);

  /// Collective: whether any rank has a store.
  bool agree_on_saving();
  bool saves() const noexcept { return saves_; }
  /// This rank has the store.
  bool writes() const noexcept { return writer_.has_value(); }
  bool busy() const { return writer_ && writer_->busy(); }

  /// Collective: allocates what checkpoints like this one take.
  void reserve(const io::Facts& facts);
  /// Collective: copies the state, and from then on it is the writer's to write; or writes it.
  void start(std::int64_t step, const io::Facts& facts);
  /// Of this rank, without waiting. Throws IoError after too many failures in a row.
  SaveEnd poll();
  /// Collective: waits for the checkpoint in flight, however long it takes: the ranks hear from the
  /// writing one all the time.
  SaveEnd settle();
  /// A failure of the checkpoint in flight is the last one.
  void bear_no_failure() noexcept { failures_ = max_failures_ - 1; }

  /// Of the last one that this rank has committed.
  const std::string& path() const noexcept { return path_; }
  double written_s() const noexcept { return written_s_; }
  double verified_s() const noexcept { return verified_s_; }
  CheckpointCosts& costs() noexcept { return costs_; }
  const CheckpointCosts& costs() const noexcept { return costs_; }

 private:
  Engine& engine_;
  int max_failures_;
  int failures_ = 0;    ///< in a row
  bool saves_ = false;  ///< this or another rank has a store
  std::optional<io::CheckpointWriter> writer_;
  std::unique_ptr<io::TensorSource> source_;  ///< null: the writer gets a copy
  std::string path_;
  double written_s_ = 0.0;
  double verified_s_ = 0.0;
  CheckpointCosts costs_;
};

}  // namespace zygos::train
