// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Groups, attributes and datasets of a checkpoint's HDF5 file, in the one order in which all files
// of these tensors are made, so that their bytes are the same.
#pragma once

#include "io/hdf5/hdf5_handles.hpp"

#include "zygos/io/stored_tensor.hpp"

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>

namespace zygos::io {

/// All groups; throws UsageError if the names are not allowed, appear twice or are a group and a
/// tensor at once.
std::set<std::string> groups_of(std::span<const TensorRef> tensors);

/// Objects without times, so that equal contents are equal bytes.
hdf5::PropertyList timeless(hid_t kind);

/// Writes what a dataset holds: its handle, and the number of the tensor.
using WriteElements = std::function<void(hid_t dataset, std::size_t tensor)>;

/// Fills a file that was just created. `write` is called for every tensor that has elements, and
/// must write some of them: HDF5 allocates the space then. Throws hdf5::Failure.
void write_structure(hid_t file, std::int64_t step, std::span<const TensorRef> tensors,
                     const std::set<std::string>& groups, const WriteElements& write);

}  // namespace zygos::io
