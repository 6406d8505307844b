// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/checkpoint/checkpoint_image.hpp"

#include "io/checkpoint/checkpoint_structure.hpp"
#include "io/checkpoint/image_access.hpp"

#include "zygos/core/error.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>

namespace zygos::io {

// Check sums are over the bytes in memory, and files are little-endian.
static_assert(std::endian::native == std::endian::little);

namespace {

using hdf5::check;

void write_whole(hid_t dataset, const TensorRef& tensor) {
  check(H5Dwrite(dataset, hdf5::memory_type(tensor.dtype), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                 tensor.data),
        fmt::format("write tensor '{}'", tensor.name));
}

}  // namespace

Image build_image(std::int64_t step, std::span<const TensorRef> tensors, Image reused) {
  const auto groups = groups_of(tensors);
  std::size_t expected = std::size_t{64} << 10;
  for (const TensorRef& tensor : tensors) {
    expected += byte_count(tensor.dtype, tensor.shape) + 1024;
  }
  const hdf5::Session session;
  ImageMemory memory(reused.memory_.release(), reused.capacity_);
  try {
    // At once what it may grow to: memory that is not used costs nothing, moving it does.
    if (memory.grow(expected + expected / 4) == nullptr) {
      throw hdf5::Failure("there is no memory");
    }
    const auto access = growing_image_access(memory, expected);
    const auto creation = timeless(H5P_FILE_CREATE);
    hdf5::File file(H5Fcreate("checkpoint", H5F_ACC_TRUNC, creation, access), "create the file");
    write_structure(file, step, tensors, groups, [&](hid_t dataset, std::size_t tensor) {
      write_whole(dataset, tensors[tensor]);
    });
    const auto size = H5Fget_file_image(file, nullptr, 0);
    check(size < 0 ? -1 : 0, "measure the file");
    file.close("close the file");
    Image image;
    image.size_ = static_cast<std::size_t>(size);
    image.capacity_ = memory.capacity();
    image.memory_.reset(memory.release());
    ZYGOS_REQUIRE(image.size_ <= image.capacity_, "an HDF5 image is longer than its memory");
    return image;
  } catch (const hdf5::Failure& failure) {
    if (memory.exhausted()) {
      throw MemoryError(fmt::format("no memory for the image of a checkpoint: {} bytes", expected));
    }
    throw IoError(fmt::format("the HDF5 image of step {}: {}", step, failure.what()));
  }
}

}  // namespace zygos::io
