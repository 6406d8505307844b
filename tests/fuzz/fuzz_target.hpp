// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What fuzz targets share. A target reads bytes that anybody may have written. It may refuse them
// with an exception that says what is wrong; a crash, a broken invariant, any other exception, and
// more memory than the machine has are faults of the reader.
#pragma once

#include "support/checkpoint_samples.hpp"

#include "zygos/core/error.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

namespace zygos::fuzz {

using Bytes = std::span<const std::uint8_t>;

void fuzz_checkpoint_image(Bytes input);
void fuzz_checkpoint_manifest(Bytes input);
void fuzz_cifar10(Bytes input);
void fuzz_csv(Bytes input);
void fuzz_deck(Bytes input);
void fuzz_graph(Bytes input);
void fuzz_hdf5(Bytes input);
void fuzz_idx(Bytes input);
void fuzz_metrics(Bytes input);
void fuzz_npy(Bytes input);
void fuzz_npz(Bytes input);
void fuzz_onnx(Bytes input);
void fuzz_onnx_import(Bytes input);
void fuzz_safetensors(Bytes input);
void fuzz_text(Bytes input);
void fuzz_trace(Bytes input);

/// Runs a reader that may refuse its input.
template <class F>
void may_refuse(F&& read) {
  try {
    read();
  } catch (const InternalError&) {
    throw;
  } catch (const MemoryError&) {
    throw;
  } catch (const Error&) {
    return;
  }
}

inline std::string_view text_of(Bytes input) {
  return {reinterpret_cast<const char*>(input.data()), input.size()};
}

/// The input as a file, written anew for every input; its folder lives as long as the process.
inline std::filesystem::path file_of(Bytes input, const std::string& name) {
  static const test::Scratch folder(test::quick_directory());
  std::filesystem::path file = folder.path() / name;
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text_of(input);
  return file;
}

}  // namespace zygos::fuzz
