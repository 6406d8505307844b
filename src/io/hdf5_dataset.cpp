// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/io/hdf5_dataset.hpp"

#include "io/checks.hpp"
#include "io/hdf5_array.hpp"

#include "zygos/core/error.hpp"

#include <system_error>
#include <utility>

namespace zygos::io {
namespace {

bool is_floating(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

Where element_of(const Hdf5Array& array) {
  return
      [&array](std::int64_t index) { return array.where() + ", element " + std::to_string(index); };
}

void require_target_shape(const Hdf5Array& targets, const LoadOptions& options) {
  if (is_floating(targets.dtype())) {
    if (options.classes > 0) {
      throw DataError(targets.where() + ": found " + std::string(name_of(targets.dtype())) +
                      " targets for " + std::to_string(options.classes) +
                      " classes; labels are integers; convert them, or leave out the classes");
    }
  }
}

void take_targets(const Hdf5Array& source, const LoadOptions& options, Dataset& data) {
  Array targets = source.read();
  if (is_floating(source.dtype())) {
    require_finite(targets, element_of(source));
    data.targets = with_sample_extent(std::move(targets));
    return;
  }
  Labels labels = to_labels(targets, options.classes, element_of(source));
  data.targets = std::move(labels.array);
  data.classes = labels.classes;
}

Dataset load(const Hdf5Location& inputs, const Hdf5Location& targets, const LoadOptions& options) {
  const Hdf5Array input_source(inputs);
  const Hdf5Array target_source(targets);
  require_target_shape(target_source, options);
  require_same_count({input_source.dtype(), input_source.shape(), nullptr}, input_source.where(),
                     {target_source.dtype(), target_source.shape(), nullptr},
                     target_source.where());
  Dataset data;
  data.name = inputs.file.string();
  take_targets(target_source, options, data);
  Array array = input_source.read();
  require_finite(array, element_of(input_source));
  data.inputs = with_sample_extent(std::move(array));
  data.input_scale = input_scale(options, data.inputs.dtype);
  data.input_offset = options.input_offset;
  return data;
}

void write_array(hid_t file, const std::string& name, const Array& array) {
  const auto space = hdf5::make_space(array.shape);
  const hdf5::PropertyList links(H5Pcreate(H5P_LINK_CREATE), "make a property list");
  hdf5::check(H5Pset_create_intermediate_group(links, 1), "set a property");
  hdf5::Dataset dataset(H5Dcreate2(file, name.c_str(), hdf5::file_type(array.dtype), space, links,
                                   H5P_DEFAULT, H5P_DEFAULT),
                        "create '" + name + "'");
  hdf5::check(H5Dwrite(dataset, hdf5::memory_type(array.dtype), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                       array.data.get()),
              "write '" + name + "'");
  dataset.close("finish '" + name + "'");
}

/// HDF5's own failures become what they mean to the caller.
template <class E, class F>
auto in_session(const std::filesystem::path& file, F&& work) {
  const hdf5::Session session;
  try {
    return work();
  } catch (const hdf5::Failure& failure) {
    throw E(file.string() + ": " + failure.what());
  }
}

}  // namespace

Array read_hdf5(const Hdf5Location& location) {
  return in_session<DataError>(location.file, [&] { return Hdf5Array(location).read(); });
}

Dataset load_hdf5_dataset(const Hdf5Location& inputs, const Hdf5Location& targets,
                          const LoadOptions& options) {
  require_options(options);
  return in_session<DataError>(inputs.file, [&] { return load(inputs, targets, options); });
}

void write_hdf5_dataset(const std::filesystem::path& file, const Dataset& data,
                        const std::string& inputs, const std::string& targets) {
  check(data);
  std::filesystem::path part = file;
  part += ".part";
  in_session<IoError>(file, [&] {
    hdf5::File out(H5Fcreate(part.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                   "create the file");
    write_array(out, inputs, data.inputs);
    write_array(out, targets, data.targets);
    out.close("finish the file");
  });
  std::error_code error;
  std::filesystem::rename(part, file, error);
  if (error) {
    throw IoError(file.string() + ": cannot be written: " + error.message() +
                  "; check the path and its permissions");
  }
}

}  // namespace zygos::io
