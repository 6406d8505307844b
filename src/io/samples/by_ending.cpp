// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/byte_source.hpp"
#include "io/files/pending_file.hpp"
#include "io/hdf5/hdf5_samples.hpp"
#include "io/samples/csv.hpp"
#include "io/samples/npy.hpp"

#include "zygos/core/error.hpp"

#include <utility>

namespace zygos::io {
namespace {

enum class Ending { hdf5, npy, csv };

Ending ending_of(const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  if (ending == ".h5" || ending == ".hdf5") {
    return Ending::hdf5;
  }
  if (ending == ".npy") {
    return Ending::npy;
  }
  if (ending == ".csv") {
    return Ending::csv;
  }
  throw UsageError("'" + file.string() + "' ends in '" + ending +
                   "'; allowed are .h5, .hdf5, .npy and .csv");
}

}  // namespace

std::unique_ptr<SampleReader> open_samples(const std::filesystem::path& file,
                                           const std::string& dataset,
                                           const std::vector<std::string>& columns) {
  const Ending ending = ending_of(file);
  require_readable_file(file);
  switch (ending) {
    case Ending::hdf5:
      return open_hdf5_samples({file, dataset});
    case Ending::npy:
      return open_npy(file);
    case Ending::csv:
      break;
  }
  return open_csv(file, columns);
}

std::unique_ptr<ArrayWriter> write_arrays(const std::filesystem::path& file, std::int64_t samples,
                                          std::vector<OutputArray> arrays) {
  const Ending ending = ending_of(file);
  if (ending == Ending::npy && arrays.size() != 1) {
    throw UsageError("'" + file.string() + "' would hold " + std::to_string(arrays.size()) +
                     " arrays; a .npy holds one, so write .h5 or .csv");
  }
  require_folder_of(file);
  switch (ending) {
    case Ending::hdf5:
      return write_hdf5_arrays(file, samples, std::move(arrays));
    case Ending::npy:
      return write_npy(file, samples, arrays.front());
    case Ending::csv:
      break;
  }
  return write_csv(file, samples, std::move(arrays));
}

}  // namespace zygos::io
