// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/io/checkpoint_store.hpp"

#include "io/checkpoint/checkpoint_folder.hpp"
#include "io/checkpoint/checkpoint_image.hpp"
#include "io/checkpoint/checkpoint_manifest.hpp"
#include "io/checkpoint/checkpoint_reader.hpp"
#include "io/file_sync.hpp"

#include "zygos/core/error.hpp"
#include "zygos/core/version.hpp"
#include "zygos/io/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace zygos::io {

namespace fs = std::filesystem;

namespace {

/// A checkpoint in memory, as it is to lie in its folder.
struct Draft {
  Image state;
  std::string manifest;
  std::string sums;

  std::uint64_t bytes() const { return state.bytes().size() + manifest.size() + sums.size(); }
};

Draft make_draft(std::int64_t step, std::span<const TensorRef> tensors, const Facts& facts) {
  Draft draft;
  draft.state = build_image(step, tensors);
  const auto bytes = draft.state.bytes();
  Manifest manifest;
  manifest.step = step;
  manifest.library_version = version();
  manifest.facts = facts;
  manifest.files.push_back({std::string(state_name), bytes.size(), sha256_hex(bytes)});
  for (const TensorRef& tensor : tensors) {
    const std::span values(static_cast<const std::byte*>(tensor.data),
                           byte_count(tensor.dtype, tensor.shape));
    manifest.tensors.push_back(
        {tensor.name, tensor.dtype, tensor.shape, std::string(state_name), xxh3_64_hex(values)});
  }
  draft.manifest = manifest_text(manifest);
  if (draft.manifest.size() > manifest_limit) {
    throw UsageError(
        fmt::format("names and facts of a checkpoint take {} bytes, allowed are {}; store long "
                    "facts as tensors",
                    draft.manifest.size(), manifest_limit));
  }
  draft.sums = sums_text(manifest, sha256_hex(bytes_of(draft.manifest)));
  return draft;
}

/// Whether this very checkpoint is there already, sound: a resumed run repeats the steps after its
/// last checkpoint, and reaches the same bits.
bool holds(const fs::path& folder, std::int64_t step, const Draft& draft) {
  try {
    verify_folder(folder, step, Depth::bytes);
    return read_text(folder / sums_name, draft.sums.size()) == draft.sums;
  } catch (const CheckpointError&) {
    return false;
  }
}

void fill(const fs::path& folder, const Draft& draft) {
  write_file_durably(folder / state_name, draft.state.bytes());
  write_file_durably(folder / manifest_name, bytes_of(draft.manifest));
  write_file_durably(folder / sums_name, bytes_of(draft.sums));
  sync_directory(folder);
}

void publish(const fs::path& directory, std::int64_t step, Draft draft) {
  // Names and block sizes of the file system take something too.
  constexpr std::uint64_t slack = std::uint64_t{64} << 10;
  require_space(directory, draft.bytes() + slack, free_bytes(directory));
  StagingFolder staging(directory, step);
  fill(staging.path(), draft);
  draft = Draft();  // its memory may be needed for reading back
  try {
    verify_tensors(staging.path(), step);
  } catch (const CheckpointError& error) {
    throw IoError(fmt::format(
        "a checkpoint reads back other than it was written, it was dropped; earlier ones are kept. "
        "Check the disk and the memory of this machine. {}",
        error.what()));
  }
  staging.commit(directory / checkpoint_name(step));
}

bool is_sound(const FoundCheckpoint& checkpoint) {
  try {
    verify_folder(checkpoint.path, checkpoint.step, Depth::sizes);
    return true;
  } catch (const CheckpointError&) {
    return false;
  }
}

/// Those of before `step` that are not among the `keep` newest sound ones. One after `step` was
/// left by an earlier life of the run and damaged, or the run would have gone on from it: it stays
/// until the run gets there again.
std::vector<fs::path> superseded(const fs::path& directory, std::int64_t step, int keep) {
  std::vector<fs::path> doomed;
  int kept = 0;
  for (const FoundCheckpoint& found : find_checkpoints(directory)) {
    if (found.step >= step) {
      continue;
    }
    if (kept == keep) {
      doomed.push_back(found.path);
    } else if (is_sound(found)) {
      ++kept;
    }
  }
  return doomed;
}

void prune(const fs::path& directory, std::int64_t step, int keep, const LogSink& log) {
  try {
    for (const fs::path& checkpoint : superseded(directory, step, keep)) {
      remove_checkpoint(checkpoint);
    }
  } catch (const IoError& error) {
    zygos::log(log, LogLevel::warning,
               fmt::format("old checkpoints stay where they are: {}", error.what()));
  }
}

}  // namespace

