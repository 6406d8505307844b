// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Data sets in HDF5 files. HDF5 does not promise to survive a hostile file, so a file is asked only
// for what training needs: numeric arrays that lie in the file itself. External links and storage,
// virtual data sets, links of other kinds than hard ones, user-defined types and filters other than
// deflate, shuffle and fletcher32 are refused; no plugin is ever loaded.
#pragma once

#include "zygos/io/dataset.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace zygos::io {

/// A data set inside a file: "images", "train/images".
struct Hdf5Location {
  std::filesystem::path file;
  std::string dataset;
};

/// One array of rank 1 to 6. u8, i32, u32, i64, u64, f32 and f64 of either byte order keep their
/// type; i8, i16 and u16 become i32. Throws DataError (file, data set, what was found, what is
/// allowed) and IoError when the system refuses to read the file.
Array read_hdf5(const Hdf5Location& location);

/// Inputs of any type and rank ([N] becomes [N, 1]). Integer targets are labels and have rank 1;
/// floating point targets are regression targets of any rank ([N] becomes [N, 1]). Throws what
/// read_hdf5 throws, and DataError for counts that differ, labels out of range, NaN and infinity.
Dataset load_hdf5_dataset(const Hdf5Location& inputs, const Hdf5Location& targets,
                          const LoadOptions& options = {});

/// The same data set, but for samples that stay in the file until a batch wants them
/// (Dataset::source): its values are checked as they are read, and one label per sample is loaded.
/// Several labels per sample need options.classes (UsageError).
Dataset open_hdf5_dataset(const Hdf5Location& inputs, const Hdf5Location& targets,
                          const LoadOptions& options = {});

/// Memory that read_hdf5 would need. Throws what it throws.
std::uint64_t hdf5_bytes(const Hdf5Location& location);

/// Writes the data set as two contiguous arrays, replacing `file` only when complete. The scale and
/// the offset of the inputs belong to the reader and are not stored. Throws IoError.
void write_hdf5_dataset(const std::filesystem::path& file, const Dataset& data,
                        const std::string& inputs = "inputs",
                        const std::string& targets = "targets");

}  // namespace zygos::io
