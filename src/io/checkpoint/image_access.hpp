// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// HDF5's core driver copies an image up to three times on its way in or out. These access lists let
// it work on our memory instead, through the driver's documented callbacks.
#pragma once

#include "io/hdf5/hdf5_handles.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

namespace zygos::io {

/// Memory that an HDF5 file grows in and that outlives the file.
class ImageMemory {
 public:
  ImageMemory() = default;
  /// Takes over memory of `capacity` bytes, from another's release().
  ImageMemory(std::byte* memory, std::size_t capacity) noexcept
      : memory_(memory), capacity_(capacity) {}
  ~ImageMemory() { std::free(memory_); }
  ImageMemory(const ImageMemory&) = delete;
  ImageMemory& operator=(const ImageMemory&) = delete;

  /// nullptr, and exhausted() from then on, when there is no more memory.
  void* grow(std::size_t size) noexcept {
    if (size > capacity_ || memory_ == nullptr) {
      // Whole pages: the system copies to a file from elsewhere at a third of the speed.
      constexpr std::size_t page = 4096;
      const std::size_t rounded = (size / page + 1) * page;
      void* grown = std::aligned_alloc(page, rounded);
      if (grown == nullptr) {
        exhausted_ = true;
        return nullptr;
      }
      if (capacity_ > 0) {
        std::memcpy(grown, memory_, capacity_);
      }
      std::free(memory_);
      memory_ = grown;
      capacity_ = rounded;
    }
    return memory_;
  }
  /// Bytes that may be used before it must be allocated anew.
  std::size_t capacity() const noexcept { return capacity_; }
  bool exhausted() const noexcept { return exhausted_; }
  /// The caller frees it, with std::free.
  std::byte* release() noexcept { return static_cast<std::byte*>(std::exchange(memory_, nullptr)); }

 private:
  void* memory_ = nullptr;
  std::size_t capacity_ = 0;
  bool exhausted_ = false;
};

/// For H5Fcreate: the file grows in `memory`, in steps fit for about `expected` bytes.
hdf5::PropertyList growing_image_access(ImageMemory& memory, std::size_t expected);

/// For H5Fopen, read only: the file is `*image`, which must outlive it.
hdf5::PropertyList borrowed_image_access(const std::span<const std::byte>* image);

}  // namespace zygos::io
