// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/samples/npy.hpp"

#include "io/byte_source.hpp"
#include "io/checks.hpp"
#include "io/pending_file.hpp"

#include "zygos/core/error.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::io {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
/// What NumPy itself writes is shorter by far.
constexpr std::size_t max_header = 4096;

struct NpyType {
  std::string_view name;
  DType dtype;
};
constexpr std::array<NpyType, 7> types{{{"<f4", DType::f32},
                                        {"<f8", DType::f64},
                                        {"|u1", DType::u8},
                                        {"<i4", DType::i32},
                                        {"<i8", DType::i64},
                                        {"<u4", DType::u32},
                                        {"<u8", DType::u64}}};

/// The text behind `'key': ` up to `end`, which is taken along.
std::string value_of(std::string_view header, std::string_view key, std::string_view end) {
  const auto at = header.find(key);
  if (at == std::string_view::npos) {
    return {};
  }
  const auto begin = header.find_first_not_of(" :", at + key.size());
  const auto stop = begin == std::string_view::npos ? begin : header.find(end, begin + 1);
  return stop == std::string_view::npos ? std::string()
                                        : std::string(header.substr(begin, stop + 1 - begin));
}

std::vector<std::int64_t> integers_in(std::string_view text) {
  std::vector<std::int64_t> numbers;
  for (const char* at = text.data(); at < text.data() + text.size();) {
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(at, text.data() + text.size(), number);
    if (problem == std::errc()) {
      numbers.push_back(number);
      at = end;
    } else {
      ++at;
    }
  }
  return numbers;
}

class NpyReader final : public SampleReader {
 public:
  explicit NpyReader(const std::filesystem::path& file) : name_(file.string()), source_(file) {
    const std::string header = read_header();
    dtype_ = type_in(header);
    const std::string order = value_of(header, "'fortran_order'", ",");
    if (order != "False,") {
      refuse("found an array in Fortran order",
             "allowed is C order; store numpy.ascontiguousarray(array)");
    }
    const auto dimensions = integers_in(value_of(header, "'shape'", ")"));
    if (dimensions.empty() || dimensions.size() > Shape::max_rank) {
      refuse("found an array of rank " + std::to_string(dimensions.size()),
             "allowed are ranks 1 to " + std::to_string(Shape::max_rank));
    }
    shape_ = Shape(dimensions);
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
    if (source_.read(std::as_writable_bytes(std::span(text))) != bytes) {
      refuse("found the end of the file in its header", "allowed are files of numpy.save");
    }
    begin_ += bytes;
    return text;
  }

  std::string read_header() {
    const std::string start = take(8);
    const int version = start[6];
    if (!start.starts_with(magic) || version < 1 || version > 3) {
      refuse("is no NumPy array", "allowed are files of numpy.save");
    }
    const std::string length = take(version == 1 ? 2 : 4);
    std::size_t bytes = 0;
    for (std::size_t i = length.size(); i-- > 0;) {
      bytes = bytes << 8U | static_cast<unsigned char>(length[i]);
    }
    if (bytes > max_header) {
      refuse("found a header of " + std::to_string(bytes) + " bytes",
             "allowed are plain arrays of numbers");
    }
    return take(bytes);
  }

  DType type_in(const std::string& header) const {
    const std::string found = value_of(header, "'descr'", "',");
    for (const NpyType& type : types) {
      if (found == "'" + std::string(type.name) + "'") {
        return type.dtype;
      }
    }
    refuse("found elements of type " + (found.empty() ? "unknown" : found),
           "allowed are float32, float64, uint8, int32, int64, uint32 and uint64, little endian");
  }

  std::string name_;
  ByteSource source_;
  std::uint64_t begin_ = 0;
  DType dtype_ = DType::f32;
  Shape shape_;
  Shape sample_;
  std::int64_t done_ = 0;
};

std::string_view npy_name(DType dtype) {
  for (const NpyType& type : types) {
    if (type.dtype == dtype) {
      return type.name;
    }
  }
  throw InternalError("NumPy has no " + std::string(name_of(dtype)));
}

std::string header_of(const OutputArray& array, const Shape& shape) {
  std::string text =
      "{'descr': '" + std::string(npy_name(array.dtype)) + "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t extent : shape.dimensions()) {
    text += std::to_string(extent) + ",";
  }
  text += "), }";
  const std::size_t before = magic.size() + 4;
  text.resize((before + text.size() + 1 + 63) / 64 * 64 - before, ' ');
  text.back() = '\n';
  std::string header(magic);
  header += {'\x01', '\x00', static_cast<char>(text.size() & 0xFFU),
             static_cast<char>(text.size() >> 8U)};
  return header + text;
}

class NpyWriter final : public ArrayWriter {
 public:
  NpyWriter(const std::filesystem::path& file, std::int64_t samples, const OutputArray& array)
      : out_(file),
        sample_bytes_(static_cast<std::size_t>(array.sample.size()) * size_of(array.dtype)),
        left_(samples) {
    out_.write(bytes_of(header_of(array, array.sample.with_leading(samples))));
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
