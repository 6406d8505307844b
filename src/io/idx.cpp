// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/io/idx.hpp"

#include "io/byte_source.hpp"
#include "io/checks.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::io {
namespace {

constexpr std::uint64_t max_shape_size = std::uint64_t{1} << 58;  // of a Shape

struct Type {
  std::uint8_t code;
  std::size_t bytes;  // of one element in the file
  DType dtype;        // in memory
};

constexpr std::array<Type, 6> idx_types{{{0x08, 1, DType::u8},
                                         {0x09, 1, DType::i32},
                                         {0x0B, 2, DType::i32},
                                         {0x0C, 4, DType::i32},
                                         {0x0D, 4, DType::f32},
                                         {0x0E, 8, DType::f64}}};

struct Header {
  Type type;
  Shape shape;
  std::uint64_t bytes = 0;    // of the header
  std::uint64_t payload = 0;  // of the elements in the file
};

std::string hex(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    if (!text.empty()) {
      text += ' ';
    }
    text += digits[std::to_integer<std::size_t>(byte >> 4)];
    text += digits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

/// One open IDX file: where its messages come from.
class IdxFile {
 public:
  explicit IdxFile(const std::filesystem::path& file)
      : file_(file), source_(std::make_unique<ByteSource>(file)), header_(read_header()) {
    require_payload();
  }

  const Header& header() const { return header_; }
  std::string where(std::uint64_t byte) const {
    return file_.string() + ": byte " + std::to_string(byte) +
           (source_->compressed() ? " after unpacking" : "");
  }
  std::string where_element(std::int64_t index) const {
    return where(header_.bytes + static_cast<std::uint64_t>(index) * header_.type.bytes);
  }
  /// `most`: of the first extent, 0: all.
  Array read_elements(std::int64_t most = 0);

 private:
  [[noreturn]] void fail(std::uint64_t byte, const std::string& message) const {
    throw DataError(where(byte) + ": " + message);
  }
  [[noreturn]] void fail_short(std::uint64_t held) const;
  Header read_header();
  Type read_magic(std::size_t& rank);
  void read_extents(Header& header, std::size_t rank);
  void require_payload();
  void require_end();

  std::filesystem::path file_;
  std::unique_ptr<ByteSource> source_;
  Header header_;
};

Type IdxFile::read_magic(std::size_t& rank) {
  std::array<std::byte, 4> magic{};
  const std::size_t got = source_->read(magic);
  if (got == 0) {
    fail(0, "found an empty file; an IDX file begins with 00 00 TYPE RANK; fetch it again");
  }
  if (got < magic.size()) {
    fail(got,
         "found the end of the file inside the magic number; an IDX file begins with 00 00 "
         "TYPE RANK; fetch it again");
  }
  if (magic[0] != std::byte{0} || magic[1] != std::byte{0}) {
    fail(0, "found magic number " + hex(magic) +
                "; an IDX file, plain or gzip, begins with 00 00 TYPE RANK; give an IDX file");
  }
  rank = std::to_integer<std::size_t>(magic[3]);
  if (rank < 1 || rank > Shape::max_rank) {
    fail(3, "found rank " + std::to_string(rank) + "; allowed are 1 to " +
                std::to_string(Shape::max_rank) + "; store the array with fewer dimensions");
  }
  const auto code = std::to_integer<std::uint8_t>(magic[2]);
  const auto* type = std::find_if(idx_types.begin(), idx_types.end(),
                                  [&](const Type& candidate) { return candidate.code == code; });
  if (type == idx_types.end()) {
    fail(2, "found element type " + hex({&magic[2], 1}) +
                "; allowed are 08 (u8), 09 (i8), 0b (i16), 0c (i32), 0d (f32), 0e (f64); "
                "convert the file");
  }
  return *type;
}

void IdxFile::read_extents(Header& header, std::size_t rank) {
  std::array<std::int64_t, Shape::max_rank> dimensions{};
  std::uint64_t elements = 1;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    std::array<std::byte, 4> raw{};
    const std::size_t got = source_->read(raw);
    if (got < raw.size()) {
      fail(header.bytes + got, "found the end of the file inside the dimensions; rank " +
                                   std::to_string(rank) + " needs " + std::to_string(rank) +
                                   " of 4 bytes each; fetch the file again");
    }
    std::uint64_t extent = 0;
    for (const std::byte byte : raw) {
      extent = (extent << 8) | std::to_integer<std::uint64_t>(byte);
    }
    if (extent == 0) {
      fail(header.bytes,
           "found extent 0 of axis " + std::to_string(axis) +
               "; a data set needs at least one sample with one element; fetch the file again");
    }
    if (elements > max_shape_size / extent) {
      fail(header.bytes, "found extent " + std::to_string(extent) + " of axis " +
                             std::to_string(axis) +
                             ", with which the array exceeds 2^58 elements; the header is damaged; "
                             "fetch the file again");
    }
    elements *= extent;
    dimensions[axis] = static_cast<std::int64_t>(extent);
    header.bytes += raw.size();
  }
  header.payload = elements * header.type.bytes;
  header.shape = Shape(std::span<const std::int64_t>(dimensions.data(), rank));
}

Header IdxFile::read_header() {
  std::size_t rank = 0;
  Header header{.type = read_magic(rank), .shape = {}, .bytes = 4, .payload = 0};
  read_extents(header, rank);
  return header;
}

void IdxFile::fail_short(std::uint64_t held) const {
  fail(header_.bytes + held, "found the end of the file after " + std::to_string(held) +
                                 " bytes of elements; the shape " + header_.shape.text() + " of " +
                                 std::to_string(header_.type.bytes) + "-byte elements needs " +
                                 std::to_string(header_.payload) + "; fetch the file again");
}

/// Refuses a header that promises more than the file holds before anything is allocated for it.
void IdxFile::require_payload() {
  if (!source_->compressed()) {
    const std::uint64_t held = source_->file_bytes() - header_.bytes;
    if (held < header_.payload) {
      fail_short(held);
    }
    return;
  }
  if (header_.payload / header_.type.bytes * size_of(header_.type.dtype) <= trusted_bytes) {
    return;
  }
  if (source_->max_bytes() < header_.payload) {
    fail(header_.bytes, "found the shape " + header_.shape.text() + ", which needs " +
                            std::to_string(header_.payload) + " bytes, in a gzip file of " +
                            std::to_string(source_->file_bytes()) + " bytes that holds at most " +
                            std::to_string(source_->max_bytes()) + "; fetch the file again");
  }
  // A gzip file says how much it holds only by being unpacked: once to count, once to keep.
  const std::uint64_t held = source_->skip(header_.payload);
  if (held < header_.payload) {
    fail_short(held);
  }
  source_ = std::make_unique<ByteSource>(file_);
  source_->skip(header_.bytes);
}

void IdxFile::require_end() {
  if (source_->skip(1) != 0) {
    const std::string more =
        source_->compressed()
            ? "more bytes"
            : std::to_string(source_->file_bytes() - header_.bytes - header_.payload) +
                  " more bytes";
    fail(header_.bytes + header_.payload,
         "found " + more + " after the last element of " + header_.shape.text() +
             "; nothing may follow; the header is damaged or the file is not IDX");
  }
}

/// Element `bytes` wide, big endian, as the bits of an unsigned integer.
std::uint64_t big_endian(const std::byte* bytes, std::size_t count) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) {
    bits = (bits << 8) | std::to_integer<std::uint64_t>(bytes[i]);
  }
  return bits;
}

