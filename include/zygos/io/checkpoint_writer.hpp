// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints written while the caller goes on: start() copies the tensors, and a thread hashes,
// writes, fsyncs, renames and reads back. The bytes are those of CheckpointStore::write.
#pragma once

#include "zygos/io/checkpoint_store.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

namespace zygos::io {

/// A checkpoint that is complete under its name, and was read back.
struct CommittedCheckpoint {
  std::int64_t step = 0;
  std::filesystem::path path;
  double seconds = 0.0;           ///< from the copy to the name
  double verified_seconds = 0.0;  ///< from the copy until it was read back, and old ones removed
};

class CheckpointWriter {
 public:
  /// Of write(): large enough for the speed of a disk.
  static constexpr std::size_t staging_bytes = std::size_t{8} << 20;

  /// `store` must outlive the writer. There is one writer to a store.
  explicit CheckpointWriter(CheckpointStore& store);
  /// Waits for the checkpoint in flight.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// Allocates what tensors of these types and shapes take, so that start() need not.
  void reserve(std::span<const TensorRef> tensors, const Facts& facts);
  /// Copies tensors and facts and returns; the rest happens on another thread. Throws UsageError
  /// and MemoryError as CheckpointStore::write does, and UsageError where the checkpoint before
  /// was not taken by take() or wait().
  void start(std::int64_t step, std::span<const TensorRef> tensors, const Facts& facts);
  /// Writes tensors that pass through staging memory (CheckpointStore::write), and returns when
  /// that is done: take() and wait() then give the checkpoint, or throw the IoError that kept it
  /// from being written. Throws all other errors itself, and UsageError where the checkpoint before
  /// was not taken.
  void write(std::int64_t step, TensorSource& source, const Facts& facts);
  /// Allocates the staging memory, so that write() need not.
  void reserve_staging();
  /// True while a checkpoint is being written.
  bool busy() const;
  /// The same after at most so many seconds, earlier if it is complete or has failed by then.
  bool busy_for(double seconds) const;
  /// The checkpoint of the last start() or write(), once, if it is complete by now. Throws what
  /// CheckpointStore::write throws if it failed: then earlier ones are intact.
  std::optional<CommittedCheckpoint> take();
  /// The same, but waits for it.
  std::optional<CommittedCheckpoint> wait();
  /// Memory that copies of tensors rest in, or that they pass through.
  std::size_t bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace zygos::io
