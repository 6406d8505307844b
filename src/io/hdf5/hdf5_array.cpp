// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5/hdf5_array.hpp"

#include "io/byte_source.hpp"
#include "io/hdf5/child_process.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace zygos::io {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_listed = 12;

/// What a child process says it has caught begins so.
constexpr std::string_view refused = "refused: ";
constexpr std::string_view failed = "failed: ";

std::vector<std::string> split(const std::string& path) {
  std::vector<std::string> names;
  std::istringstream stream(path);
  for (std::string name; std::getline(stream, name, '/');) {
    if (!name.empty() && name != ".") {
      names.push_back(name);
    }
  }
  return names;
}

herr_t keep_name(hid_t, const char* name, const H5L_info_t*, void* out) noexcept {
  try {
    auto& names = *static_cast<std::vector<std::string>*>(out);
    names.emplace_back(name);
    return names.size() > max_listed ? 1 : 0;
  } catch (...) {
    return -1;
  }
}

/// What a group holds, for a message about a name that it does not hold.
std::string names_in(hid_t group) {
  std::vector<std::string> names;
  H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, keep_name, &names);
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), max_listed); ++i) {
    text += (i == 0 ? "'" : ", '") + names[i] + "'";
  }
  if (names.size() > max_listed) {
    text += ", ...";
  }
  return text.empty() ? "nothing" : text;
}

std::string name_of_link(H5L_type_t type) {
  switch (type) {
    case H5L_TYPE_SOFT:
      return "a soft link";
    case H5L_TYPE_EXTERNAL:
      return "an external link";
    default:
      return "a user-defined link";
  }
}

std::string name_of_type(hid_t type) {
  const std::string bytes = std::to_string(H5Tget_size(type)) + " bytes";
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return "unusual integers of " + bytes;
    case H5T_FLOAT:
      return "unusual floating point numbers of " + bytes;
    case H5T_STRING:
      return "strings";
    case H5T_BITFIELD:
      return "bit fields";
    case H5T_OPAQUE:
      return "opaque bytes";
    case H5T_COMPOUND:
      return "compounds";
    case H5T_REFERENCE:
      return "references";
    case H5T_ENUM:
      return "enumerations (numpy's bool is one)";
    case H5T_VLEN:
      return "variable-length lists";
    case H5T_ARRAY:
      return "arrays";
    default:
      return "an unknown kind";
  }
}

/// Only the standard layouts of numbers: the conversions of all others are HDF5's least used code.
std::optional<DType> dtype_in_memory(hid_t type) {
  const std::array<std::pair<hid_t, DType>, 20> known{{
      {H5T_STD_U8LE, DType::u8},    {H5T_STD_U8BE, DType::u8},    {H5T_STD_I8LE, DType::i32},
      {H5T_STD_I8BE, DType::i32},   {H5T_STD_I16LE, DType::i32},  {H5T_STD_I16BE, DType::i32},
      {H5T_STD_U16LE, DType::i32},  {H5T_STD_U16BE, DType::i32},  {H5T_STD_I32LE, DType::i32},
      {H5T_STD_I32BE, DType::i32},  {H5T_STD_U32LE, DType::u32},  {H5T_STD_U32BE, DType::u32},
      {H5T_STD_I64LE, DType::i64},  {H5T_STD_I64BE, DType::i64},  {H5T_STD_U64LE, DType::u64},
      {H5T_STD_U64BE, DType::u64},  {H5T_IEEE_F32LE, DType::f32}, {H5T_IEEE_F32BE, DType::f32},
      {H5T_IEEE_F64LE, DType::f64}, {H5T_IEEE_F64BE, DType::f64},
  }};
  for (const auto& [candidate, dtype] : known) {
    if (H5Tequal(type, candidate) > 0) {
      return dtype;
    }
  }
  return std::nullopt;
}

}  // namespace

Hdf5Array::Hdf5Array(const Hdf5Location& location)
    : location_(location),
      where_(location.file.string() + ": data set '" + location.dataset + "'") {
  require_readable_file(location_.file);
  require_harmless();
  open();
}

