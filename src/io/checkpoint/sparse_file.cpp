// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/checkpoint/sparse_file.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <new>

namespace zygos::io {

namespace {

/// What H5Pset_driver passes on; HDF5 copies it.
struct Target {
  SparseFile* file = nullptr;
};

/// HDF5's part comes first: the library knows no other.
struct OpenFile {
  H5FD_t base{};
  SparseFile* file = nullptr;
};

constexpr haddr_t largest_address = std::numeric_limits<std::int64_t>::max();

SparseFile& file_of(const H5FD_t* opened) noexcept {
  return *reinterpret_cast<const OpenFile*>(opened)->file;
}

H5FD_t* open_file(const char*, unsigned, hid_t access, haddr_t) noexcept {
  const auto* target = static_cast<const Target*>(H5Pget_driver_info(access));
  if (target == nullptr) {
    return nullptr;
  }
  auto* opened = new (std::nothrow) OpenFile;
  if (opened == nullptr) {
    return nullptr;
  }
  opened->file = target->file;
  return &opened->base;
}

herr_t close_file(H5FD_t* opened) noexcept {
  delete reinterpret_cast<OpenFile*>(opened);
  return 0;
}

int compare_files(const H5FD_t* one, const H5FD_t* other) noexcept {
  const auto* a = &file_of(one);
  const auto* b = &file_of(other);
  return a < b ? -1 : (b < a ? 1 : 0);
}

/// As the driver for images has them, as they decide where HDF5 puts what.
herr_t query_features(const H5FD_t*, unsigned long* flags) noexcept {
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA;
  return 0;
}

haddr_t get_size(const H5FD_t* opened, H5FD_mem_t) noexcept { return file_of(opened).size; }

herr_t set_size(H5FD_t* opened, H5FD_mem_t, haddr_t size) noexcept {
  file_of(opened).size = size;
  return 0;
}

haddr_t get_end(const H5FD_t* opened, H5FD_mem_t) noexcept { return file_of(opened).end; }

herr_t read_bytes(H5FD_t* opened, H5FD_mem_t, hid_t, haddr_t address, std::size_t size,
                  void* out) noexcept {
  file_of(opened).read(address, {static_cast<std::byte*>(out), size});
  return 0;
}

herr_t write_bytes(H5FD_t* opened, H5FD_mem_t kind, hid_t, haddr_t address, std::size_t size,
                   const void* bytes) noexcept {
  SparseFile& file = file_of(opened);
  if (address > file.size || size > file.size - address) {
    return -1;
  }
  try {
    if (kind != H5FD_MEM_DRAW) {
      file.write(address, {static_cast<const std::byte*>(bytes), size});
    }
    file.end = std::max<std::uint64_t>(file.end, address + size);
    return 0;
  } catch (const std::exception&) {
    return -1;
  }
}

herr_t truncate_file(H5FD_t* opened, hid_t, hbool_t) noexcept {
  file_of(opened).end = file_of(opened).size;
  return 0;
}

H5FD_class_t driver_class() {
  H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 2)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(511);  // of those that are for tests and users
#endif
  driver.name = "zygos_sparse";
  driver.maxaddr = largest_address;
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.fapl_size = sizeof(Target);
  driver.open = open_file;
  driver.close = close_file;
  driver.cmp = compare_files;
  driver.query = query_features;
  driver.get_eoa = get_size;
  driver.set_eoa = set_size;
  driver.get_eof = get_end;
  driver.read = read_bytes;
  driver.write = write_bytes;
  driver.truncate = truncate_file;
  constexpr std::array<H5FD_mem_t, H5FD_MEM_NTYPES> as_images = H5FD_FLMAP_DICHOTOMY;
  std::ranges::copy(as_images, driver.fl_map);
  return driver;
}

}  // namespace

void SparseFile::write(std::uint64_t address, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::uint64_t begin = address % page_bytes;
    const std::size_t count = std::min<std::size_t>(bytes.size(), page_bytes - begin);
    Page& page = pages_[address / page_bytes];
    std::ranges::copy(bytes.first(count), page.begin() + static_cast<std::ptrdiff_t>(begin));
    address += count;
    bytes = bytes.subspan(count);
  }
}

void SparseFile::read(std::uint64_t address, std::span<std::byte> out) const noexcept {
  while (!out.empty()) {
    const std::uint64_t begin = address % page_bytes;
    const std::size_t count = std::min<std::size_t>(out.size(), page_bytes - begin);
    const auto page = pages_.find(address / page_bytes);
    if (page == pages_.end()) {
      std::ranges::fill(out.first(count), std::byte{0});
    } else {
      std::copy_n(page->second.begin() + static_cast<std::ptrdiff_t>(begin), count, out.begin());
    }
    address += count;
    out = out.subspan(count);
  }
}

SparseDriver::SparseDriver() {
  const H5FD_class_t driver = driver_class();  // HDF5 copies it
  id_ = hdf5::checked(H5FDregister(&driver), "register a file driver");
}

SparseDriver::~SparseDriver() { H5FDunregister(id_); }

hdf5::PropertyList SparseDriver::access(SparseFile& file) const {
  hdf5::PropertyList list(H5Pcreate(H5P_FILE_ACCESS), "make a property list");
  const Target target{&file};
  hdf5::check(H5Pset_driver(list, id_, &target), "choose a file driver");
  // As images have it.
  hdf5::check(H5Pset_libver_bounds(list, H5F_LIBVER_V18, H5F_LIBVER_V18), "choose a file format");
  return list;
}

}  // namespace zygos::io