void convert(const Type& type, std::span<const std::byte> raw, std::byte* out) {
  const std::size_t width = size_of(type.dtype);
  for (std::size_t at = 0; at < raw.size(); at += type.bytes, out += width) {
    const std::uint64_t bits = big_endian(raw.data() + at, type.bytes);
    if (type.code == 0x0E) {
      std::memcpy(out, &bits, width);
      continue;
    }
    auto narrow = static_cast<std::uint32_t>(bits);
    if (type.code == 0x09) {
      narrow = static_cast<std::uint32_t>(std::int32_t{static_cast<std::int8_t>(bits)});
    } else if (type.code == 0x0B) {
      narrow = static_cast<std::uint32_t>(std::int32_t{static_cast<std::int16_t>(bits)});
    }
    std::memcpy(out, &narrow, width);
  }
}

Array IdxFile::read_elements(std::int64_t most) {
  const std::int64_t all = header_.shape[0];
  const std::int64_t wanted = most > 0 ? std::min(most, all) : all;
  const auto count = static_cast<std::size_t>(header_.shape.size() / all * wanted);
  auto memory = allocate_bytes(count * size_of(header_.type.dtype), file_.string());
  const std::size_t payload = count * header_.type.bytes;
  std::size_t done = 0;
  if (header_.type.dtype == DType::u8) {
    done = source_->read({memory.get(), payload});
  } else {
    std::vector<std::byte> raw(std::min<std::size_t>(payload, std::size_t{1} << 16));
    std::byte* out = memory.get();
    while (done < payload) {
      const std::size_t want = std::min(raw.size(), payload - done);
      const std::size_t got = source_->read({raw.data(), want});
      done += got;
      if (got < want) {
        break;
      }
      convert(header_.type, {raw.data(), got}, out);
      out += got / header_.type.bytes * size_of(header_.type.dtype);
    }
  }
  if (done < payload) {
    fail_short(done);
  }
  if (wanted == all) {
    require_end();
  }
  return {header_.type.dtype, header_.shape.without_leading().with_leading(wanted),
          std::move(memory)};
}

