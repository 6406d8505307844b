// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5/hdf5_samples.hpp"

#include "io/checks.hpp"
#include "io/files/pending_file.hpp"
#include "io/hdf5/hdf5_source.hpp"

#include "zygos/core/error.hpp"

#include <array>
#include <string>
#include <utility>

namespace zygos::io {
namespace {

class Hdf5Reader final : public SampleReader {
 public:
  explicit Hdf5Reader(const Hdf5Location& location) : rows_(location) {
    const Shape& shape = rows_.shape();
    sample_ = shape.rank() == 1 ? Shape{1} : shape.without_leading();
  }

  DType dtype() const override { return rows_.dtype(); }
  const Shape& sample_shape() const override { return sample_; }
  std::int64_t samples() const override { return rows_.shape()[0]; }

  void read(std::int64_t count, std::byte* out) override {
    rows_.read(done_, count, out);
    require_finite(
        rows_.dtype(), sample_.with_leading(count), out,
        [&](std::int64_t index) { return rows_.where() + ", element " + std::to_string(index); },
        done_);
    done_ += count;
    rows_.announce(done_, std::min(count, samples() - done_));
  }

 private:
  Hdf5Rows rows_;
  Shape sample_;
  std::int64_t done_ = 0;
};

class Hdf5Writer final : public ArrayWriter {
 public:
  Hdf5Writer(const std::filesystem::path& file, std::int64_t samples,
             std::vector<OutputArray> arrays)
      : file_(file), pending_(file), arrays_(std::move(arrays)), samples_(samples) {
    in_session([&] {
      out_ =
          hdf5::File(H5Fcreate(pending_.beside().c_str(), H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT),
                     "create the file");
      for (const OutputArray& array : arrays_) {
        sets_.emplace_back(H5Dcreate2(out_, array.name.c_str(), hdf5::file_type(array.dtype),
                                      hdf5::make_space(array.sample.with_leading(samples)),
                                      H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                           "create '" + array.name + "'");
      }
    });
  }
  ~Hdf5Writer() override {
    const hdf5::Session session;
    sets_.clear();
    out_ = hdf5::File();
  }

  void write(std::int64_t count, std::span<const void* const> arrays) override {
    in_session([&] {
      for (std::size_t i = 0; i < arrays_.size(); ++i) {
        write_rows(arrays_[i], sets_[i], count, arrays[i]);
      }
    });
    done_ += count;
  }

  void commit() override {
    ZYGOS_REQUIRE(done_ == samples_, "arrays were committed before all samples were written");
    in_session([&] {
      for (std::size_t i = 0; i < sets_.size(); ++i) {
        sets_[i].close("finish '" + arrays_[i].name + "'");
      }
      out_.close("finish the file");
    });
    pending_.commit();
  }

 private:
  template <class F>
  void in_session(const F& work) const {
    const hdf5::Session session;
    try {
      work();
    } catch (const hdf5::Failure& failure) {
      throw IoError(file_.string() + ": " + failure.what());
    }
  }

  void write_rows(const OutputArray& array, const hdf5::Dataset& set, std::int64_t count,
                  const void* values) const {
    const Shape rows = array.sample.with_leading(count);
    std::array<hsize_t, Shape::max_rank> first{}, dimensions{};
    first[0] = static_cast<hsize_t>(done_);
    for (std::size_t axis = 0; axis < rows.rank(); ++axis) {
      dimensions[axis] = static_cast<hsize_t>(rows[axis]);
    }
    const hdf5::Space there(H5Dget_space(set), "look at '" + array.name + "'");
    hdf5::check(H5Sselect_hyperslab(there, H5S_SELECT_SET, first.data(), nullptr, dimensions.data(),
                                    nullptr),
                "choose rows of '" + array.name + "'");
    const auto here = hdf5::make_space(rows);
    hdf5::check(H5Dwrite(set, hdf5::memory_type(array.dtype), here, there, H5P_DEFAULT, values),
                "write '" + array.name + "'");
  }

  std::filesystem::path file_;
  PendingFile pending_;
  std::vector<OutputArray> arrays_;
  std::int64_t samples_;
  std::int64_t done_ = 0;
  hdf5::File out_;
  std::vector<hdf5::Dataset> sets_;
};

}  // namespace

std::unique_ptr<SampleReader> open_hdf5_samples(const Hdf5Location& location) {
  return std::make_unique<Hdf5Reader>(location);
}

std::unique_ptr<ArrayWriter> write_hdf5_arrays(const std::filesystem::path& file,
                                               std::int64_t samples,
                                               std::vector<OutputArray> arrays) {
  return std::make_unique<Hdf5Writer>(file, samples, std::move(arrays));
}

}  // namespace zygos::io
