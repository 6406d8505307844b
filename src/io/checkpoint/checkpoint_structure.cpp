// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/checkpoint/checkpoint_structure.hpp"

#include "io/checkpoint/checkpoint_manifest.hpp"

#include "zygos/core/error.hpp"
#include "zygos/core/version.hpp"

#include <fmt/format.h>

namespace zygos::io {

using hdf5::check;

namespace {

/// Names are UTF-8.
hdf5::PropertyList link_properties() {
  hdf5::PropertyList list(H5Pcreate(H5P_LINK_CREATE), "make a property list");
  check(H5Pset_char_encoding(list, H5T_CSET_UTF8), "choose UTF-8");
  return list;
}

void add_attribute(hid_t object, const char* name, std::int64_t value) {
  const hdf5::Space space(H5Screate(H5S_SCALAR), "make a scalar data space");
  const hdf5::Attribute attribute(
      H5Acreate2(object, name, H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT),
      std::string("create attribute ") + name);
  check(H5Awrite(attribute, H5T_NATIVE_INT64, &value), std::string("write attribute ") + name);
}

void add_attribute(hid_t object, const char* name, const std::string& value) {
  const hdf5::Space space(H5Screate(H5S_SCALAR), "make a scalar data space");
  const hdf5::Type type(H5Tcopy(H5T_C_S1), "make a string type");
  check(H5Tset_size(type, value.size() + 1), "size a string type");
  const hdf5::Attribute attribute(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT),
                                  std::string("create attribute ") + name);
  check(H5Awrite(attribute, type, value.c_str()), std::string("write attribute ") + name);
}

/// Every group above a tensor: "a/b/c" -> "a", "a/b".
void collect_groups(const std::string& name, std::set<std::string>& groups) {
  for (auto slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
    groups.insert(name.substr(0, slash));
  }
}

void add_tensor(hid_t file, std::span<const TensorRef> tensors, std::size_t number, hid_t link,
                hid_t creation, const WriteElements& write) {
  const TensorRef& tensor = tensors[number];
  const hdf5::Space space = hdf5::make_space(tensor.shape);
  const hdf5::Dataset dataset(H5Dcreate2(file, tensor.name.c_str(), hdf5::file_type(tensor.dtype),
                                         space, link, creation, H5P_DEFAULT),
                              fmt::format("write tensor '{}'", tensor.name));
  if (tensor.shape.size() > 0) {
    write(dataset, number);
  }
}

}  // namespace

std::set<std::string> groups_of(std::span<const TensorRef> tensors) {
  std::set<std::string> groups;
  std::set<std::string> names;
  for (const TensorRef& tensor : tensors) {
    require_tensor_name(tensor.name);
    collect_groups(tensor.name, groups);
    if (!names.insert(tensor.name).second) {
      throw UsageError(fmt::format("two tensors of a checkpoint are named '{}'", tensor.name));
    }
  }
  for (const std::string& name : names) {
    if (groups.contains(name)) {
      throw UsageError(
          fmt::format("'{}' names a tensor and the group of another one; rename either", name));
    }
  }
  return groups;
}

hdf5::PropertyList timeless(hid_t kind) {
  hdf5::PropertyList list(H5Pcreate(kind), "make a property list");
  check(H5Pset_obj_track_times(list, false), "switch off time stamps");
  return list;
}

void write_structure(hid_t file, std::int64_t step, std::span<const TensorRef> tensors,
                     const std::set<std::string>& groups, const WriteElements& write) {
  add_attribute(file, "format", std::string(checkpoint_format));
  add_attribute(file, "format_version", checkpoint_format_version);
  add_attribute(file, "library_version", std::string(version()));
  add_attribute(file, "step", step);
  const auto link = link_properties();
  const auto group_creation = timeless(H5P_GROUP_CREATE);
  for (const std::string& name : groups) {  // in order: a group comes before those within it
    const hdf5::Group made(H5Gcreate2(file, name.c_str(), link, group_creation, H5P_DEFAULT),
                           fmt::format("create group '{}'", name));
  }
  const auto creation = timeless(H5P_DATASET_CREATE);
  check(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER), "switch off fill values");
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    add_tensor(file, tensors, i, link, creation, write);
  }
  check(H5Fflush(file, H5F_SCOPE_GLOBAL), "finish the file");
}

}  // namespace zygos::io
