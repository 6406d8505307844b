// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A state in the simulation's own HDF5 file: a group of the file that it has open. Link
// zygos::insitu_hdf5.
#pragma once

#include "zygos/insitu/state.hpp"

#include <cstdint>

namespace zygos::insitu {

/// Writes a data set for each tensor into `group`, an HDF5 identifier (hid_t) of a group or file
/// that is open for writing; "weights/hidden1/kernel" lies in groups of these names. A data set
/// that is there is replaced. Nothing is flushed or closed. With a file that MPI ranks have opened
/// together HDF5 wants all of them to make the same data sets: give each rank's state a place of
/// its own with to_bytes() there. Throws IoError with HDF5's reason.
void save(const State& state, std::int64_t group);

/// All data sets in the group and in groups below it. Throws CheckpointError for a data set whose
/// type is none of ours, IoError with HDF5's reason.
State load(std::int64_t group);

}  // namespace zygos::insitu
