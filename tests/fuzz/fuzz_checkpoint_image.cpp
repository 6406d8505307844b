// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_target.hpp"
#include "io/checkpoint/checkpoint_image.hpp"
#include "support/checkpoint_samples.hpp"

#include <vector>

namespace zygos::fuzz {
namespace {

std::vector<io::TensorEntry> table_of(const std::vector<io::TensorRef>& tensors) {
  std::vector<io::TensorEntry> table;
  for (const io::TensorRef& tensor : tensors) {
    table.push_back({tensor.name, tensor.dtype, tensor.shape, std::string(io::state_name), ""});
  }
  return table;
}

}  // namespace

/// The HDF5 file of a checkpoint whose check sums are right. Beside a good manifest: one that is
/// damaged does not get so far.
void fuzz_checkpoint_image(Bytes input) {
  static const std::vector<io::TensorEntry> table = table_of(test::small_samples(3).refs());
  try {
    io::require_harmless(std::as_bytes(input), 3, table);
    const io::ImageReader reader(std::as_bytes(input));
    reader.require_contents(3, table);
    for (const io::TensorEntry& tensor : table) {
      std::vector<std::byte> out(tensor.bytes());
      reader.read(tensor, out);
      reader.bytes_of(tensor);
    }
  } catch (const io::hdf5::Failure&) {
    return;
  } catch (const UsageError&) {
    return;
  }
}

}  // namespace zygos::fuzz