void require_label_header(const IdxFile& file, const LoadOptions& options) {
  const Header& header = file.header();
  if (!options.labels.value_or(true)) {
    throw DataError(file.where(2) +
                    ": found labels, but the loss takes numbers; store targets as floats in an "
                    "HDF5, .npy or .npz file, or take a loss of labels such as cross_entropy");
  }
  if (header.type.dtype == DType::f32 || header.type.dtype == DType::f64) {
    throw DataError(file.where(2) + ": found labels of type " +
                    std::string(name_of(header.type.dtype)) +
                    "; labels are integers; use an HDF5 file for regression targets");
  }
  if (header.shape.rank() != 1) {
    throw DataError(file.where(3) + ": found labels of shape " + header.shape.text() +
                    "; labels have rank 1; were the two files exchanged?");
  }
}

Array read_numbers(IdxFile& file, std::int64_t most) {
  Array array = file.read_elements(most);
  require_finite(array, [&](std::int64_t index) { return file.where_element(index); });
  return array;
}

}  // namespace

Array read_idx(const std::filesystem::path& file) {
  IdxFile idx(file);
  return read_numbers(idx, 0);
}

Dataset load_idx(const std::filesystem::path& images, const std::filesystem::path& labels,
                 const LoadOptions& options) {
  require_options(options);
  // The small file first: a mistaken pair of files is found without unpacking the large one.
  IdxFile label_file(labels);
  require_label_header(label_file, options);
  const Array integers = label_file.read_elements();
  Labels checked = to_labels(integers, options.classes,
                             [&](std::int64_t index) { return label_file.where_element(index); });
  Dataset data;
  data.name = images.string();
  IdxFile image_file(images);
  const Array promised{image_file.header().type.dtype, image_file.header().shape, nullptr};
  require_same_count(promised, images.string(), integers, labels.string());
  data.inputs = with_sample_extent(read_numbers(image_file, options.max_samples));
  data.targets = std::move(checked.array);
  data.targets.shape = Shape{data.inputs.samples()};
  data.classes = checked.classes;
  data.input_scale = input_scale(options, data.inputs.dtype);
  data.input_offset = options.input_offset;
  return data;
}

}  // namespace zygos::io
