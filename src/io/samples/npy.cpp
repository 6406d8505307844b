// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/samples/npy.hpp"

#include "io/byte_source.hpp"
#include "io/checks.hpp"
#include "io/files/pending_file.hpp"
#include "io/samples/npy_elements.hpp"

#include "zygos/core/error.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace zygos::io {
namespace {

[[noreturn]] void refuse_file(const std::string& name, const std::string& found,
                              const std::string& remedy) {
  throw DataError(name + ": " + found + "; " + remedy);
}

constexpr const char* allowed_types =
    "allowed are float32, float64, uint8, int32, int64, uint32 and uint64, little endian";

/// The header, and how many bytes it takes.
std::pair<NpyHeader, std::uint64_t> take_header(ByteSource& source, const std::string& name) {
  std::uint64_t taken = 0;
  NpyHeader header = read_npy_header(name, [&](std::size_t bytes) {
    std::string text(bytes, '\0');
    text.resize(source.read(std::as_writable_bytes(std::span(text))));
    taken += text.size();
    return text;
  });
  return {std::move(header), taken};
}

/// Before anything is allocated.
void require_whole(const ByteSource& source, const std::string& name, std::uint64_t header_bytes,
                   const NpyHeader& header, std::size_t element) {
  const std::uint64_t needed =
      header_bytes + static_cast<std::uint64_t>(header.shape.size()) * element;
  if (source.max_bytes() < needed) {
    refuse_file(name,
                "found " + std::to_string(source.file_bytes()) + " bytes for an array of " +
                    (header.dtype ? std::string(name_of(*header.dtype)) : header.type) +
                    " and shape " + header.shape.text(),
                "complete the file");
  }
}

class NpyReader final : public SampleReader {
 public:
  explicit NpyReader(const std::filesystem::path& file) : name_(file.string()), source_(file) {
    const auto [header, header_bytes] = take_header(source_, name_);
    if (!header.dtype) {
      refuse("found elements of type '" + header.type + "'", allowed_types);
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
    require_whole(source_, name_, header_bytes, header, size_of(dtype_));
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
    refuse_file(name_, found, remedy);
  }

  std::string name_;
  ByteSource source_;
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

StoredTensor read_npy(const std::filesystem::path& file) {
  const std::string name = file.string();
  ByteSource source(file);
  const auto [header, header_bytes] = take_header(source, name);
  const auto element = element_bytes(header);
  if (!element) {
    refuse_file(name, "found elements of type '" + header.type + "'", allowed_types);
  }
  require_whole(source, name, header_bytes, header, *element);
  std::vector<std::byte> elements(static_cast<std::size_t>(header.shape.size()) * *element);
  std::byte past_end{};
  if (source.read(elements) != elements.size() || source.read({&past_end, 1}) != 0) {
    refuse_file(name,
                "the file does not end where its array of shape " + header.shape.text() + " does",
                "store the array anew");
  }
  return tensor_of(name, header, std::move(elements));
}

std::unique_ptr<ArrayWriter> write_npy(const std::filesystem::path& file, std::int64_t samples,
                                       const OutputArray& array) {
  return std::make_unique<NpyWriter>(file, samples, array);
}

}  // namespace zygos::io
