// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/insitu/hdf5.hpp"

#include "io/hdf5/hdf5_handles.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace zygos::insitu {
namespace {

namespace hdf5 = io::hdf5;
static_assert(std::is_same_v<hid_t, std::int64_t>, "HDF5 1.10 or newer");

/// Runs `f` with HDF5 to itself; its failures become an IoError.
template <class F>
auto in_session(const char* what, const F& f) {
  try {
    const hdf5::Session session;
    return f();
  } catch (const hdf5::Failure& failure) {
    throw IoError(std::string("a state was not ") + what + " HDF5: " + failure.what());
  }
}

bool is_there(hid_t group, const std::string& name) {
  // HDF5 wants to be asked for one level after the other.
  for (std::size_t end = name.find('/');; end = name.find('/', end + 1)) {
    const std::string part = name.substr(0, end);
    const htri_t found = H5Lexists(group, part.c_str(), H5P_DEFAULT);
    hdf5::check(found, "look for '" + part + "'");
    if (found == 0 || end == std::string::npos) {
      return found > 0;
    }
  }
}

void write_tensor(hid_t group, hid_t creation, const StoredTensor& tensor) {
  const std::string what = "'" + tensor.name + "'";
  if (is_there(group, tensor.name)) {
    hdf5::check(H5Ldelete(group, tensor.name.c_str(), H5P_DEFAULT), "replace " + what);
  }
  const hdf5::Space space = hdf5::make_space(tensor.shape);
  const hdf5::Dataset dataset(H5Dcreate2(group, tensor.name.c_str(), hdf5::file_type(tensor.dtype),
                                         space, creation, H5P_DEFAULT, H5P_DEFAULT),
                              "create " + what);
  if (!tensor.bytes.empty()) {
    hdf5::check(H5Dwrite(dataset, hdf5::memory_type(tensor.dtype), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                         tensor.bytes.data()),
                "write " + what);
  }
}

/// Notes the names of links that lie in the file itself.
herr_t note_name(hid_t, const char* name, const H5L_info_t* info, void* names) noexcept {
  try {
    if (info->type == H5L_TYPE_HARD) {
      static_cast<std::vector<std::string>*>(names)->emplace_back(name);
    }
  } catch (...) {
    return -1;
  }
  return 0;
}

/// False if it is no data set.
bool read_tensor(hid_t group, const std::string& name, StoredTensor& tensor) {
  const hdf5::Object object(H5Oopen(group, name.c_str(), H5P_DEFAULT), "open '" + name + "'");
  if (H5Iget_type(object) != H5I_DATASET) {
    return false;
  }
  const hdf5::Type type(H5Dget_type(object), "read the type of '" + name + "'");
  const hdf5::Space space(H5Dget_space(object), "read the shape of '" + name + "'");
  const auto dtype = hdf5::dtype_of_type(type);
  const auto shape = hdf5::shape_of_space(space);
  if (!dtype || !shape) {
    throw CheckpointError("data set '" + name +
                          "' beside a saved state has a type or shape that no tensor has; save "
                          "states in a group of their own");
  }
  tensor = {name, *dtype, *shape, {}};
  tensor.bytes.resize(static_cast<std::size_t>(shape->size()) * size_of(*dtype));
  if (!tensor.bytes.empty()) {
    hdf5::check(H5Dread(object, hdf5::memory_type(*dtype), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                        tensor.bytes.data()),
                "read '" + name + "'");
  }
  return true;
}

}  // namespace

void save(const State& state, std::int64_t group) {
  in_session("written to", [&] {
    const hdf5::PropertyList creation(H5Pcreate(H5P_LINK_CREATE), "make a property list");
    hdf5::check(H5Pset_create_intermediate_group(creation, 1), "ask for groups to be made");
    for (const StoredTensor& tensor : state.tensors) {
      write_tensor(group, creation, tensor);
    }
  });
}

State load(std::int64_t group) {
  return in_session("read from", [&] {
    std::vector<std::string> names;
    hdf5::check(H5Lvisit(group, H5_INDEX_NAME, H5_ITER_NATIVE, note_name, &names),
                "list what lies in the group");
    State state;
    for (const std::string& name : names) {
      StoredTensor tensor;
      if (read_tensor(group, name, tensor)) {
        state.tensors.push_back(std::move(tensor));
      }
    }
    return state;
  });
}

}  // namespace zygos::insitu
