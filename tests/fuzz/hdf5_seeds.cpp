// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/hdf5_seeds.hpp"

#include "io/hdf5/hdf5_handles.hpp"
#include "support/checkpoint_samples.hpp"
#include "support/temporary_folder.hpp"

#include <cstdint>
#include <functional>

namespace zygos::fuzz {
namespace {

namespace h5 = io::hdf5;
using Extents = std::vector<hsize_t>;

template <class T>
void put(hid_t file, const char* name, const Extents& dimensions, const std::vector<T>& values,
         hid_t properties = H5P_DEFAULT) {
  const hid_t type = h5::memory_type(dtype_of<T>);
  const h5::Space space(
      H5Screate_simple(static_cast<int>(dimensions.size()), dimensions.data(), nullptr), "space");
  const h5::Dataset dataset(
      H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT), name);
  h5::check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "write");
}

std::string file_with(const std::function<void(hid_t)>& fill, H5F_libver_t version) {
  const test::TemporaryFolder folder("fuzz-hdf5");
  const auto path = folder.path() / "seed.h5";
  {
    const h5::Session session;
    const h5::PropertyList access(H5Pcreate(H5P_FILE_ACCESS), "properties");
    h5::check(H5Pset_libver_bounds(access, version, H5F_LIBVER_LATEST), "version");
    const h5::File file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), "file");
    fill(file);
  }
  return test::read_file(path);
}

h5::PropertyList creation() { return {H5Pcreate(H5P_DATASET_CREATE), "properties"}; }

void put_samples(hid_t file, hid_t of_inputs, hid_t of_targets) {
  put<float>(file, "x", {4, 2}, {0, 1, 2, 3, 4, 5, 6, 7}, of_inputs);
  put<std::int32_t>(file, "y", {4}, {0, 1, 2, 1}, of_targets);
}

void put_compact(hid_t file) {
  const auto compact = creation();
  h5::check(H5Pset_layout(compact, H5D_COMPACT), "layout");
  put_samples(file, compact, compact);
}

void put_packed(hid_t file) {
  const auto inputs = creation();
  const auto targets = creation();
  const Extents rows{2, 2};
  h5::check(H5Pset_chunk(inputs, 2, rows.data()), "chunks");
  h5::check(H5Pset_shuffle(inputs), "filter");
  h5::check(H5Pset_deflate(inputs, 6), "filter");
  h5::check(H5Pset_chunk(targets, 1, rows.data()), "chunks");
  h5::check(H5Pset_fletcher32(targets), "filter");
  put_samples(file, inputs, targets);
}

void put_step(hid_t file, std::int64_t step) {
  const h5::Space space(H5Screate(H5S_SCALAR), "space");
  const h5::Attribute attribute(
      H5Acreate2(file, "step", H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT), "step");
  h5::check(H5Awrite(attribute, H5T_NATIVE_INT64, &step), "step");
}

void put_tensors(hid_t file, const std::vector<io::TensorRef>& tensors) {
  const h5::PropertyList links(H5Pcreate(H5P_LINK_CREATE), "properties");
  h5::check(H5Pset_create_intermediate_group(links, 1), "properties");
  for (const io::TensorRef& tensor : tensors) {
    const h5::Dataset dataset(
        H5Dcreate2(file, tensor.name.c_str(), h5::file_type(tensor.dtype),
                   h5::make_space(tensor.shape), links, H5P_DEFAULT, H5P_DEFAULT),
        tensor.name);
    h5::check(H5Dwrite(dataset, h5::memory_type(tensor.dtype), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                       tensor.data),
              tensor.name);
  }
}

}  // namespace

std::string old_checkpoint_image() {
  const test::Samples samples = test::small_samples(3);
  return file_with(
      [&](hid_t file) {
        put_step(file, 3);
        put_tensors(file, samples.refs());
      },
      H5F_LIBVER_EARLIEST);
}

std::vector<std::string> hdf5_seeds() {
  std::vector<std::string> seeds;
  for (const auto version : {H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST}) {
    seeds.push_back(
        file_with([](hid_t file) { put_samples(file, H5P_DEFAULT, H5P_DEFAULT); }, version));
    seeds.push_back(file_with(put_compact, version));
    seeds.push_back(file_with(put_packed, version));
  }
  return seeds;
}

std::string graph_seed() {
  return file_with(
      [](hid_t file) {
        put<std::int32_t>(file, "edges", {3, 2}, {0, 1, 1, 2, 0, 2});
        put<float>(file, "features", {4, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
        put<std::int32_t>(file, "labels", {4}, {1, 0, 2, 1});
        put<std::int32_t>(file, "training", {4}, {1, 0, 0, 1});
      },
      H5F_LIBVER_EARLIEST);
}

}  // namespace zygos::fuzz
