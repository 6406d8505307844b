// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A thin layer over HDF5's C interface: handles that close themselves, and calls that throw. Two
// rules: nothing here runs without a Session, and handles die before the Session they live in.
#pragma once

#include "zygos/core/dtype.hpp"
#include "zygos/core/shape.hpp"

#include <hdf5.h>

#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace zygos::io::hdf5 {

/// A failed HDF5 call: what was tried and HDF5's own deepest reason. Never leaves the module:
/// whoever knows the file turns it into a DataError, CheckpointError or IoError.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Exclusive use of HDF5, which is not thread-safe by default. While it lives, HDF5 prints no
/// errors and loads no plugins; both settings are put back afterwards, since the process may have
/// others who use the library. Not recursive.
class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  std::unique_lock<std::mutex> lock_;
  H5E_auto2_t printer_ = nullptr;
  void* printer_data_ = nullptr;
  unsigned int plugins_ = 0;
};

/// The deepest entry of HDF5's error stack, which is emptied.
std::string take_error();

/// Returns `id`, or throws Failure("cannot `what`: ...") if it is negative.
hid_t checked(hid_t id, const std::string& what);
/// The same for calls that return a status.
void check(herr_t status, const std::string& what);

/// Owns an identifier.
template <herr_t (*Close)(hid_t)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(hid_t id) noexcept : id_(id) {}
  /// Throws Failure if `id` is negative.
  Handle(hid_t id, const std::string& what) : id_(checked(id, what)) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) {
      Close(id_);
    }
  }
  operator hid_t() const noexcept { return id_; }
  /// Closes now; unlike the destructor it reports a failure.
  void close(const std::string& what) { check(Close(std::exchange(id_, H5I_INVALID_HID)), what); }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

using File = Handle<H5Fclose>;
using Group = Handle<H5Gclose>;
using Dataset = Handle<H5Dclose>;
using Object = Handle<H5Oclose>;
using Space = Handle<H5Sclose>;
using Type = Handle<H5Tclose>;
using Attribute = Handle<H5Aclose>;
using PropertyList = Handle<H5Pclose>;

/// Type in memory and in a file (little-endian); borrowed, never to be closed.
hid_t memory_type(DType dtype);
hid_t file_type(DType dtype);
/// Which of ours a stored type is, byte order aside; nullopt for all others.
std::optional<DType> dtype_of_type(hid_t type);

/// Rank 0 gives a scalar space.
Space make_space(const Shape& shape);
/// nullopt for null spaces and ranks over Shape::max_rank; throws Failure for what HDF5 refuses and
/// UsageError for dimensions that Shape refuses.
std::optional<Shape> shape_of_space(hid_t space);

}  // namespace zygos::io::hdf5
