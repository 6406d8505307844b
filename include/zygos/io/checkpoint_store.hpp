// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A directory of checkpoints. The one rule a reader could not guess: a checkpoint exists only under
// its final name, and that name appears only by rename() after every byte beneath it was fsynced.
#pragma once

#include "zygos/core/log.hpp"
#include "zygos/io/stored_tensor.hpp"
#include "zygos/io/tensor_source.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::io {

/// Free-form facts beside the tensors ("epoch", "cursor", "deck", "split", ...); the store neither
/// knows nor interprets them.
using Facts = std::map<std::string, std::string>;

/// One verified checkpoint.
struct Checkpoint {
  std::filesystem::path path;
  std::int64_t step = 0;
  Facts facts;
  std::vector<StoredTensor> tensors;

  /// Throws CheckpointError if there is none of that name.
  const StoredTensor& tensor(const std::string& name) const;
  const std::string& fact(const std::string& name) const;
};

/// What `list` and `inspect` need without reading the tensors' bytes.
struct CheckpointSummary {
  std::filesystem::path path;
  std::int64_t step = 0;
  std::string problem;  ///< empty if the manifest and all checksums hold
};

/// The fact by which checkpoints are ranked: a number, the larger the better.
inline constexpr std::string_view merit_fact = "merit";

/// Which sound checkpoints survive the write of another one.
struct Keep {
  int newest = 1;  ///< at least 1
  int best = 0;    ///< of all that have a merit; among equals the newer one
};

struct Draft;

class CheckpointStore {
 public:
  /// Newer steps than the one written are never removed. Creates the directory on the first write,
  /// not here. Throws UsageError for numbers that are too small.
  CheckpointStore(std::filesystem::path directory, Keep keep, LogSink log = {});
  /// Keeps the newest ones only.
  CheckpointStore(std::filesystem::path directory, int keep, LogSink log = {});

  /// Writes `step-NNNNNN` atomically, verifies it by reading it back, then removes old ones. One of
  /// this step is left alone if it is sound and equal, else replaced in one operation. Throws
  /// IoError (path, cause, missing bytes when the disk is full), earlier ones stay intact;
  /// UsageError for a negative step, tensor names that HDF5 can't hold, and text that is not UTF-8.
  std::filesystem::path write(std::int64_t step, std::span<const TensorRef> tensors,
                              const Facts& facts);
  /// The same checkpoint, bit for bit, of tensors that pass piece by piece through `staging` (at
  /// least 64 bytes): beside it nothing is needed that grows with their elements. Reads each tensor
  /// once, and once more where there is a checkpoint of this step. Throws what the source throws,
  /// too; earlier ones stay intact.
  std::filesystem::path write(std::int64_t step, TensorSource& source, const Facts& facts,
                              std::span<std::byte> staging);

  /// All `step-*` directories, newest first, each verified against its checksums.
  std::vector<CheckpointSummary> list() const;

  /// Reads and verifies one checkpoint, whose folder must have its own name; throws CheckpointError
  /// naming file and cause, MemoryError if it does not fit.
  static Checkpoint load(const std::filesystem::path& checkpoint);

  /// The newest one that verifies. Damaged ones are logged as warnings and skipped. nullopt when
  /// the directory holds none at all; throws CheckpointError when there are some and none verifies.
  std::optional<Checkpoint> load_newest() const;

  /// The best one that verifies, by its merit; throws CheckpointError if none has a merit.
  Checkpoint load_best() const;

  const std::filesystem::path& directory() const noexcept { return directory_; }

 private:
  friend class CheckpointWriter;
  /// The checkpoint is durable and has its name then.
  std::filesystem::path commit(const Draft& draft);
  /// Reads it back from the disk, then removes old ones.
  void settle(const std::filesystem::path& checkpoint, const Draft& draft);

  std::filesystem::path directory_;
  Keep keep_;
  LogSink log_;
};

}  // namespace zygos::io
