// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/io/checkpoint_store.hpp"

#include "io/checkpoint/checkpoint_draft.hpp"
#include "io/checkpoint/checkpoint_folder.hpp"
#include "io/checkpoint/checkpoint_reader.hpp"
#include "io/checkpoint/checkpoint_stream.hpp"

#include "zygos/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <system_error>
#include <utility>

namespace zygos::io {

namespace fs = std::filesystem;

namespace {

bool is_sound(const FoundCheckpoint& checkpoint) {
  try {
    verify_folder(checkpoint.path, checkpoint.step, Depth::sizes);
    return true;
  } catch (const CheckpointError&) {
    return false;
  }
}

/// The number in the fact `merit`; none for text that is no number.
std::optional<double> merit_of(const Facts& facts) {
  const auto fact = facts.find(std::string(merit_fact));
  if (fact == facts.end()) {
    return std::nullopt;
  }
  double value = 0.0;
  const char* end = fact->second.data() + fact->second.size();
  const auto [last, problem] = std::from_chars(fact->second.data(), end, value);
  return problem == std::errc() && last == end && !std::isnan(value) ? std::optional(value)
                                                                     : std::nullopt;
}

/// Sound checkpoints that have a merit, the best first, the newer first among equals.
struct Ranked {
  FoundCheckpoint found;
  double merit = 0.0;
};

std::vector<Ranked> ranked(const fs::path& directory) {
  std::vector<Ranked> all;
  for (const FoundCheckpoint& found : find_checkpoints(directory)) {
    try {
      const Manifest manifest = verify_folder(found.path, found.step, Depth::sizes);
      if (const auto merit = merit_of(manifest.facts)) {
        all.push_back({found, *merit});
      }
    } catch (const CheckpointError&) {
      continue;
    }
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &Ranked::merit);
  return all;
}

std::set<fs::path> best_in(const fs::path& directory, int count) {
  std::set<fs::path> best;
  if (count > 0) {
    for (const Ranked& one : ranked(directory)) {
      if (best.size() < static_cast<std::size_t>(count)) {
        best.insert(one.found.path);
      }
    }
  }
  return best;
}

/// Those of before `step` that are neither among the newest sound ones to keep nor among the best.
/// One after `step` was left by an earlier life of the run and damaged, or the run would have gone
/// on from it: it stays until the run gets there again.
std::vector<fs::path> superseded(const fs::path& directory, std::int64_t step, const Keep& keep) {
  const auto best = best_in(directory, keep.best);
  std::vector<fs::path> doomed;
  int kept = 1;  // the one of `step`
  for (const FoundCheckpoint& found : find_checkpoints(directory)) {
    if (found.step >= step) {
      continue;
    }
    if (kept < keep.newest) {
      kept += is_sound(found) ? 1 : 0;
    } else if (!best.contains(found.path)) {
      doomed.push_back(found.path);
    }
  }
  return doomed;
}

void prune(const fs::path& directory, std::int64_t step, const Keep& keep, const LogSink& log) {
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

CheckpointStore::CheckpointStore(fs::path directory, Keep keep, LogSink log)
    : directory_(std::move(directory)), keep_(keep), log_(std::move(log)) {
  if (keep.newest < 1) {
    throw UsageError(fmt::format("keep {} checkpoints; it must be at least 1", keep.newest));
  }
  if (keep.best < 0) {
    throw UsageError(fmt::format("keep {} best checkpoints; it must be at least 0", keep.best));
  }
}

CheckpointStore::CheckpointStore(fs::path directory, int keep, LogSink log)
    : CheckpointStore(std::move(directory), Keep{.newest = keep}, std::move(log)) {}

fs::path CheckpointStore::write(std::int64_t step, std::span<const TensorRef> tensors,
                                const Facts& facts) {
  const Draft draft = make_draft(step, tensors, facts);
  fs::path final = commit(draft);
  settle(final, draft);
  return final;
}

fs::path CheckpointStore::write(std::int64_t step, TensorSource& source, const Facts& facts,
                                std::span<std::byte> staging) {
  fs::path final = commit_stream(directory_, step, source, facts, staging);
  prune(directory_, step, keep_, log_);
  return final;
}

fs::path CheckpointStore::commit(const Draft& draft) { return commit_draft(directory_, draft); }

void CheckpointStore::settle(const fs::path& checkpoint, const Draft& draft) {
  verify_on_disk(checkpoint, draft);
  prune(directory_, draft.manifest.step, keep_, log_);
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

Checkpoint CheckpointStore::load_best() const {
  for (const Ranked& candidate : ranked(directory_)) {
    try {
      return read_folder(candidate.found.path, candidate.found.step);
    } catch (const CheckpointError& error) {
      zygos::log(log_, LogLevel::warning, fmt::format("{}; trying the next best", error.what()));
    }
  }
  throw CheckpointError(
      fmt::format("no sound checkpoint in {} has a merit: a run with test data and "
                  "checkpoint.keep_best of at least 1 evaluates each one before it is written",
                  directory_.string()));
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
