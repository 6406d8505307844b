// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of contents of a checkpoint and the check sums over all of its files. Together they
// cover every byte: SHA256SUMS is compared as a whole with what the other files demand, it covers
// manifest.json, which covers the HDF5 files and each tensor in them.
#pragma once

#include "zygos/io/checkpoint_store.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::io {

inline constexpr std::string_view manifest_name = "manifest.json";
inline constexpr std::string_view sums_name = "SHA256SUMS";
inline constexpr std::string_view state_name = "state.h5";
inline constexpr std::string_view checkpoint_format = "zygos-checkpoint";
inline constexpr int checkpoint_format_version = 1;

/// A manifest of more bytes is refused unread: a hundred thousand tensors need a third of it.
inline constexpr std::uint64_t manifest_limit = std::uint64_t{64} << 20;

struct FileEntry {
  std::string name;
  std::uint64_t bytes = 0;
  std::string sha256;
};

struct TensorEntry {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  std::string file;
  std::string xxh3_64;

  /// Throws UsageError if they do not fit into memory's address range.
  std::size_t bytes() const;
};

struct Manifest {
  std::int64_t step = 0;
  std::string library_version;
  Facts facts;
  std::vector<FileEntry> files;
  std::vector<TensorEntry> tensors;
};

/// Bytes of a tensor; throws UsageError if they do not fit into memory's address range.
std::size_t byte_count(DType dtype, const Shape& shape);

/// Throws UsageError unless the name is a path of HDF5 groups: segments between single '/', none
/// empty, "." or "..", no control characters, at most 1024 bytes.
void require_tensor_name(const std::string& name);

/// Throws UsageError for a name or fact that is not UTF-8.
std::string manifest_text(const Manifest& manifest);

/// Throws CheckpointError (without a path; the caller knows it) for anything but a manifest.
Manifest parse_manifest(std::string_view text);

/// The text of SHA256SUMS, as `sha256sum -c` reads it: HDF5 files first, the manifest last.
std::string sums_text(const Manifest& manifest, std::string_view manifest_sha256);

}  // namespace zygos::io
