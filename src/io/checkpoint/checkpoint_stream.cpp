// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/checkpoint/checkpoint_stream.hpp"

#include "io/checkpoint/checkpoint_commit.hpp"
#include "io/checkpoint/checkpoint_folder.hpp"
#include "io/checkpoint/checkpoint_skeleton.hpp"
#include "io/files/file_sync.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

namespace zygos::io {

namespace fs = std::filesystem;

namespace {

struct FileSums {
  std::string sha256;
  std::vector<std::string> xxh3;  ///< by tensor
};

using TakePiece = std::function<void(std::span<const std::byte>)>;

/// Brings the bytes of the file in their order, as many at a time as the staging memory has.
class Stream {
 public:
  Stream(const Skeleton& skeleton, TensorSource& source, std::span<std::byte> staging)
      : skeleton_(skeleton), source_(source), staging_(staging) {}

  /// `take` gets the pieces; returns the hashes of them.
  FileSums run(const TakePiece& take) {
    FileSums sums;
    sums.xxh3.assign(source_.tensors().size(), xxh3_64_hex({}));
    Sha256 whole;
    for (const FilePart& part : skeleton_.parts) {
      tensor_.reset();
      for (std::uint64_t done = 0; done < part.bytes;) {
        const std::size_t count = room_for(part, done);
        if (count == 0) {
          flush(whole, take);
          continue;
        }
        bring(part, done, staging_.subspan(used_, count));
        used_ += count;
        done += count;
      }
      if (part.tensor != FilePart::no_tensor) {
        sums.xxh3[part.tensor] = tensor_.hex();
      }
    }
    flush(whole, take);
    sums.sha256 = whole.hex();
    return sums;
  }

 private:
  /// Bytes of what is left of a part that still fit: whole elements.
  std::size_t room_for(const FilePart& part, std::uint64_t done) const {
    const std::size_t room = staging_.size() - used_;
    const std::uint64_t left = part.bytes - done;
    if (left <= room) {
      return static_cast<std::size_t>(left);
    }
    const std::size_t unit =
        part.tensor == FilePart::no_tensor ? 1 : size_of(source_.tensors()[part.tensor].dtype);
    return room / unit * unit;
  }

  void bring(const FilePart& part, std::uint64_t done, std::span<std::byte> out) {
    if (part.tensor == FilePart::no_tensor) {
      skeleton_.file.read(part.begin + done, out);
    } else {
      source_.read(part.tensor, static_cast<std::size_t>(done), out);
      tensor_.add(out);
    }
  }

  void flush(Sha256& whole, const TakePiece& take) {
    const auto piece = staging_.first(used_);
    whole.add(piece);
    take(piece);
    used_ = 0;
  }

  const Skeleton& skeleton_;
  TensorSource& source_;
  std::span<std::byte> staging_;
  std::size_t used_ = 0;
  Xxh3 tensor_;
};

/// Compares a file, as it is read, with the skeleton and the hashes of the tensors.
class ReadBack {
 public:
  ReadBack(const Skeleton& skeleton, const Manifest& manifest)
      : skeleton_(skeleton), manifest_(manifest) {}

