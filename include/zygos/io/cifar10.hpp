// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// CIFAR-10 in its binary version (Krizhevsky, "Learning multiple layers of features from tiny
// images", 2009): records of one label byte and 3,072 bytes of an image, its red, green and blue
// plane of 32 x 32, row major.
#pragma once

#include "zygos/io/dataset.hpp"

#include <filesystem>
#include <span>
#include <vector>

namespace zygos::io {

/// The files of a folder under their original names: data_batch_1.bin, data_batch_2.bin, ... by
/// their numbers, and test_batch.bin.
struct Cifar10Files {
  std::vector<std::filesystem::path> training;
  std::vector<std::filesystem::path> test;  ///< empty if there is none
};
/// Throws DataError if there is no file to train on, IoError when the folder can't be read.
Cifar10Files find_cifar10(const std::filesystem::path& folder);

/// All records of the files, in their order: inputs (N, 3, 32, 32) of u8, labels 0 to 9. Plain or
/// gzip. Throws DataError (file, byte offset, what was found, what is allowed) for a file that does
/// not consist of records and for a label out of range, IoError when the system refuses to read.
Dataset load_cifar10(std::span<const std::filesystem::path> files, const LoadOptions& options = {});

}  // namespace zygos::io
