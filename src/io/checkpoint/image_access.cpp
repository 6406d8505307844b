// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/checkpoint/image_access.hpp"

#include <algorithm>

namespace zygos::io {

namespace {

using Operation = H5FD_file_image_op_t;

// HDF5 "copies" the user data with each property list; ours is borrowed and stays where it is.
void* same_data(void* data) noexcept { return data; }
herr_t keep_data(void*) noexcept { return 0; }
// Closing a file frees its memory, which is not HDF5's here.
herr_t keep_memory(void*, Operation, void*) noexcept { return 0; }

void* new_memory(std::size_t size, Operation, void* data) noexcept {
  return static_cast<ImageMemory*>(data)->grow(size);
}

void* grow_memory(void*, std::size_t size, Operation, void* data) noexcept {
  return static_cast<ImageMemory*>(data)->grow(size);
}

void* borrowed_memory(std::size_t size, Operation, void* data) noexcept {
  const auto& image = *static_cast<const std::span<const std::byte>*>(data);
  // The driver's interface is for writers too; a file opened read only is not written.
  return size == image.size() ? const_cast<std::byte*>(image.data()) : nullptr;
}

void* no_copy(void* to, const void* from, std::size_t, Operation, void*) noexcept {
  return to == from ? to : nullptr;
}

void* refuse_growth(void*, std::size_t, Operation, void*) noexcept { return nullptr; }

hdf5::PropertyList core_access(std::size_t increment, H5FD_file_image_callbacks_t callbacks) {
  hdf5::PropertyList access(H5Pcreate(H5P_FILE_ACCESS), "make a property list");
  hdf5::check(H5Pset_fapl_core(access, increment, false), "choose files in memory");
  // Readable since HDF5 1.8, which is older than any h5py in use; its metadata has check sums.
  hdf5::check(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18), "choose a file format");
  hdf5::check(H5Pset_file_image_callbacks(access, &callbacks), "choose the memory of a file");
  return access;
}

}  // namespace

hdf5::PropertyList growing_image_access(ImageMemory& memory, std::size_t expected) {
  // Few reallocations for big files, little waste for small ones.
  const std::size_t increment = std::max<std::size_t>(expected / 8, std::size_t{64} << 10);
  return core_access(
      increment, {new_memory, nullptr, grow_memory, keep_memory, same_data, keep_data, &memory});
}

hdf5::PropertyList borrowed_image_access(const std::span<const std::byte>* image) {
  auto* data = const_cast<std::span<const std::byte>*>(image);
  auto access = core_access(std::size_t{64} << 10, {borrowed_memory, no_copy, refuse_growth,
                                                    keep_memory, same_data, keep_data, data});
  hdf5::check(H5Pset_file_image(access, const_cast<std::byte*>(image->data()), image->size()),
              "take an image of a file");
  return access;
}

}  // namespace zygos::io
