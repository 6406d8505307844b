// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/samples/npy_header.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <vector>

namespace zygos::io {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
/// What NumPy itself writes is shorter by far.
constexpr std::size_t max_header_bytes = 4096;
constexpr std::size_t alignment = 64;

struct NpyType {
  std::string_view name;
  DType dtype;
};
constexpr std::array<NpyType, 7> npy_types{{{"<f4", DType::f32},
                                            {"<f8", DType::f64},
                                            {"|u1", DType::u8},
                                            {"<i4", DType::i32},
                                            {"<i8", DType::i64},
                                            {"<u4", DType::u32},
                                            {"<u8", DType::u64}}};

[[noreturn]] void refuse(const std::string& name, const std::string& found,
                         const std::string& remedy) {
  throw DataError(name + ": " + found + "; " + remedy);
}

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

/// The Python dictionary that describes the array.
std::string dictionary_of(const std::string& name,
                          const std::function<std::string(std::size_t)>& take) {
  const auto next = [&](std::size_t bytes) {
    std::string text = take(bytes);
    if (text.size() != bytes) {
      refuse(name, "found the end of the file in its header", "allowed are files of numpy.save");
    }
    return text;
  };
  const std::string start = next(magic.size() + 2);
  const int version = start[magic.size()];
  if (!start.starts_with(magic) || version < 1 || version > 3) {
    refuse(name, "is no NumPy array", "allowed are files of numpy.save");
  }
  const std::string length = next(version == 1 ? 2 : 4);
  std::size_t bytes = 0;
  for (std::size_t i = length.size(); i-- > 0;) {
    bytes = bytes << 8U | static_cast<unsigned char>(length[i]);
  }
  if (bytes > max_header_bytes) {
    refuse(name, "found a header of " + std::to_string(bytes) + " bytes",
           "allowed are plain arrays of numbers");
  }
  return next(bytes);
}

}  // namespace

NpyHeader read_npy_header(const std::string& name,
                          const std::function<std::string(std::size_t)>& take) {
  const std::string text = dictionary_of(name, take);
  NpyHeader header;
  const std::string type = value_of(text, "'descr'", "',");
  header.type = type.size() > 2 ? type.substr(1, type.size() - 2) : "unknown";
  const auto* known = std::ranges::find(npy_types, header.type, &NpyType::name);
  if (known != npy_types.end()) {
    header.dtype = known->dtype;
  }
  const std::string order = value_of(text, "'fortran_order'", ",");
  header.fortran_order = order != "False,";
  const auto dimensions = integers_in(value_of(text, "'shape'", ")"));
  if (dimensions.size() > Shape::max_rank) {
    refuse(name, "found an array of rank " + std::to_string(dimensions.size()),
           "allowed are ranks up to " + std::to_string(Shape::max_rank));
  }
  try {
    header.shape = Shape(dimensions);
  } catch (const UsageError& problem) {
    refuse(name, problem.what(), "store the array anew");
  }
  return header;
}

std::string npy_header(DType dtype, const Shape& shape) {
  const auto* type = std::ranges::find(npy_types, dtype, &NpyType::dtype);
  if (type == npy_types.end()) {
    throw UsageError("NumPy has no elements of type " + std::string(name_of(dtype)) +
                     "; write f32");
  }
  std::string text =
      "{'descr': '" + std::string(type->name) + "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t extent : shape.dimensions()) {
    text += std::to_string(extent) + ",";
  }
  text += "), }";
  const std::size_t before = magic.size() + 4;
  text.resize((before + text.size() + 1 + alignment - 1) / alignment * alignment - before, ' ');
  text.back() = '\n';
  std::string header(magic);
  header += {'\x01', '\x00', static_cast<char>(text.size() & 0xFFU),
             static_cast<char>(text.size() >> 8U)};
  return header + text;
}

}  // namespace zygos::io
