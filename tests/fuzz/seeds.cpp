// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/seeds.hpp"

#include "app/report_samples.hpp"
#include "deck/sample_tables.hpp"
#include "fuzz/hdf5_seeds.hpp"
#include "fuzz/onnx_seeds.hpp"
#include "io/checkpoint/checkpoint_image.hpp"
#include "support/bad_data.hpp"
#include "support/checkpoint_samples.hpp"
#include "support/idx_files.hpp"
#include "support/temporary_folder.hpp"

#include "zygos/io/checkpoint_store.hpp"
#include "zygos/io/weight_file.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

namespace zygos::fuzz {
namespace {

namespace fs = std::filesystem;
using Seeds = std::vector<std::string>;

std::string text_of(const test::Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

/// The files of a folder whose names end so, in the order of names; none too long to be changed in
/// a place that matters.
Seeds files_in(const fs::path& folder, const std::string& ending) {
  constexpr std::size_t longest = 32768;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().string().ends_with(ending) &&
        entry.file_size() <= longest) {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  Seeds seeds;
  std::ranges::transform(files, std::back_inserter(seeds), test::read_file);
  return seeds;
}

Seeds deck_seeds() {
  Seeds seeds{test::sample_deck};
  for (const char* folder : {"inputs", "tests/decks/bad"}) {
    std::ranges::copy(files_in(folder, ".yaml"), std::back_inserter(seeds));
  }
  return seeds;
}

Seeds idx_seeds() {
  const test::TemporaryFolder folder("fuzz-seeds");
  test::write_bad_data(folder.path());
  Seeds seeds;
  for (const std::string& seed : files_in(folder.path(), "")) {
    if (!seed.starts_with("\x89HDF")) {
      seeds.push_back(seed);
    }
  }
  const test::Bytes images = test::idx_bytes(8, {3, 2, 2}, test::Bytes(12, 7));
  const test::Bytes labels = test::idx_bytes(8, {3}, {0, 2, 1});
  for (const test::Bytes& good : {images, labels, test::gzip_bytes(images, 9)}) {
    seeds.push_back(text_of(good));
  }
  return seeds;
}

Seeds cifar10_seeds() {
  test::Bytes records(2 * 3073, 100);
  records[3073] = 9;
  records[0] = 3;
  return {text_of(records), text_of(test::gzip_bytes(records, 9))};
}

Seeds text_seeds() {
  const std::string text =
      "It was the best of times, it was the worst of times;\n"
      "gr\xc3\xbc\xc3\x9f Gott, \xe2\x82\xac 5, \xf0\x9f\x98\x80.\r\n\tthe end\n";
  const test::Bytes bytes(text.begin(), text.end());
  return {text, text + text, text_of(test::gzip_bytes(bytes, 9))};
}

Seeds csv_seeds() {
  return {"a,b,label\n1,2.5,0\n-3,4e-2,1\n0.1,7,2\n", "1;2;3\n4;5;6\n",
          "x\ty\n\"1\"\t2\n# comment\n\n3\t4\n",
          "width,height,kind\r\n1,2,\"red, light\"\r\n3,4,\"a \"\"b\"\"\"\r\n5,6,blue\r\n"};
}

std::string npy(const std::string& header, const std::string& elements) {
  std::string text = "\x93NUMPY";
  text += {1, 0, static_cast<char>(header.size()), 0};
  return text + header + elements;
}

Seeds npy_seeds() {
  return {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }   \n",
              std::string(24, '\0')),
          npy("{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }\n", std::string(16, '\1')),
          npy("{'descr': '<f2', 'fortran_order': True, 'shape': (2, 2), }\n", "12345678"),
          npy("{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }\n", "\1\2\3\1")};
}

/// As the library writes it.
std::string weights(const std::string& ending) {
  const test::TemporaryFolder folder("fuzz-seeds");
  const std::array x{1.0F, 2.0F, 3.0F, 4.0F};
  const std::array<std::int64_t, 2> y{0, 1};
  const std::array tensors{io::TensorRef{"x", DType::f32, Shape{2, 2}, x.data()},
                           io::TensorRef{"y", DType::i64, Shape{2}, y.data()}};
  const fs::path file = folder.path() / ("weights" + ending);
  io::write_weight_file(file, tensors, {{"format", "pt"}, {"deck", "seed: 1\n"}});
  return test::read_file(file);
}

Seeds safetensors_seeds() {
  const std::string header = R"({"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},)"
                             R"("b":{"dtype":"BOOL","shape":[1],"data_offsets":[4,5]}})";
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size());
  return {weights(".safetensors"), length + header + "12345"};
}

std::string part_of_checkpoint(const char* name) {
  const test::TemporaryFolder folder("fuzz-seeds");
  io::CheckpointStore store(folder.path(), 1);
  return test::read_file(test::write_small(store, 3) / name);
}

Seeds metrics_seeds() {
  return {R"({"kind":"train","step":1,"epoch":0,"loss":2.3,"samples_per_s":1000})"
          "\n"
          R"({"kind":"evaluate","step":2,"loss":2.1,"accuracy":0.5})"
          "\n"
          R"({"kind":"checkpoint","step":2,"path":"checkpoints/step-000002"})"
          "\n"};
}

Seeds trace_seeds() {
  auto trace = test::sample_trace(3);
  trace["traceEvents"].push_back(test::memory_event("host", 120.0, 100.0, 50.0));
  return {trace.dump(), test::sample_trace(1).dump(1)};
}

}  // namespace

std::vector<std::string> corpus_of(const fs::path& folder, const std::string& target) {
  return fs::is_directory(folder / target) ? files_in(folder / target, "") : Seeds{};
}

std::vector<std::string> seeds_of(std::string_view target) {
  const std::map<std::string_view, std::function<Seeds()>> makers{
      {"checkpoint_image",
       [] {
         return Seeds{part_of_checkpoint("state.h5"), old_checkpoint_image()};
       }},
      {"checkpoint_manifest", [] { return Seeds{part_of_checkpoint("manifest.json")}; }},
      {"cifar10", cifar10_seeds},
      {"csv", csv_seeds},
      {"deck", deck_seeds},
      {"graph", [] { return Seeds{graph_seed()}; }},
      {"hdf5", hdf5_seeds},
      {"idx", idx_seeds},
      {"metrics", metrics_seeds},
      {"npy", npy_seeds},
      {"npz", [] { return Seeds{weights(".npz")}; }},
      {"onnx", onnx_seeds},
      {"onnx_import", onnx_seeds},
      {"safetensors", safetensors_seeds},
      {"text", text_seeds},
      {"trace", trace_seeds}};
  Seeds seeds = makers.at(target)();
  const Seeds former_failures = corpus_of("tests/fuzz/corpus", std::string(target));
  std::ranges::copy(former_failures, std::back_inserter(seeds));
  return seeds;
}

}  // namespace zygos::fuzz