void Hdf5Array::require_harmless() {
  const auto bytes = static_cast<std::size_t>(fs::file_size(location_.file));
  const ChildOutcome outcome = run_in_child([this] { return refusal(); }, limits_for_file(bytes));
  if (!outcome.fault.empty()) {
    throw DataError(location_.file.string() + ": found a damaged HDF5 file, on which HDF5 itself " +
                    outcome.fault + "; fetch it again");
  }
  if (outcome.said.starts_with(refused)) {
    throw DataError(outcome.said.substr(refused.size()));
  }
  if (outcome.said.starts_with(failed)) {
    throw hdf5::Failure(outcome.said.substr(failed.size()));
  }
}

std::string Hdf5Array::refusal() {
  std::string why;
  try {
    open();
  } catch (const DataError& error) {
    why = std::string(refused) + error.what();
  } catch (const hdf5::Failure& error) {
    why = std::string(failed) + error.what();
  }
  // Closing is a part of it.
  object_ = hdf5::Object();
  file_ = hdf5::File();
  return why;
}

void Hdf5Array::open() {
  open_file();
  open_object();
  check_type();
  check_shape();
  check_storage();
}

void Hdf5Array::fail(const std::string& message) const {
  throw DataError(where_ + ": found " + message);
}

void Hdf5Array::open_file() {
  const std::string name = location_.file.string();
  file_bytes_ = std::filesystem::file_size(location_.file);
  if (H5Fis_hdf5(name.c_str()) <= 0) {
    throw DataError(name + ": found " + (file_bytes_ == 0 ? "an empty file" : "no HDF5 signature") +
                    "; give an HDF5 file");
  }
  file_ = hdf5::File(H5Fopen(name.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  if (file_ < 0) {
    throw DataError(name +
                    ": found a damaged HDF5 file; fetch it again; HDF5: " + hdf5::take_error());
  }
}

void Hdf5Array::require_hard_link(hid_t parent, const std::string& name) const {
  H5L_info_t link{};
  if (H5Lget_info(parent, name.c_str(), &link, H5P_DEFAULT) < 0) {
    fail("no '" + name + "'; there is " + names_in(parent) + "; correct the data set's name");
  }
  if (link.type != H5L_TYPE_HARD) {
    fail(name_of_link(link.type) + " at '" + name +
         "'; only data in the file itself are read; name the data set by its own path");
  }
}

/// Walks link by link, because H5Oopen on a whole path would follow links out of the file.
void Hdf5Array::open_object() {
  object_ = hdf5::Object(H5Oopen(file_, "/", H5P_DEFAULT));
  for (const std::string& name : split(location_.dataset)) {
    if (object_ >= 0 && H5Iget_type(object_) != H5I_GROUP) {
      fail("a data set where '" + name + "' should be in a group; correct the data set's name");
    }
    require_hard_link(object_, name);
    object_ = hdf5::Object(H5Oopen(object_, name.c_str(), H5P_DEFAULT));
    if (object_ < 0) {
      fail("damage at '" + name + "'; fetch the file again; HDF5: " + hdf5::take_error());
    }
  }
  switch (H5Iget_type(object_)) {
    case H5I_DATASET:
      return;
    case H5I_GROUP:
      fail("a group with " + names_in(object_) + "; name a data set");
    default:
      fail("a stored type; name a data set");
  }
}

void Hdf5Array::check_type() {
  const hdf5::Type type(H5Dget_type(object_), "read the element type of " + where_);
  if (H5Tcommitted(type) > 0) {
    fail(
        "a user-defined (named) element type; allowed are plain integers and floating point "
        "numbers; convert the data set");
  }
  const auto dtype = dtype_in_memory(type);
  if (!dtype) {
    fail(name_of_type(type) +
         "; allowed are integers of 1, 2, 4 or 8 bytes and IEEE floating point numbers of 4 or 8 "
         "bytes; convert the data set");
  }
  dtype_ = *dtype;
  element_bytes_ = H5Tget_size(type);
}

void Hdf5Array::check_shape() {
  const hdf5::Space space(H5Dget_space(object_), "read the shape of " + where_);
  if (H5Sget_simple_extent_type(space) != H5S_SIMPLE) {
    fail("no array but a single or no value; allowed are arrays of rank 1 to 6; name another one");
  }
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 1 || static_cast<std::size_t>(rank) > Shape::max_rank) {
    fail("rank " + std::to_string(rank) + "; allowed are 1 to " + std::to_string(Shape::max_rank) +
         "; store the array with fewer dimensions");
  }
  try {
    shape_ = hdf5::shape_of_space(space).value_or(Shape{});
  } catch (const UsageError&) {
    fail("more than 2^58 elements; the file is damaged; fetch it again");
  }
  if (shape_.size() == 0) {
    fail("the shape " + shape_.text() +
         "; a data set needs at least one sample with one element; complete the file");
  }
}

std::uint64_t Hdf5Array::check_filters(hid_t properties) const {
  std::uint64_t ratio = 1;
  const int filters = H5Pget_nfilters(properties);
  for (int i = 0; i < filters; ++i) {
    unsigned int flags = 0;
    std::size_t values = 0;
    unsigned int config = 0;
    const H5Z_filter_t filter = H5Pget_filter2(properties, static_cast<unsigned int>(i), &flags,
                                               &values, nullptr, 0, nullptr, &config);
    if (filter == H5Z_FILTER_DEFLATE) {
      ratio = deflate_ratio;
    } else if (filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32) {
      fail("filter " + std::to_string(filter) +
           "; allowed are deflate (1), shuffle (2) and fletcher32 (3); repack the file with one "
           "of these");
    }
  }
  return ratio;
}

void Hdf5Array::check_chunks(hid_t properties, std::uint64_t bytes) const {
  std::array<hsize_t, Shape::max_rank> dimensions{};
  hdf5::check(H5Pget_chunk(properties, static_cast<int>(dimensions.size()), dimensions.data()),
              "read the chunks of " + where_);
  std::uint64_t expected = 1;
  std::uint64_t chunk_bytes = element_bytes_;  // HDF5 itself keeps a chunk below 4 GiB
  for (std::size_t axis = 0; axis < shape_.rank(); ++axis) {
    const auto extent = static_cast<std::uint64_t>(shape_[axis]);
    expected *= (extent + dimensions[axis] - 1) / dimensions[axis];
    chunk_bytes *= dimensions[axis];
  }
  if (chunk_bytes > std::max(trusted_bytes, bytes)) {
    fail("chunks of " + std::to_string(chunk_bytes) + " bytes for an array of " +
         std::to_string(bytes) + "; allowed are up to " + std::to_string(trusted_bytes) +
         " or the array's size; repack the file");
  }
  const hdf5::Space space(H5Dget_space(object_), "read the shape of " + where_);
  hsize_t written = 0;
  hdf5::check(H5Dget_num_chunks(object_, space, &written), "count the chunks of " + where_);
  if (written != expected) {
    fail(std::to_string(written) + " of " + std::to_string(expected) + " chunks of " +
         shape_.text() + "; all must have been written; complete the file");
  }
}

void Hdf5Array::check_storage() const {
  const hdf5::PropertyList properties(H5Dget_create_plist(object_), "read how " + where_ + " lies");
  const H5D_layout_t layout = H5Pget_layout(properties);
  if (layout != H5D_COMPACT && layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED) {
    fail("a virtual data set; only data in the file itself are read; copy them into one file");
  }
  if (H5Pget_external_count(properties) > 0) {
    fail("external storage; only data in the file itself are read; copy them into the file");
  }
  const std::uint64_t ratio = check_filters(properties);
  const std::uint64_t bytes = static_cast<std::uint64_t>(shape_.size()) * element_bytes_;
  const std::uint64_t stored = std::min<std::uint64_t>(H5Dget_storage_size(object_), file_bytes_);
  if (bytes / ratio > stored) {
    fail("the shape " + shape_.text() + ", which needs " + std::to_string(bytes) +
         " bytes, but the file stores " + std::to_string(stored) +
         (ratio > 1 ? " packed ones" : "") + "; all must have been written; complete the file");
  }
  if (layout == H5D_CHUNKED) {
    check_chunks(properties, bytes);
  }
}

Array Hdf5Array::read() const {
  auto memory = allocate_bytes(static_cast<std::size_t>(shape_.size()) * size_of(dtype_), where_);
  if (H5Dread(object_, hdf5::memory_type(dtype_), H5S_ALL, H5S_ALL, H5P_DEFAULT, memory.get()) <
      0) {
    fail("elements that cannot be read; fetch the file again; HDF5: " + hdf5::take_error());
  }
  return {dtype_, shape_, std::move(memory)};
}

void Hdf5Array::read_rows(std::int64_t first, std::int64_t count, std::byte* out) const {
  std::array<hsize_t, Shape::max_rank> begin{static_cast<hsize_t>(first)};
  std::array<hsize_t, Shape::max_rank> dimensions{static_cast<hsize_t>(count)};
  for (std::size_t axis = 1; axis < shape_.rank(); ++axis) {
    dimensions[axis] = static_cast<hsize_t>(shape_[axis]);
  }
  const hdf5::Space here(
      H5Screate_simple(static_cast<int>(shape_.rank()), dimensions.data(), nullptr),
      "make a space");
  const hdf5::Space there(H5Dget_space(object_), "read the shape of " + where_);
  hdf5::check(
      H5Sselect_hyperslab(there, H5S_SELECT_SET, begin.data(), nullptr, dimensions.data(), nullptr),
      "select samples");
  if (H5Dread(object_, hdf5::memory_type(dtype_), here, there, H5P_DEFAULT, out) < 0) {
    const std::string reason = hdf5::take_error();
    std::error_code gone;
    if (std::filesystem::file_size(location_.file, gone) != file_bytes_) {
      throw IoError(where_ + ": the file has changed while it was read; HDF5: " + reason);
    }
    fail("elements that cannot be read; fetch the file again; HDF5: " + reason + " (samples " +
         std::to_string(first) + " to " + std::to_string(first + count - 1) + ")");
  }
}

std::optional<std::uint64_t> Hdf5Array::raw_offset() const {
  const hdf5::PropertyList properties(H5Dget_create_plist(object_), "read how " + where_ + " lies");
  const hdf5::Type type(H5Dget_type(object_), "read the element type of " + where_);
  const haddr_t offset = H5Dget_offset(object_);
  if (H5Pget_layout(properties) != H5D_CONTIGUOUS || offset == HADDR_UNDEF ||
      H5Tequal(type, hdf5::memory_type(dtype_)) <= 0) {
    return std::nullopt;
  }
  return offset;
}

std::size_t Hdf5Array::bytes_of_chunks_of_a_row() const {
  const hdf5::PropertyList properties(H5Dget_create_plist(object_), "read how " + where_ + " lies");
  if (H5Pget_layout(properties) != H5D_CHUNKED) {
    return 0;
  }
  std::array<hsize_t, Shape::max_rank> dimensions{};
  hdf5::check(H5Pget_chunk(properties, static_cast<int>(dimensions.size()), dimensions.data()),
              "read the chunks of " + where_);
  std::size_t bytes = element_bytes_ * dimensions[0];
  for (std::size_t axis = 1; axis < shape_.rank(); ++axis) {
    const auto extent = static_cast<std::uint64_t>(shape_[axis]);
    bytes *= (extent + dimensions[axis] - 1) / dimensions[axis] * dimensions[axis];
  }
  return bytes;
}

void Hdf5Array::keep_chunks(std::size_t bytes) {
  constexpr std::size_t slots = 12421;  // a prime; more than chunks that a row spans
  const hdf5::PropertyList access(H5Pcreate(H5P_DATASET_ACCESS), "make a property list");
  hdf5::check(H5Pset_chunk_cache(access, slots, bytes, 1.0), "set a property");
  object_ = hdf5::Object();  // while it is open, it keeps the cache it has
  object_ = hdf5::Object(H5Dopen2(file_, location_.dataset.c_str(), access), "open " + where_);
}

}  // namespace zygos::io
