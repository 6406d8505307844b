// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/io/hdf5_dataset.hpp"

#include "io/checks.hpp"
#include "io/hdf5/hdf5_array.hpp"
#include "io/hdf5/hdf5_source.hpp"

#include "zygos/core/error.hpp"

#include <system_error>
#include <utility>

namespace zygos::io {
namespace {

Where element_of(const Hdf5Array& array) {
  return
      [&array](std::int64_t index) { return array.where() + ", element " + std::to_string(index); };
}

/// `Source`: Hdf5Array or Hdf5Rows.
template <class Source>
void require_pair(const Source& inputs, const Source& targets, const LoadOptions& options) {
  if (is_floating(targets.dtype()) && options.classes > 0) {
    throw DataError(targets.where() + ": found " + std::string(name_of(targets.dtype())) +
                    " targets for " + std::to_string(options.classes) +
                    " classes; labels are integers; convert them, or leave out the classes");
  }
  require_same_count({inputs.dtype(), inputs.shape(), nullptr}, inputs.where(),
                     {targets.dtype(), targets.shape(), nullptr}, targets.where());
}

/// `options.labels` says what the loss takes, the elements' type what there is.
template <class Source>
void require_kind(const Source& targets, const LoadOptions& options) {
  const bool labels = !is_floating(targets.dtype());
  if (options.labels.value_or(labels) != labels) {
    throw DataError(
        targets.where() + ": found " + std::string(name_of(targets.dtype())) +
        (labels ? " targets, which are labels, but the loss takes numbers; store targets as floats "
                  "(targets.astype('float32')), or take a loss of labels such as cross_entropy"
                : " targets, but the loss takes labels; store targets as integers "
                  "(targets.astype('int32')), or take a loss of numbers such as mse"));
  }
}

void take_targets(const Hdf5Array& source, const LoadOptions& options, Dataset& data) {
  Array targets = source.read();
  if (is_floating(source.dtype())) {
    require_finite(targets, element_of(source));
    require_kind(source, options);
    data.targets = with_sample_extent(std::move(targets));
    return;
  }
  require_kind(source, options);
  Labels labels = to_labels(targets, options.classes, element_of(source));
  data.targets = std::move(labels.array);
  data.classes = labels.classes;
}

Dataset load(const Hdf5Location& inputs, const Hdf5Location& targets, const LoadOptions& options) {
  const Hdf5Array input_source(inputs);
  const Hdf5Array target_source(targets);
  require_pair(input_source, target_source, options);
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

/// The same, but for what is read when a batch wants it.
Dataset open(const Hdf5Location& inputs, const Hdf5Location& targets, const LoadOptions& options) {
  auto input_rows = std::make_unique<Hdf5Rows>(inputs);
  auto target_rows = std::make_unique<Hdf5Rows>(targets);
  require_pair(*input_rows, *target_rows, options);
  require_kind(*target_rows, options);
  Dataset data;
  data.name = inputs.file.string();
  data.inputs = with_sample_extent({input_rows->dtype(), input_rows->shape(), nullptr});
  data.input_scale = input_scale(options, data.inputs.dtype);
  data.input_offset = options.input_offset;
  data.classes = options.classes;
  if (is_floating(target_rows->dtype())) {
    data.targets = with_sample_extent({target_rows->dtype(), target_rows->shape(), nullptr});
  } else if (target_rows->shape().rank() == 1) {
    // As small as the order of an epoch, which is in memory too.
    target_rows.reset();
    in_session<DataError>(targets.file, [&] { take_targets(Hdf5Array(targets), options, data); });
  } else if (options.classes == 0) {
    throw UsageError(target_rows->where() +
                     ": found several labels per sample, which are not looked through before "
                     "training; give the number of classes, or load the set whole (in_memory)");
  } else {
    data.targets = {target_rows->dtype(), target_rows->shape(), nullptr};
  }
  data.source =
      make_hdf5_source(std::move(input_rows), std::move(target_rows), data.targets, data.classes);
  return data;
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

Dataset open_hdf5_dataset(const Hdf5Location& inputs, const Hdf5Location& targets,
                          const LoadOptions& options) {
  require_options(options);
  return open(inputs, targets, options);
}

std::uint64_t hdf5_bytes(const Hdf5Location& location) {
  return in_session<DataError>(location.file, [&] {
    const Hdf5Array array(location);
    return static_cast<std::uint64_t>(array.shape().size()) * size_of(array.dtype());
  });
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
