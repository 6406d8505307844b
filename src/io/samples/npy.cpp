// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/samples/npy.hpp"

#include "io/byte_source.hpp"
#include "io/checks.hpp"
#include "io/pending_file.hpp"
#include "io/samples/npy_header.hpp"

#include "zygos/core/error.hpp"

#include <cstdint>
#include <string>

namespace zygos::io {
namespace {

class NpyReader final : public SampleReader {
 public:
  explicit NpyReader(const std::filesystem::path& file) : name_(file.string()), source_(file) {
    const NpyHeader header =
        read_npy_header(name_, [this](std::size_t bytes) { return take(bytes); });
    if (!header.dtype) {
      refuse("found elements of type '" + header.type + "'",
             "allowed are float32, float64, uint8, int32, int64, uint32 and uint64, little endian");
    }
    if (header.fortran_order) {
      refuse("found an array in Fortran order",
             "allowed is C order; store numpy.ascontiguousarray(array)");
    }
    dtype_ = *header.dtype;
    shape_ = header.shape;
    if (shape_.rank() == 0) {
      refuse("found an array of rank 0",
             "allowed are ranks 1 to " + std::to_string(Shape::max_rank));
    }
    if (!source_.compressed() &&
        source_.file_bytes() <
            begin_ + static_cast<std::uint64_t>(shape_.size()) * size_of(dtype_)) {
      refuse("found " + std::to_string(source_.file_bytes()) + " bytes for an array of " +
                 std::string(name_of(dtype_)) + " and shape " + shape_.text(),
             "complete the file");
    }
    sample_ = shape_.rank() == 1 ? Shape{1} : shape_.without_leading();
  }

  DType dtype() const override { return dtype_; }
  const Shape& sample_shape() const override { return sample_; }
  std::int64_t samples() const override { return shape_[0]; }

  void read(std::int64_t count, std::byte* out) override {
    const std::size_t bytes = static_cast<std::size_t>(count * sample_.size()) * size_of(dtype_);
    if (source_.read({out, bytes}) != bytes) {
      refuse("found the end of the file", "complete the file");
    }
    require_finite(
        dtype_, sample_.with_leading(count), out,
        [&](std::int64_t index) { return name_ + ": element " + std::to_string(index); }, done_);
    done_ += count;
  }

 private:
  [[noreturn]] void refuse(const std::string& found, const std::string& remedy) const {
    throw DataError(name_ + ": " + found + "; " + remedy);
  }

  std::string take(std::size_t bytes) {
    std::string text(bytes, '\0');
    text.resize(source_.read(std::as_writable_bytes(std::span(text))));
    begin_ += text.size();
    return text;
  }

  std::string name_;
  ByteSource source_;
  std::uint64_t begin_ = 0;
  DType dtype_ = DType::f32;
  Shape shape_;
  Shape sample_;
  std::int64_t done_ = 0;
};

class NpyWriter final : public ArrayWriter {
 public:
  NpyWriter(const std::filesystem::path& file, std::int64_t samples, const OutputArray& array)
      : out_(file),
        sample_bytes_(static_cast<std::size_t>(array.sample.size()) * size_of(array.dtype)),
        left_(samples) {
    out_.write(bytes_of(npy_header(array.dtype, array.sample.with_leading(samples))));
  }

  void write(std::int64_t count, std::span<const void* const> arrays) override {
    left_ -= count;
    out_.write({static_cast<const std::byte*>(arrays.front()),
                static_cast<std::size_t>(count) * sample_bytes_});
  }
  void commit() override {
    ZYGOS_REQUIRE(left_ == 0, "an array was committed before all samples were written");
    out_.commit();
  }

 private:
  PendingBytes out_;
  std::size_t sample_bytes_;
  std::int64_t left_;
};

}  // namespace

std::unique_ptr<SampleReader> open_npy(const std::filesystem::path& file) {
  return std::make_unique<NpyReader>(file);
}

std::unique_ptr<ArrayWriter> write_npy(const std::filesystem::path& file, std::int64_t samples,
                                       const OutputArray& array) {
  return std::make_unique<NpyWriter>(file, samples, array);
}

}  // namespace zygos::io
