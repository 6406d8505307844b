// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The HDF5 library trusts what a file says of itself: damaged headers can make it write where it
// should not (of 8,000 files with one to four bytes changed, four ended HDF5 1.10.8, by signals or
// by a heap that was no longer sound). So a data file is first opened by another process, with
// limits of memory and time, and by this one only if that has lived.
#pragma once

#include "zygos/deck/run_schema.hpp"
#include "zygos/io/hdf5_dataset.hpp"

#include <optional>

namespace zygos::app {

/// Throws DataError for a file that HDF5 does not survive. What else may be wrong with it is left
/// to whoever reads it; where the system starts no further process, so is everything.
void probe_hdf5(const io::Hdf5Location& location);
/// The same of all HDF5 files that a deck names.
void probe_hdf5(const deck::DataSpec& data);

/// What the other process does; none unless the command line asks for it. Not a command of users.
std::optional<int> run_as_probe(int argc, const char* const* argv);

}  // namespace zygos::app
