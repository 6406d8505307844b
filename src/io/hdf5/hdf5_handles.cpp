// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5/hdf5_handles.hpp"

#include "zygos/core/error.hpp"

#include <array>
#include <cstdint>

namespace zygos::io::hdf5 {

namespace {

/// HDF5's state belongs to the process, so its lock does too.
std::mutex& process_lock() {
  static std::mutex mutex;
  return mutex;
}

herr_t keep_first(unsigned int depth, const H5E_error2_t* entry, void* out) noexcept {
  if (depth == 0 && entry->desc != nullptr) {
    try {
      *static_cast<std::string*>(out) = entry->desc;
    } catch (...) {
      return -1;
    }
  }
  return 0;
}

}  // namespace

Session::Session() : lock_(process_lock()) {
  H5open();
  H5Eget_auto2(H5E_DEFAULT, &printer_, &printer_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  H5PLget_loading_state(&plugins_);
  H5PLset_loading_state(0);
}

Session::~Session() {
  H5PLset_loading_state(plugins_);
  H5Eclear2(H5E_DEFAULT);
  H5Eset_auto2(H5E_DEFAULT, printer_, printer_data_);
}

std::string take_error() {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
  H5Eclear2(H5E_DEFAULT);
  return reason.empty() ? "HDF5 gives no reason" : reason;
}

hid_t checked(hid_t id, const std::string& what) {
  if (id < 0) {
    throw Failure("cannot " + what + ": " + take_error());
  }
  return id;
}

void check(herr_t status, const std::string& what) {
  if (status < 0) {
    throw Failure("cannot " + what + ": " + take_error());
  }
}

hid_t memory_type(DType dtype) {
  switch (dtype) {
    case DType::u8:
      return H5T_NATIVE_UINT8;
    case DType::i32:
      return H5T_NATIVE_INT32;
    case DType::i64:
      return H5T_NATIVE_INT64;
    case DType::u32:
      return H5T_NATIVE_UINT32;
    case DType::u64:
      return H5T_NATIVE_UINT64;
    case DType::f32:
      return H5T_NATIVE_FLOAT;
    case DType::f64:
      return H5T_NATIVE_DOUBLE;
    case DType::bf16:
      break;
  }
  throw InternalError("element type without one in HDF5");
}

hid_t file_type(DType dtype) {
  switch (dtype) {
    case DType::u8:
      return H5T_STD_U8LE;
    case DType::i32:
      return H5T_STD_I32LE;
    case DType::i64:
      return H5T_STD_I64LE;
    case DType::u32:
      return H5T_STD_U32LE;
    case DType::u64:
      return H5T_STD_U64LE;
    case DType::f32:
      return H5T_IEEE_F32LE;
    case DType::f64:
      return H5T_IEEE_F64LE;
    case DType::bf16:
      break;
  }
  throw InternalError("element type without one in HDF5");
}

std::optional<DType> dtype_of_type(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  if (kind != H5T_INTEGER && kind != H5T_FLOAT) {
    return std::nullopt;
  }
  // What HDF5 would read it as: the same class, size and sign in this machine's byte order.
  const Type native(H5Tget_native_type(type, H5T_DIR_ASCEND), "understand an element type");
  for (const DType dtype :
       {DType::u8, DType::i32, DType::i64, DType::u32, DType::u64, DType::f32, DType::f64}) {
    if (H5Tget_size(type) == size_of(dtype) && H5Tequal(native, memory_type(dtype)) > 0) {
      return dtype;
    }
  }
  return std::nullopt;
}

Space make_space(const Shape& shape) {
  if (shape.rank() == 0) {
    return Space(H5Screate(H5S_SCALAR), "make a scalar data space");
  }
  std::array<hsize_t, Shape::max_rank> dimensions{};
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    dimensions[axis] = static_cast<hsize_t>(shape[axis]);
  }
  return Space(H5Screate_simple(static_cast<int>(shape.rank()), dimensions.data(), nullptr),
               "make a data space of shape " + shape.text());
}

std::optional<Shape> shape_of_space(hid_t space) {
  if (H5Sget_simple_extent_type(space) == H5S_NULL) {
    return std::nullopt;
  }
  const int rank = H5Sget_simple_extent_ndims(space);
  check(rank, "read the rank of a data space");
  if (static_cast<std::size_t>(rank) > Shape::max_rank) {
    return std::nullopt;
  }
  std::array<hsize_t, Shape::max_rank> dimensions{};
  check(H5Sget_simple_extent_dims(space, dimensions.data(), nullptr),
        "read a data space's dimensions");
  std::array<std::int64_t, Shape::max_rank> signed_extents{};
  for (std::size_t axis = 0; axis < dimensions.size(); ++axis) {
    signed_extents[axis] = static_cast<std::int64_t>(dimensions[axis]);
  }
  return Shape(
      std::span<const std::int64_t>(signed_extents.data(), static_cast<std::size_t>(rank)));
}

}  // namespace zygos::io::hdf5
