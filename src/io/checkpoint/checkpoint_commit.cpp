// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/checkpoint/checkpoint_commit.hpp"

#include "io/checkpoint/checkpoint_folder.hpp"
#include "io/checkpoint/checkpoint_reader.hpp"
#include "io/files/file_sync.hpp"

#include "zygos/core/error.hpp"
#include "zygos/core/version.hpp"
#include "zygos/io/hash.hpp"

#include <fmt/format.h>

#include <system_error>
#include <utility>

namespace zygos::io {

namespace fs = std::filesystem;

const std::string& unknown_sha256() {
  static const std::string sum(64, '0');
  return sum;
}

const std::string& unknown_xxh3() {
  static const std::string sum(16, '0');
  return sum;
}

Manifest manifest_of(std::int64_t step, std::span<const TensorRef> tensors, const Facts& facts,
                     std::uint64_t state_bytes) {
  if (step < 0) {
    throw UsageError(fmt::format("checkpoint of step {}; steps count from 0", step));
  }
  Manifest manifest;
  manifest.step = step;
  manifest.library_version = version();
  manifest.facts = facts;
  for (const TensorRef& tensor : tensors) {
    manifest.tensors.push_back(
        {tensor.name, tensor.dtype, tensor.shape, std::string(state_name), unknown_xxh3()});
  }
  const std::size_t bytes = texts_of(manifest, state_bytes, unknown_sha256()).manifest.size();
  if (bytes > manifest_limit) {
    throw UsageError(
        fmt::format("names and facts of a checkpoint take {} bytes, allowed are {}; store long "
                    "facts as tensors",
                    bytes, manifest_limit));
  }
  return manifest;
}

CommitTexts texts_of(Manifest manifest, std::uint64_t state_bytes,
                     const std::string& state_sha256) {
  manifest.files = {{std::string(state_name), state_bytes, state_sha256}};
  CommitTexts texts;
  texts.manifest = manifest_text(manifest);
  texts.sums = sums_text(manifest, sha256_hex(bytes_of(texts.manifest)));
  return texts;
}

void prepare_directory(const fs::path& directory) {
  make_directories_durably(directory);
  // What is seen now may be the work of a process that was killed before it could fsync: it has to
  // be on the disk before anything is removed because of it, or nothing is written.
  sync_directory(directory);
  remove_stale(directory);
  restore_set_aside(directory);
}

bool holds_checkpoint(const fs::path& folder, std::int64_t step, const std::string& sums) {
  try {
    verify_folder(folder, step, Depth::bytes);
    return read_text(folder / sums_name, sums.size()) == sums;
  } catch (const CheckpointError&) {
    return false;
  }
}

void add_texts(const fs::path& folder, std::int64_t step, const CommitTexts& texts) {
  write_file_durably(folder / manifest_name, bytes_of(texts.manifest));
  write_file_durably(folder / sums_name, bytes_of(texts.sums));
  sync_directory(folder);
  verify_folder(folder, step, Depth::sizes);
}

void refuse_read_back(const CheckpointError& error) {
  throw IoError(fmt::format(
      "a checkpoint reads back other than it was written, it was dropped; earlier ones are kept. "
      "Check the disk and the memory of this machine. {}",
      error.what()));
}

void publish(const fs::path& directory, std::int64_t step, std::uint64_t bytes,
             const std::function<void(const fs::path&)>& fill) {
  // Names and block sizes of the file system take something too.
  constexpr std::uint64_t slack = std::uint64_t{64} << 10;
  require_space(directory, bytes + slack, free_bytes(directory));
  StagingFolder staging(directory, step);
  try {
    fill(staging.path());
  } catch (const CheckpointError& error) {
    refuse_read_back(error);
  }
  staging.commit(directory / checkpoint_name(step));
}

}  // namespace zygos::io
