// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/spill/spill_layout.hpp"

#include "io/hdf5/hdf5_handles.hpp"

#include "zygos/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace zygos::io {

namespace {

using hdf5::check;

constexpr std::size_t page = 4096;
constexpr std::size_t max_chunk_bytes = std::size_t{1} << 20;

/// Chunks at multiples of a page. The newer formats have an index by position for datasets that are
/// allocated at once, so chunks follow each other.
hdf5::PropertyList access_properties() {
  hdf5::PropertyList access(H5Pcreate(H5P_FILE_ACCESS), "make a property list");
  check(H5Pset_alignment(access, page, page), "align chunks");
  check(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), "choose the format");
  return access;
}

std::uint64_t offset_of_chunk(hid_t dataset, hsize_t element, const std::string& what) {
  haddr_t address = HADDR_UNDEF;
  hsize_t size = 0;
  unsigned filters = 0;
  check(H5Dget_chunk_info_by_coord(dataset, &element, &filters, &address, &size), what);
  if (address == HADDR_UNDEF) {
    throw hdf5::Failure("cannot " + what + ": the chunk has no place in the file");
  }
  return address;
}

ChunkedRange add_dataset(hid_t file, const SpillDataset& one) {
  ChunkedRange range = chunks_for(one.bytes);
  const std::string what = fmt::format("make room for '{}'", one.name);
  const auto bytes = static_cast<hsize_t>(one.bytes);
  const auto chunk = static_cast<hsize_t>(range.chunk_bytes);
  const hdf5::Space space(H5Screate_simple(1, &bytes, nullptr), what);
  const hdf5::PropertyList creation(H5Pcreate(H5P_DATASET_CREATE), what);
  check(H5Pset_chunk(creation, 1, &chunk), what);
  check(H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY), what);
  check(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER), what);
  const hdf5::Dataset dataset(
      H5Dcreate2(file, one.name.c_str(), H5T_STD_U8LE, space, H5P_DEFAULT, creation, H5P_DEFAULT),
      what);
  range.offset = offset_of_chunk(dataset, 0, what);
  const std::uint64_t last = range.offset + (range.chunks - 1) * range.chunk_bytes;
  if (offset_of_chunk(dataset, (range.chunks - 1) * chunk, what) != last) {
    throw hdf5::Failure("cannot " + what + ": its chunks do not follow each other");
  }
  return range;
}

}  // namespace

ChunkedRange chunks_for(std::size_t bytes) {
  ChunkedRange range;
  const std::size_t pages = std::max<std::size_t>(1, (bytes + page - 1) / page);
  const std::size_t wanted = (pages * page + max_chunk_bytes - 1) / max_chunk_bytes;
  // HDF5 refuses chunks that are larger than a dataset of fixed size.
  range.chunk_bytes = std::min((pages + wanted - 1) / wanted * page, bytes);
  range.chunks = (bytes + range.chunk_bytes - 1) / range.chunk_bytes;
  return range;
}

std::vector<ChunkedRange> create_spill_layout(const std::filesystem::path& file,
                                              std::span<const SpillDataset> datasets) {
  const hdf5::Session session;
  try {
    const auto access = access_properties();
    hdf5::File made(H5Fcreate(file.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access), "create the file");
    std::vector<ChunkedRange> ranges;
    for (const SpillDataset& one : datasets) {
      ranges.push_back(add_dataset(made, one));
    }
    made.close("finish the file");
    return ranges;
  } catch (const hdf5::Failure& failure) {
    throw IoError(fmt::format("spill file {}: {}", file.string(), failure.what()));
  }
}

}  // namespace zygos::io
