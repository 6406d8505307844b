// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The HDF5 file of a checkpoint, built and read in memory: HDF5 neither fsyncs nor survives a crash
// in the middle of a write, so it never touches the disk. The same tensors give the same bytes.
#pragma once

#include "io/checkpoint/checkpoint_manifest.hpp"
#include "io/hdf5/hdf5_handles.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>

namespace zygos::io {

/// An HDF5 file's bytes.
class Image {
 public:
  std::span<const std::byte> bytes() const noexcept { return {memory_.get(), size_}; }

 private:
  friend Image build_image(std::int64_t step, std::span<const TensorRef> tensors, Image reused);
  struct Free {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// Groups from the names, one dataset per tensor, attributes `format`, `format_version`,
/// `library_version` and `step` on the root. Throws MemoryError, or UsageError for names that are
/// not allowed, appear twice or are a group and a tensor at once. `reused`: an image that is no
/// longer needed; the new one takes its memory, and allocates only what that lacks.
Image build_image(std::int64_t step, std::span<const TensorRef> tensors, Image reused = {});

/// Reads the structure of an image in a child process, as it may be made to harm whoever reads it.
/// Throws hdf5::Failure where ImageReader does, and if the process dies of it.
void require_harmless(std::span<const std::byte> image, std::int64_t step,
                      std::span<const TensorEntry> table);

/// Reads tensors out of an image that it borrows. Holds HDF5's lock while it lives.
class ImageReader {
 public:
  /// Throws hdf5::Failure if `image` is not an HDF5 file.
  explicit ImageReader(std::span<const std::byte> image);

  /// Throws hdf5::Failure unless the file holds the step, and these tensors and nothing else.
  void require_contents(std::int64_t step, std::span<const TensorEntry> table) const;
  /// `out` must have entry.bytes() bytes. Throws hdf5::Failure.
  void read(const TensorEntry& entry, std::span<std::byte> out) const;
  /// The tensor's bytes where they lie in the image; valid as long as that. Throws hdf5::Failure.
  std::span<const std::byte> bytes_of(const TensorEntry& entry) const;

 private:
  hdf5::Session session_;
  std::span<const std::byte> image_;
  hdf5::File file_;
};

}  // namespace zygos::io
