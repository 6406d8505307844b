// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/checkpoint/checkpoint_draft.hpp"

#include "io/checkpoint/checkpoint_folder.hpp"
#include "io/checkpoint/checkpoint_reader.hpp"
#include "io/file_sync.hpp"

#include "zygos/core/error.hpp"
#include "zygos/core/version.hpp"
#include "zygos/io/hash.hpp"

#include <fmt/format.h>

#include <future>
#include <system_error>
#include <utility>

namespace zygos::io {

namespace fs = std::filesystem;

namespace {

/// Any text as long as a SHA-256 is.
const std::string& unknown_sum() {
  static const std::string sum(64, '0');
  return sum;
}

/// Whether this very checkpoint is there already, sound: a resumed run repeats the steps after its
/// last checkpoint, and reaches the same bits.
bool holds(const fs::path& folder, const Draft& draft) {
  std::error_code unknown;
  if (!fs::exists(folder, unknown)) {
    return false;
  }
  const std::string sums = texts_of(draft, sha256_hex(draft.state.bytes())).sums;
  try {
    verify_folder(folder, draft.manifest.step, Depth::bytes);
    return read_text(folder / sums_name, sums.size()) == sums;
  } catch (const CheckpointError&) {
    return false;
  }
}

/// Hashes, writes and reads back at once: each takes about as long as a fast disk.
void fill(const fs::path& folder, const Draft& draft) {
  const auto bytes = draft.state.bytes();
  // With both policies a system that has no thread left hashes on this one.
  auto sum =
      std::async(std::launch::async | std::launch::deferred, [bytes] { return sha256_hex(bytes); });
  const fs::path state = folder / state_name;
  write_file_durably(state, bytes, [&] { require_same_bytes(state, bytes); });
  verify_image(state, bytes, draft.manifest);
  const DraftTexts texts = texts_of(draft, sum.get());
  write_file_durably(folder / manifest_name, bytes_of(texts.manifest));
  write_file_durably(folder / sums_name, bytes_of(texts.sums));
  sync_directory(folder);
  verify_folder(folder, draft.manifest.step, Depth::sizes);
}

void publish(const fs::path& directory, const Draft& draft) {
  // Names and block sizes of the file system take something too.
  constexpr std::uint64_t slack = std::uint64_t{64} << 10;
  const DraftTexts texts = texts_of(draft, unknown_sum());
  const std::uint64_t needed =
      draft.state.bytes().size() + texts.manifest.size() + texts.sums.size() + slack;
  require_space(directory, needed, free_bytes(directory));
  StagingFolder staging(directory, draft.manifest.step);
  try {
    fill(staging.path(), draft);
  } catch (const CheckpointError& error) {
    throw IoError(fmt::format(
        "a checkpoint reads back other than it was written, it was dropped; earlier ones are kept. "
        "Check the disk and the memory of this machine. {}",
        error.what()));
  }
  staging.commit(directory / checkpoint_name(draft.manifest.step));
}

}  // namespace

Draft make_draft(std::int64_t step, std::span<const TensorRef> tensors, const Facts& facts,
                 Image reused) {
  if (step < 0) {
    throw UsageError(fmt::format("checkpoint of step {}; steps count from 0", step));
  }
  Draft draft;
  draft.state = build_image(step, tensors, std::move(reused));
  draft.manifest.step = step;
  draft.manifest.library_version = version();
  draft.manifest.facts = facts;
  for (const TensorRef& tensor : tensors) {
    const std::span values(static_cast<const std::byte*>(tensor.data),
                           byte_count(tensor.dtype, tensor.shape));
    draft.manifest.tensors.push_back(
        {tensor.name, tensor.dtype, tensor.shape, std::string(state_name), xxh3_64_hex(values)});
  }
  const std::size_t bytes = texts_of(draft, unknown_sum()).manifest.size();
  if (bytes > manifest_limit) {
    throw UsageError(
        fmt::format("names and facts of a checkpoint take {} bytes, allowed are {}; store long "
                    "facts as tensors",
                    bytes, manifest_limit));
  }
  return draft;
}

DraftTexts texts_of(const Draft& draft, const std::string& state_sha256) {
  Manifest manifest = draft.manifest;
  manifest.files = {{std::string(state_name), draft.state.bytes().size(), state_sha256}};
  DraftTexts texts;
  texts.manifest = manifest_text(manifest);
  texts.sums = sums_text(manifest, sha256_hex(bytes_of(texts.manifest)));
  return texts;
}

fs::path commit_draft(const fs::path& directory, const Draft& draft) {
  make_directories_durably(directory);
  // What is seen now may be the work of a process that was killed before it could fsync: it has to
  // be on the disk before anything is removed because of it, or nothing is written.
  sync_directory(directory);
  remove_stale(directory);
  restore_set_aside(directory);
  const fs::path final = directory / checkpoint_name(draft.manifest.step);
  if (!holds(final, draft)) {
    publish(directory, draft);
  }
  return final;
}

}  // namespace zygos::io
