// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/checkpoint/checkpoint_reader.hpp"

#include "io/checkpoint/checkpoint_image.hpp"
#include "io/files/direct_file.hpp"
#include "io/files/file_sync.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <system_error>

namespace zygos::io {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t sums_limit = std::uint64_t{1} << 20;

[[noreturn]] void refuse(const fs::path& where, const std::string& cause) {
  throw CheckpointError(fmt::format("checkpoint damaged: {}: {}", where.string(), cause));
}

/// Runs `f`; whatever is wrong with the file becomes a CheckpointError that names it.
template <class F>
auto about(const fs::path& file, F&& f) {
  try {
    return f();
  } catch (const MemoryError&) {
    throw;
  } catch (const InternalError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw MemoryError(fmt::format("no memory left to read checkpoint file {}", file.string()));
  } catch (const Error& error) {
    refuse(file, error.what());
  } catch (const hdf5::Failure& error) {
    refuse(file, error.what());
  }
}

struct Bytes {
  std::unique_ptr<std::byte[]> memory;
  std::size_t size = 0;
  std::span<const std::byte> span() const { return {memory.get(), size}; }
};

/// All bytes of a file that must have `wanted` of them; allocates only if it does.
Bytes read_exactly(const fs::path& file, std::uint64_t wanted) {
  std::uint64_t found = 0;
  const Descriptor opened = open_regular(file, found);
  if (found != wanted) {
    throw CheckpointError(fmt::format("has {} bytes, the manifest says {}", found, wanted));
  }
  Bytes bytes{std::make_unique_for_overwrite<std::byte[]>(wanted), wanted};
  std::size_t done = 0;
  while (done < bytes.size) {
    const std::size_t before = done;
    read_pieces(opened, file, {bytes.memory.get() + done, bytes.size - done}, [&](auto piece) {
      done += piece.size();
      return false;
    });
    if (done == before) {
      throw CheckpointError(fmt::format("ends after {} of {} bytes", done, wanted));
    }
  }
  return bytes;
}

void require_sum(const FileEntry& entry, const std::string& found) {
  if (found != entry.sha256) {
    throw CheckpointError(fmt::format("SHA-256 is {}, the manifest says {}", found, entry.sha256));
  }
}

void verify_bytes(const fs::path& file, const FileEntry& entry, Depth depth) {
  std::uint64_t size = 0;
  const Descriptor opened = open_regular(file, size);
  if (size != entry.bytes) {
    throw CheckpointError(fmt::format("has {} bytes, the manifest says {}", size, entry.bytes));
  }
  if (depth == Depth::bytes) {
    constexpr std::size_t piece = std::size_t{1} << 20;
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>(piece);
    Sha256 sum;
    read_pieces(opened, file, {buffer.get(), piece}, [&](auto bytes) {
      sum.add(bytes);
      return true;
    });
    require_sum(entry, sum.hex());
  }
}

/// Nothing but what the manifest lists may lie in the folder: an extra file may be a part of
/// another checkpoint, and a reader could take it for a part of this one.
void require_listing(const fs::path& folder, const Manifest& manifest) {
  std::error_code problem;
  for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    const std::string name = entry->path().filename().string();
    const bool listed =
        name == manifest_name || name == sums_name ||
        std::ranges::find(manifest.files, name, &FileEntry::name) != manifest.files.end();
    if (!listed) {
      refuse(entry->path(), "is not listed in the manifest; move it elsewhere");
    }
  }
  if (problem) {
    refuse(folder, problem.message());
  }
}

Manifest read_manifest(const fs::path& folder, std::int64_t step) {
  const fs::path file = folder / manifest_name;
  const fs::path sums_file = folder / sums_name;
  const std::string text = read_text(file, manifest_limit);
  const std::string sums = read_text(sums_file, sums_limit);
  const std::string sum = sha256_hex(bytes_of(text));
  if (!sums.ends_with(fmt::format("{}  {}\n", sum, manifest_name))) {
    refuse(file, fmt::format("SHA-256 is {}, which is not what {} says", sum, sums_name));
  }
  Manifest manifest = about(file, [&] { return parse_manifest(text); });
  if (sums != sums_text(manifest, sum)) {
    refuse(sums_file, "does not agree with the manifest");
  }
  if (manifest.step != step) {
    refuse(file, fmt::format("is of step {}, the folder's name says step {}", manifest.step, step));
  }
  return manifest;
}

/// Where a tensor's bytes are to go.
using Room = std::function<std::span<std::byte>(const TensorEntry&)>;