const StoredTensor& Checkpoint::tensor(const std::string& name) const {
  const auto found = std::ranges::find(tensors, name, &StoredTensor::name);
  if (found == tensors.end()) {
    throw CheckpointError(fmt::format("checkpoint {} holds no tensor '{}'", path.string(), name));
  }
  return *found;
}

const std::string& Checkpoint::fact(const std::string& name) const {
  const auto found = facts.find(name);
  if (found == facts.end()) {
    throw CheckpointError(fmt::format("checkpoint {} holds no fact '{}'", path.string(), name));
  }
  return found->second;
}

CheckpointStore::CheckpointStore(fs::path directory, int keep, LogSink log)
    : directory_(std::move(directory)), keep_(keep), log_(std::move(log)) {
  if (keep < 1) {
    throw UsageError(fmt::format("keep {} checkpoints; it must be at least 1", keep));
  }
}

fs::path CheckpointStore::write(std::int64_t step, std::span<const TensorRef> tensors,
                                const Facts& facts) {
  if (step < 0) {
    throw UsageError(fmt::format("checkpoint of step {}; steps count from 0", step));
  }
  Draft draft = make_draft(step, tensors, facts);
  make_directories_durably(directory_);
  remove_stale(directory_);
  const fs::path final = directory_ / checkpoint_name(step);
  std::error_code unknown;
  if (!fs::exists(final, unknown) || !holds(final, step, draft)) {
    publish(directory_, step, std::move(draft));
  }
  prune(directory_, step, keep_ - 1, log_);
  return final;
}

std::vector<CheckpointSummary> CheckpointStore::list() const {
  std::vector<CheckpointSummary> summaries;
  for (const FoundCheckpoint& found : find_checkpoints(directory_)) {
    summaries.push_back({found.path, found.step, {}});
    try {
      verify_folder(found.path, found.step, Depth::bytes);
    } catch (const CheckpointError& error) {
      summaries.back().problem = error.what();
    }
  }
  return summaries;
}

Checkpoint CheckpointStore::load(const fs::path& checkpoint) {
  std::error_code problem;
  // The name counts, and "." or a link have another one than the folder.
  const fs::path folder = fs::canonical(checkpoint, problem);
  if (problem) {
    throw CheckpointError(
        fmt::format("no checkpoint {}: {}", checkpoint.string(), problem.message()));
  }
  const auto step = step_of_name(folder.filename().string());
  if (!step) {
    throw CheckpointError(fmt::format(
        "{} is no checkpoint: its name must be step- and the step with at least 6 digits",
        folder.string()));
  }
  return read_folder(folder, *step);
}

std::optional<Checkpoint> CheckpointStore::load_newest() const {
  const auto found = find_checkpoints(directory_);
  std::string newest_problem;
  for (const FoundCheckpoint& candidate : found) {
    try {
      return read_folder(candidate.path, candidate.step);
    } catch (const CheckpointError& error) {
      newest_problem = newest_problem.empty() ? error.what() : newest_problem;
      zygos::log(log_, LogLevel::warning, fmt::format("{}; trying the one before", error.what()));
    }
  }
  if (!found.empty()) {
    throw CheckpointError(fmt::format("none of the {} checkpoints in {} is sound. {}", found.size(),
                                      directory_.string(), newest_problem));
  }
  return std::nullopt;
}

}  // namespace zygos::io
