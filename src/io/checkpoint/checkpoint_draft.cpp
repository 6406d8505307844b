// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/checkpoint/checkpoint_draft.hpp"

#include "io/checkpoint/checkpoint_commit.hpp"
#include "io/checkpoint/checkpoint_folder.hpp"
#include "io/checkpoint/checkpoint_reader.hpp"
#include "io/files/direct_file.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/hash.hpp"

#include <future>
#include <system_error>
#include <utility>

namespace zygos::io {

namespace fs = std::filesystem;

namespace {

bool holds(const fs::path& folder, const Draft& draft) {
  std::error_code unknown;
  if (!fs::exists(folder, unknown)) {
    return false;
  }
  const auto bytes = draft.state.bytes();
  const CommitTexts texts = texts_of(draft.manifest, bytes.size(), sha256_hex(bytes));
  return holds_checkpoint(folder, draft.manifest.step, texts.sums);
}

/// Hashes and writes at once: each takes about as long as a fast disk.
void fill(const fs::path& folder, const Draft& draft) {
  const auto bytes = draft.state.bytes();
  // With both policies a system that has no thread left hashes on this one.
  auto sum =
      std::async(std::launch::async | std::launch::deferred, [bytes] { return sha256_hex(bytes); });
  const fs::path state = folder / state_name;
  write_large_file_durably(state, bytes);
  verify_image(state, bytes, draft.manifest);
  add_texts(folder, draft.manifest.step, texts_of(draft.manifest, bytes.size(), sum.get()));
}

}  // namespace

Draft make_draft(std::int64_t step, std::span<const TensorRef> tensors, const Facts& facts,
                 Image reused) {
  Draft draft;
  draft.state = build_image(step, tensors, std::move(reused));
  draft.manifest = manifest_of(step, tensors, facts, draft.state.bytes().size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::span values(static_cast<const std::byte*>(tensors[i].data),
                           byte_count(tensors[i].dtype, tensors[i].shape));
    draft.manifest.tensors[i].xxh3_64 = xxh3_64_hex(values);
  }
  return draft;
}

fs::path commit_draft(const fs::path& directory, const Draft& draft) {
  prepare_directory(directory);
  const fs::path final = directory / checkpoint_name(draft.manifest.step);
  if (!holds(final, draft)) {
    const std::uint64_t state = draft.state.bytes().size();
    const CommitTexts texts = texts_of(draft.manifest, state, unknown_sha256());
    publish(directory, draft.manifest.step, state + texts.bytes(),
            [&](const fs::path& folder) { fill(folder, draft); });
  }
  return final;
}

void verify_on_disk(const fs::path& checkpoint, const Draft& draft) {
  try {
    require_same_bytes(checkpoint / state_name, draft.state.bytes());
  } catch (const CheckpointError& error) {
    remove_checkpoint(checkpoint);
    refuse_read_back(error);
  }
}

}  // namespace zygos::io
