// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/checkpoint/checkpoint_image.hpp"
#include "io/checkpoint/image_access.hpp"
#include "io/hdf5/child_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace zygos::io {

namespace {

using hdf5::check;
using hdf5::Failure;

/// Counts datasets and groups beneath a group. A file of ours holds them in a tree of hard links;
/// anything else, also a tree deeper or wider than the names in the manifest, is refused.
class Counter {
 public:
  explicit Counter(std::size_t max_links) : links_left_(max_links) {}

  void count(hid_t group) {
    H5G_info_t facts{};
    check(H5Gget_info(group, &facts), "list a group");
    if (facts.nlinks > links_left_) {
      throw Failure("the file holds more than the manifest lists");
    }
    links_left_ -= static_cast<std::size_t>(facts.nlinks);
    for (hsize_t index = 0; index < facts.nlinks; ++index) {
      count_link(group, index);
    }
  }
  std::size_t datasets() const noexcept { return datasets_; }

 private:
  void count_link(hid_t group, hsize_t index) {
    H5L_info_t link;
    check(H5Lget_info_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, index, &link, H5P_DEFAULT),
          "read a link");
    if (link.type != H5L_TYPE_HARD) {
      throw Failure("the file holds a soft or external link");
    }
    const hdf5::Object object(
        H5Oopen_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, index, H5P_DEFAULT),
        "open an object");
    switch (H5Iget_type(object)) {
      case H5I_DATASET:
        ++datasets_;
        return;
      case H5I_GROUP:
        return count(object);
      default:
        throw Failure("the file holds an object that is neither a group nor a tensor");
    }
  }

  std::size_t links_left_;
  std::size_t datasets_ = 0;
};

/// At most as many links as the names have parts.
std::size_t parts_of(std::span<const TensorEntry> table) {
  std::size_t parts = 0;
  for (const TensorEntry& entry : table) {
    parts += 1 + static_cast<std::size_t>(std::ranges::count(entry.name, '/'));
  }
  return parts;
}

hdf5::Dataset open_dataset(hid_t file, const TensorEntry& entry) {
  return hdf5::Dataset(H5Dopen2(file, entry.name.c_str(), H5P_DEFAULT),
                       fmt::format("open tensor '{}'", entry.name));
}

void require_plain(hid_t dataset, const TensorEntry& entry) {
  const hdf5::PropertyList creation(H5Dget_create_plist(dataset), "examine a tensor");
  if (H5Pget_layout(creation) != H5D_CONTIGUOUS || H5Pget_external_count(creation) != 0) {
    throw Failure(fmt::format("tensor '{}' is not stored as one plain block", entry.name));
  }
  const hdf5::Type type(H5Dget_type(dataset), "examine a tensor's type");
  const hdf5::Space space(H5Dget_space(dataset), "examine a tensor's shape");
  if (hdf5::dtype_of_type(type) != entry.dtype || hdf5::shape_of_space(space) != entry.shape) {
    throw Failure(fmt::format("tensor '{}' is not of type {} and shape {} as the manifest says",
                              entry.name, name_of(entry.dtype), entry.shape.text()));
  }
}

/// Why the structure of an image is not that of a checkpoint; empty if it is.
std::string refusal_of(std::span<const std::byte> image, std::int64_t step,
                       std::span<const TensorEntry> table) {
  try {
    ImageReader(image).require_contents(step, table);
    return "";
  } catch (const Failure& failure) {
    return failure.what();
  }
}

}  // namespace

void require_harmless(std::span<const std::byte> image, std::int64_t step,
                      std::span<const TensorEntry> table) {
  // No other thread may be within HDF5 when the child is made, which has a lock of its own then.
  std::optional<hdf5::Session> alone(std::in_place);
  const auto look = [&] {
    alone.reset();
    return refusal_of(image, step, table);
  };
  const ChildOutcome outcome = run_in_child(look, limits_for_file(image.size()));
  alone.reset();
  if (!outcome.fault.empty()) {
    throw Failure("HDF5 itself " + outcome.fault + " on the file");
  }
  if (!outcome.said.empty()) {
    throw Failure(outcome.said);
  }
}

ImageReader::ImageReader(std::span<const std::byte> image) : image_(image) {
  if (image.empty()) {
    throw Failure("the file is empty");
  }
  const auto access = borrowed_image_access(&image_);
  file_ = hdf5::File(H5Fopen("checkpoint", H5F_ACC_RDONLY, access), "open the file");
}

void ImageReader::require_contents(std::int64_t step, std::span<const TensorEntry> table) const {
  const hdf5::Attribute attribute(H5Aopen(file_, "step", H5P_DEFAULT), "open attribute 'step'");
  std::int64_t stored = -1;
  check(H5Aread(attribute, H5T_NATIVE_INT64, &stored), "read attribute 'step'");
  if (stored != step) {
    throw Failure(fmt::format("it is of step {}, the manifest of step {}", stored, step));
  }
  for (const TensorEntry& entry : table) {
    require_plain(open_dataset(file_, entry), entry);
  }
  Counter counter(parts_of(table));
  const hdf5::Group root(H5Gopen2(file_, "/", H5P_DEFAULT), "open the root group");
  counter.count(root);
  if (counter.datasets() != table.size()) {
    throw Failure("the file holds more tensors than the manifest lists");
  }
}

void ImageReader::read(const TensorEntry& entry, std::span<std::byte> out) const {
  const hdf5::Dataset dataset = open_dataset(file_, entry);
  if (!out.empty()) {
    check(
        H5Dread(dataset, hdf5::memory_type(entry.dtype), H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()),
        fmt::format("read tensor '{}'", entry.name));
  }
}

std::span<const std::byte> ImageReader::bytes_of(const TensorEntry& entry) const {
  if (entry.bytes() == 0) {
    return {};
  }
  const haddr_t offset = H5Dget_offset(open_dataset(file_, entry));
  if (offset == HADDR_UNDEF || offset > image_.size() || image_.size() - offset < entry.bytes()) {
    throw Failure(fmt::format("tensor '{}' does not lie within the file", entry.name));
  }
  return image_.subspan(static_cast<std::size_t>(offset), entry.bytes());
}

}  // namespace zygos::io
