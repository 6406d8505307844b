// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Data sets in files of numpy.save (.npy, one array) and numpy.savez (.npz, arrays by name).
#pragma once

#include "zygos/io/dataset.hpp"

#include <filesystem>
#include <string>

namespace zygos::io {

/// Two .npy, in C or Fortran order, of float16, float32, float64, uint8, int32, int64, uint32 or
/// uint64, little endian. Inputs of any rank ([N] becomes [N, 1]). Integer targets are labels
/// ([N, 1] becomes [N]) unless `options.labels` wants numbers; floating-point ones are numbers.
/// Throws DataError (file, array, what was found, what is allowed), IoError.
Dataset load_npy_dataset(const std::filesystem::path& inputs, const std::filesystem::path& targets,
                         const LoadOptions& options = {});

/// The same of two arrays in one .npz, packed or not.
Dataset load_npz_dataset(const std::filesystem::path& file, const std::string& inputs,
                         const std::string& targets, const LoadOptions& options = {});

}  // namespace zygos::io