  void add(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      if (part_ == skeleton_.parts.size()) {
        throw CheckpointError("has more bytes than were written");
      }
      const FilePart& part = skeleton_.parts[part_];
      const auto count =
          static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), part.bytes - done_));
      look_at(part, bytes.first(count));
      bytes = bytes.subspan(count);
      done_ += count;
      if (done_ == part.bytes) {
        end(part);
      }
    }
  }

  void require_end() const {
    if (part_ < skeleton_.parts.size()) {
      throw CheckpointError(fmt::format("ends after {} of {} bytes",
                                        skeleton_.parts[part_].begin + done_, skeleton_.bytes));
    }
  }

 private:
  void look_at(const FilePart& part, std::span<const std::byte> bytes) {
    if (part.tensor != FilePart::no_tensor) {
      return tensor_.add(bytes);
    }
    std::array<std::byte, 4096> written{};
    for (std::size_t begin = 0; begin < bytes.size(); begin += written.size()) {
      const auto found = bytes.subspan(begin, std::min(written.size(), bytes.size() - begin));
      const auto expected = std::span(written).first(found.size());
      skeleton_.file.read(part.begin + done_ + begin, expected);
      if (!std::ranges::equal(found, expected)) {
        throw CheckpointError(
            fmt::format("differs from what was written within {} bytes behind "
                        "byte {}",
                        found.size(), part.begin + done_ + begin));
      }
    }
  }

  void end(const FilePart& part) {
    if (part.tensor != FilePart::no_tensor) {
      const TensorEntry& tensor = manifest_.tensors[part.tensor];
      if (const std::string hash = tensor_.hex(); hash != tensor.xxh3_64) {
        throw CheckpointError(fmt::format("tensor '{}': XXH3 is {}, that of what was written is {}",
                                          tensor.name, hash, tensor.xxh3_64));
      }
      tensor_.reset();
    }
    ++part_;
    done_ = 0;
  }

  const Skeleton& skeleton_;
  const Manifest& manifest_;
  std::size_t part_ = 0;
  std::uint64_t done_ = 0;  ///< of the part
  Xxh3 tensor_;
};

void require_as_written(const fs::path& file, const Skeleton& skeleton, const Manifest& manifest,
                        std::span<std::byte> staging) {
  try {
    std::uint64_t size = 0;
    const Descriptor opened = open_regular(file, size);
    ReadBack found(skeleton, manifest);
    read_pieces(opened, file, staging, [&](auto piece) {
      found.add(piece);
      return true;
    });
    found.require_end();
  } catch (const Error& error) {
    throw CheckpointError(fmt::format("checkpoint damaged: {}: {}", file.string(), error.what()));
  }
}

void put_hashes(const FileSums& sums, Manifest& manifest) {
  for (std::size_t i = 0; i < sums.xxh3.size(); ++i) {
    manifest.tensors[i].xxh3_64 = sums.xxh3[i];
  }
}

struct StreamedCheckpoint {
  const Skeleton& skeleton;
  Manifest& manifest;
  TensorSource& source;
  std::span<std::byte> staging;

  /// Reads all tensors to find out, but only where there is one of this step.
  bool is_in(const fs::path& folder) const {
    std::error_code unknown;
    if (!fs::exists(folder, unknown)) {
      return false;
    }
    const FileSums sums = Stream(skeleton, source, staging).run([](auto) {});
    put_hashes(sums, manifest);
    return holds_checkpoint(folder, manifest.step,
                            texts_of(manifest, skeleton.bytes, sums.sha256).sums);
  }

  void fill(const fs::path& folder) const {
    const fs::path state = folder / state_name;
    Descriptor out = create_file(state);
    const FileSums sums =
        Stream(skeleton, source, staging).run([&](auto piece) { write_all(out, state, piece); });
    close_durably(out, state);
    put_hashes(sums, manifest);
    require_as_written(state, skeleton, manifest, staging);
    add_texts(folder, manifest.step, texts_of(manifest, skeleton.bytes, sums.sha256));
  }
};

}  // namespace

fs::path commit_stream(const fs::path& directory, std::int64_t step, TensorSource& source,
                       const Facts& facts, std::span<std::byte> staging) {
  constexpr std::size_t min_staging = 64;  // an element, wherever the piece before has ended
  if (staging.size() < min_staging) {
    throw UsageError(fmt::format("staging memory of {} bytes for a checkpoint; at least {}",
                                 staging.size(), min_staging));
  }
  const Skeleton skeleton = build_skeleton(step, source.tensors());
  Manifest manifest = manifest_of(step, source.tensors(), facts, skeleton.bytes);
  const StreamedCheckpoint checkpoint{skeleton, manifest, source, staging};
  prepare_directory(directory);
  const fs::path final = directory / checkpoint_name(step);
  if (!checkpoint.is_in(final)) {
    const std::uint64_t texts = texts_of(manifest, skeleton.bytes, unknown_sha256()).bytes();
    publish(directory, step, skeleton.bytes + texts,
            [&](const fs::path& folder) { checkpoint.fill(folder); });
  }
  return final;
}

}  // namespace zygos::io
