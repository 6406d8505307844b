// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/checkpoint/checkpoint_skeleton.hpp"

#include "io/checkpoint/checkpoint_manifest.hpp"
#include "io/checkpoint/checkpoint_structure.hpp"

#include "zygos/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace zygos::io {

namespace {

using hdf5::check;

/// Writes the first element, upon which HDF5 allocates the space of all; returns where that is.
std::uint64_t allocate(hid_t dataset, const TensorRef& tensor) {
  const std::string what = fmt::format("write tensor '{}'", tensor.name);
  const hdf5::Space all(H5Dget_space(dataset), what);
  const hdf5::Space one(H5Screate(H5S_SCALAR), what);
  if (tensor.shape.rank() > 0) {
    constexpr std::array<hsize_t, Shape::max_rank> origin{};
    check(H5Sselect_elements(all, H5S_SELECT_SET, 1, origin.data()), what);
  }
  constexpr std::uint64_t zero = 0;  // as long as any element
  check(H5Dwrite(dataset, hdf5::memory_type(tensor.dtype), one, all, H5P_DEFAULT, &zero), what);
  const haddr_t address = H5Dget_offset(dataset);
  if (address == HADDR_UNDEF) {
    throw hdf5::Failure(fmt::format("cannot {}: it has no place in the file", what));
  }
  return address;
}

/// What lies between tensors, too.
std::vector<FilePart> parts_of(std::vector<FilePart> tensors, std::uint64_t size) {
  std::ranges::sort(tensors, {}, &FilePart::begin);
  std::vector<FilePart> parts;
  std::uint64_t end = 0;
  const auto add_between = [&](std::uint64_t next) {
    ZYGOS_REQUIRE(next >= end, "tensors of a checkpoint overlap");
    if (next > end) {
      parts.push_back({end, next - end});
    }
  };
  for (const FilePart& tensor : tensors) {
    add_between(tensor.begin);
    parts.push_back(tensor);
    end = tensor.begin + tensor.bytes;
  }
  add_between(size);
  return parts;
}

}  // namespace

Skeleton build_skeleton(std::int64_t step, std::span<const TensorRef> tensors) {
  const auto groups = groups_of(tensors);
  std::vector<FilePart> places;
  std::uint64_t bytes = 0;
  Skeleton skeleton;
  const hdf5::Session session;
  try {
    const SparseDriver driver;
    const auto access = driver.access(skeleton.file);
    const auto creation = timeless(H5P_FILE_CREATE);
    hdf5::File file(H5Fcreate("checkpoint", H5F_ACC_TRUNC, creation, access), "create the file");
    write_structure(file, step, tensors, groups, [&](hid_t dataset, std::size_t number) {
      const TensorRef& tensor = tensors[number];
      places.push_back({allocate(dataset, tensor), byte_count(tensor.dtype, tensor.shape), number});
    });
    bytes = skeleton.file.size;  // closing gives back space at the end, which images keep
    file.close("close the file");
  } catch (const hdf5::Failure& failure) {
    throw IoError(fmt::format("the HDF5 file of step {}: {}", step, failure.what()));
  }
  skeleton.parts = parts_of(std::move(places), bytes);
  skeleton.bytes = bytes;
  return skeleton;
}

}  // namespace zygos::io