std::vector<TensorEntry> tensors_in(const std::string& file, const Manifest& manifest) {
  std::vector<TensorEntry> table;
  std::ranges::copy_if(manifest.tensors, std::back_inserter(table),
                       [&](const TensorEntry& tensor) { return tensor.file == file; });
  return table;
}

void require_hash(const TensorEntry& tensor, std::span<const std::byte> bytes) {
  const std::string hash = xxh3_64_hex(bytes);
  if (hash != tensor.xxh3_64) {
    throw CheckpointError(fmt::format("tensor '{}': XXH3 is {}, the manifest says {}", tensor.name,
                                      hash, tensor.xxh3_64));
  }
}

void read_file(const fs::path& file, const FileEntry& entry, const Manifest& manifest,
               const Room& room) {
  const Bytes bytes = read_exactly(file, entry.bytes);
  require_sum(entry, sha256_hex(bytes.span()));
  const auto table = tensors_in(entry.name, manifest);
  require_harmless(bytes.span(), manifest.step, table);
  const ImageReader reader(bytes.span());
  reader.require_contents(manifest.step, table);
  for (const TensorEntry& tensor : table) {
    const std::span<std::byte> out = room(tensor);
    reader.read(tensor, out);
    require_hash(tensor, out);
  }
}

Manifest read_tensors(const fs::path& folder, std::int64_t step, const Room& room) {
  Manifest manifest = verify_folder(folder, step, Depth::sizes);
  for (const FileEntry& entry : manifest.files) {
    const fs::path file = folder / entry.name;
    about(file, [&] { read_file(file, entry, manifest, room); });
  }
  return manifest;
}

}  // namespace

std::string read_text(const fs::path& file, std::uint64_t limit) {
  return about(file, [&] {
    std::uint64_t size = 0;
    const Descriptor opened = open_regular(file, size);
    if (size > limit) {
      throw CheckpointError(fmt::format("has {} bytes, at most {} are allowed", size, limit));
    }
    std::string text;
    std::vector<std::byte> buffer(std::size_t{64} << 10);
    read_pieces(opened, file, buffer, [&](auto piece) {
      text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
      return text.size() <= limit;
    });
    return text;
  });
}

Manifest verify_folder(const fs::path& folder, std::int64_t step, Depth depth) {
  Manifest manifest = read_manifest(folder, step);
  require_listing(folder, manifest);
  for (const FileEntry& entry : manifest.files) {
    const fs::path file = folder / entry.name;
    about(file, [&] { verify_bytes(file, entry, depth); });
  }
  return manifest;
}

void verify_image(const fs::path& file, std::span<const std::byte> image,
                  const Manifest& manifest) {
  about(file, [&] {
    const auto table = tensors_in(file.filename().string(), manifest);
    std::vector<std::span<const std::byte>> contents;
    {
      const ImageReader reader(image);
      reader.require_contents(manifest.step, table);
      std::ranges::transform(table, std::back_inserter(contents),
                             [&](const TensorEntry& entry) { return reader.bytes_of(entry); });
    }
    for (std::size_t i = 0; i < table.size(); ++i) {
      require_hash(table[i], contents[i]);
    }
  });
}

void require_same_bytes(const fs::path& file, std::span<const std::byte> bytes) {
  about(file, [&] {
    std::size_t done = 0;
    read_from_disk(file, [&](auto read) {
      const bool same = read.size() <= bytes.size() - done &&
                        std::memcmp(read.data(), bytes.data() + done, read.size()) == 0;
      if (!same) {
        throw CheckpointError(fmt::format(
            "differs from what was written within {} bytes behind byte {}", read.size(), done));
      }
      done += read.size();
      return true;
    });
    if (done != bytes.size()) {
      throw CheckpointError(fmt::format("ends after {} of {} bytes", done, bytes.size()));
    }
  });
}

Checkpoint read_folder(const fs::path& folder, std::int64_t step) {
  Checkpoint checkpoint;
  const Manifest manifest = read_tensors(folder, step, [&](const TensorEntry& entry) {
    checkpoint.tensors.push_back({entry.name, entry.dtype, entry.shape, {}});
    checkpoint.tensors.back().bytes.resize(entry.bytes());
    return std::span(checkpoint.tensors.back().bytes);
  });
  checkpoint.path = folder;
  checkpoint.step = step;
  checkpoint.facts = manifest.facts;
  return checkpoint;
}

}  // namespace zygos::io
