// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5/hdf5_source.hpp"

#include "zygos/core/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace zygos::io {
namespace {

/// More is no cache, but the data set in memory.
constexpr std::size_t max_cached = std::size_t{256} << 20;

Where element_of(const Hdf5Rows& rows) {
  return
      [&rows](std::int64_t index) { return rows.where() + ", element " + std::to_string(index); };
}

class Hdf5Source final : public SampleSource {
 public:
  Hdf5Source(std::unique_ptr<Hdf5Rows> inputs, std::unique_ptr<Hdf5Rows> targets, Array labels,
             std::int64_t classes)
      : inputs_(std::move(inputs)), targets_(std::move(targets)), labels_(std::move(labels)) {
    require([this, where = element_of(*inputs_)](const Dataset& part) {
      require_finite(part.inputs, where, part.first);
    });
    if (targets_ == nullptr) {
      return;
    }
    require([this, classes, where = element_of(*targets_)](const Dataset& part) {
      if (classes > 0) {
        require_labels(part.targets, classes, where, part.first);
      } else {
        require_finite(part.targets, where, part.first);
      }
    });
  }

  void read(std::int64_t first, std::int64_t count, std::byte* inputs,
            std::byte* targets) const override {
    inputs_->read(first, count, inputs);
    if (targets_ != nullptr) {
      return targets_->read(first, count, targets);
    }
    const std::size_t row_bytes = labels_.bytes() / static_cast<std::size_t>(labels_.samples());
    std::memcpy(targets, labels_.data.get() + static_cast<std::size_t>(first) * row_bytes,
                static_cast<std::size_t>(count) * row_bytes);
  }

  void announce(std::int64_t first, std::int64_t count) const override {
    inputs_->announce(first, count);
    if (targets_ != nullptr) {
      targets_->announce(first, count);
    }
  }

  std::size_t bytes() const override {
    return inputs_->cache_bytes() +
           (targets_ != nullptr ? targets_->cache_bytes() : labels_.bytes());
  }

 private:
  std::unique_ptr<Hdf5Rows> inputs_;
  std::unique_ptr<Hdf5Rows> targets_;
  Array labels_;
};

}  // namespace

Hdf5Rows::Hdf5Rows(const Hdf5Location& location) : location_(location) {
  const hdf5::Session session;
  try {
    auto array = std::make_unique<Hdf5Array>(location);
    dtype_ = array->dtype();
    shape_ = array->shape();
    where_ = array->where();
    row_bytes_ = static_cast<std::size_t>(shape_.without_leading().size()) * size_of(dtype_);
    if (const auto offset = array->raw_offset()) {
      open_raw(*offset);
    } else {
      keep_chunks(*array);
      array_ = std::move(array);
    }
  } catch (const hdf5::Failure& failure) {
    throw DataError(location.file.string() + ": " + failure.what());
  }
}

Hdf5Rows::~Hdf5Rows() {
  if (array_ != nullptr) {
    const hdf5::Session session;
    array_.reset();
  }
}

void Hdf5Rows::open_raw(std::uint64_t offset) {
  offset_ = offset;
  const std::uint64_t end = offset + row_bytes_ * static_cast<std::uint64_t>(shape_[0]);
  const std::uint64_t there = std::filesystem::file_size(location_.file);
  if (end > there) {
    throw DataError(where_ + ": found the end of the file at byte " + std::to_string(there) +
                    "; the elements end at byte " + std::to_string(end) + "; complete the file");
  }
  file_ = Descriptor(::open(location_.file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file_) {
    throw IoError(where_ + ": cannot be opened: " + std::generic_category().message(errno));
  }
}

/// Rows come sorted, so that each chunk is unpacked once a batch if those of one row fit.
void Hdf5Rows::keep_chunks(Hdf5Array& array) {
  cache_bytes_ = array.bytes_of_chunks_of_a_row();
  if (cache_bytes_ > max_cached) {
    throw DataError(where_ + ": found chunks of which " + std::to_string(cache_bytes_) +
                    " bytes must be unpacked for one sample; allowed are up to " +
                    std::to_string(max_cached) +
                    " where samples are read while training; repack the file in chunks of few "
                    "samples, or unchunked, or load it whole (in_memory)");
  }
  if (cache_bytes_ > 0) {
    array.keep_chunks(cache_bytes_);
  }
}

void Hdf5Rows::read(std::int64_t first, std::int64_t count, std::byte* out) const {
  if (array_ == nullptr) {
    return read_raw(first, count, out);
  }
  const hdf5::Session session;
  try {
    array_->read_rows(first, count, out);
  } catch (const hdf5::Failure& failure) {
    throw IoError(where_ + ": " + failure.what());
  }
}

void Hdf5Rows::read_raw(std::int64_t first, std::int64_t count, std::byte* out) const {
  std::uint64_t at = offset_ + static_cast<std::uint64_t>(first) * row_bytes_;
  std::size_t left = static_cast<std::size_t>(count) * row_bytes_;
  while (left > 0) {
    const ::ssize_t got = ::pread(file_.get(), out, left, static_cast<::off_t>(at));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      throw IoError(where_ + ": samples " + std::to_string(first) + " to " +
                    std::to_string(first + count - 1) + " cannot be read: " +
                    (got < 0 ? std::generic_category().message(errno)
                             : "the file has no byte " + std::to_string(at) + " any more") +
                    "; put the file back and resume from the last checkpoint");
    }
    const auto taken = static_cast<std::size_t>(got);
    out += taken;
    at += taken;
    left -= taken;
  }
}

void Hdf5Rows::announce(std::int64_t first, std::int64_t count) const {
  if (file_) {
    // A hint, so that the disk sees many reads at once; nothing depends on it.
    ::posix_fadvise(
        file_.get(), static_cast<::off_t>(offset_ + static_cast<std::uint64_t>(first) * row_bytes_),
        static_cast<::off_t>(static_cast<std::uint64_t>(count) * row_bytes_), POSIX_FADV_WILLNEED);
  }
}

std::shared_ptr<SampleSource> make_hdf5_source(std::unique_ptr<Hdf5Rows> inputs,
                                               std::unique_ptr<Hdf5Rows> targets,
                                               const Array& labels, std::int64_t classes) {
  return std::make_shared<Hdf5Source>(std::move(inputs), std::move(targets), labels, classes);
}

}  // namespace zygos::io
