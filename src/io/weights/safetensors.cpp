// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/weights/safetensors.hpp"

#include "io/files/pending_file.hpp"
#include "io/weights/half.hpp"

#include "zygos/core/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string_view>
#include <utility>

namespace zygos::io {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little endian");

using Json = nlohmann::ordered_json;

constexpr const char* metadata_key = "__metadata__";
/// That of the format itself.
constexpr std::uint64_t max_header_length = 100'000'000;
constexpr std::size_t length_bytes = 8;

struct ElementType {
  std::string_view name;
  DType dtype;
};
constexpr std::array<ElementType, 8> element_types{{{"F64", DType::f64},
                                                    {"F32", DType::f32},
                                                    {"BF16", DType::bf16},
                                                    {"I64", DType::i64},
                                                    {"U64", DType::u64},
                                                    {"I32", DType::i32},
                                                    {"U32", DType::u32},
                                                    {"U8", DType::u8}}};
constexpr std::string_view half_name = "F16";

/// One tensor as the header has it. Places count from the end of the header.
struct Entry {
  std::string name;
  std::string type;
  Shape shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class SafetensorsReader {
 public:
  explicit SafetensorsReader(const std::filesystem::path& file)
      : name_(file.string()), in_(file, std::ios::binary), bytes_(size_of_file(file)) {
    if (!in_) {
      throw IoError(name_ + ": cannot be opened for reading");
    }
  }

  WeightFile read() {
    const std::string header = read_header();
    const Json parsed = Json::parse(header, nullptr, false);
    if (!parsed.is_object()) {
      refuse("the header of " + std::to_string(header.size()) + " bytes is no JSON object");
    }
    WeightFile out;
    std::vector<Entry> entries;
    for (const auto& [name, value] : parsed.items()) {
      if (name == metadata_key) {
        out.metadata = metadata_in(value);
      } else {
        entries.push_back(entry_in(name, value));
      }
    }
    require_dense(entries, bytes_ - length_bytes - header.size());
    for (const Entry& entry : entries) {
      take(entry, length_bytes + header.size(), out);
    }
    return out;
  }

 private:
  [[noreturn]] void refuse(const std::string& found) const {
    throw DataError(name_ + ": " + found + "; allowed are whole files in safetensors format");
  }

  std::uint64_t size_of_file(const std::filesystem::path& file) const {
    std::error_code problem;
    const auto bytes = std::filesystem::file_size(file, problem);
    if (problem) {
      throw IoError(name_ + ": " + problem.message());
    }
    return bytes;
  }

  void read_bytes(std::uint64_t at, std::span<std::byte> out) {
    in_.seekg(static_cast<std::streamoff>(at));
    in_.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
    if (!in_) {
      throw IoError(name_ + ": cannot read " + std::to_string(out.size()) + " bytes from byte " +
                    std::to_string(at) + " on");
    }
  }

  std::string read_header() {
    std::uint64_t length = 0;
    if (bytes_ < length_bytes) {
      refuse("found " + std::to_string(bytes_) + " bytes");
    }
    read_bytes(0, std::as_writable_bytes(std::span(&length, 1)));
    if (length > max_header_length || length > bytes_ - length_bytes) {
      refuse("found a header of " + std::to_string(length) + " bytes in a file of " +
             std::to_string(bytes_));
    }
    std::string header(length, '\0');
    read_bytes(length_bytes, std::as_writable_bytes(std::span(header)));
    return header;
  }

  std::map<std::string, std::string> metadata_in(const Json& value) const {
    std::map<std::string, std::string> metadata;
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) {
        refuse("the metadata '" + key + "' is no text");
      }
      metadata[key] = text.get<std::string>();
    }
    return metadata;
  }

  Entry entry_in(const std::string& name, const Json& value) const {
    try {
      const auto dimensions = value.at("shape").get<std::vector<std::int64_t>>();
      const auto place = value.at("data_offsets").get<std::array<std::uint64_t, 2>>();
      return {name, value.at("dtype").get<std::string>(), Shape(dimensions), place[0], place[1]};
    } catch (const nlohmann::json::exception&) {
      refuse("the header's entry of tensor '" + name + "' lacks dtype, shape or data_offsets");
    } catch (const UsageError& problem) {
      refuse("tensor '" + name + "': " + problem.what());
    }
  }

  /// Tensors follow each other without gaps to the end of the file.
  void require_dense(std::vector<Entry> entries, std::uint64_t bytes) const {
    std::ranges::sort(entries, {},
                      [](const Entry& entry) { return std::pair(entry.begin, entry.end); });
    std::uint64_t at = 0;
    for (const Entry& entry : entries) {
      if (entry.begin != at || entry.end < entry.begin || entry.end > bytes) {
        refuse("tensor '" + entry.name + "' lies at bytes " + std::to_string(entry.begin) + " to " +
               std::to_string(entry.end) + ", where byte " + std::to_string(at) + " of " +
               std::to_string(bytes) + " is the next one");
      }
      at = entry.end;
    }
    if (at != bytes) {
      refuse("found " + std::to_string(bytes - at) + " bytes behind the last tensor");
    }
  }

  void take(const Entry& entry, std::uint64_t begin, WeightFile& out) {
    const auto* known = std::ranges::find(element_types, entry.type, &ElementType::name);
    const bool half = entry.type == half_name;
    if (known == element_types.end() && !half) {
      out.unreadable[entry.name] = entry.type;
      return;
    }
    const std::size_t element = half ? 2 : size_of(known->dtype);
    const std::uint64_t stored = entry.end - entry.begin;
    if (stored != static_cast<std::uint64_t>(entry.shape.size()) * element) {
      refuse("tensor '" + entry.name + "' of type " + entry.type + " and shape " +
             entry.shape.text() + " has " + std::to_string(stored) + " bytes");
    }
    std::vector<std::byte> bytes(stored);
    read_bytes(begin + entry.begin, bytes);
    out.tensors.push_back({entry.name, half ? DType::f32 : known->dtype, entry.shape,
                           half ? widened(bytes) : std::move(bytes)});
  }

  std::string name_;
  std::ifstream in_;
  std::uint64_t bytes_;
};

std::string_view type_name(DType dtype) {
  return std::ranges::find(element_types, dtype, &ElementType::dtype)->name;
}

std::uint64_t bytes_of(const TensorRef& tensor) {
  return static_cast<std::uint64_t>(tensor.shape.size()) * size_of(tensor.dtype);
}

}  // namespace

WeightFile read_safetensors(const std::filesystem::path& file) {
  return SafetensorsReader(file).read();
}

void write_safetensors(const std::filesystem::path& file, std::span<const TensorRef> tensors,
                       const std::map<std::string, std::string>& metadata) {
  // Wide elements first, as the reference implementation does, so that every tensor is aligned.
  std::vector<const TensorRef*> order;
  for (const TensorRef& tensor : tensors) {
    order.push_back(&tensor);
  }
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const TensorRef* tensor) { return size_of(tensor->dtype); });
  Json header = Json::object();
  if (!metadata.empty()) {
    header[metadata_key] = metadata;
  }
  std::uint64_t at = 0;
  for (const TensorRef* tensor : order) {
    const auto dimensions = tensor->shape.dimensions();
    header[tensor->name] = {{"dtype", type_name(tensor->dtype)},
                            {"shape", std::vector(dimensions.begin(), dimensions.end())},
                            {"data_offsets", {at, at + bytes_of(*tensor)}}};
    at += bytes_of(*tensor);
  }
  std::string text = header.dump();
  text.resize((text.size() + length_bytes - 1) / length_bytes * length_bytes, ' ');
  const std::uint64_t length = text.size();
  PendingBytes out(file);
  out.write(std::as_bytes(std::span(&length, 1)));
  out.write(std::as_bytes(std::span(text)));
  for (const TensorRef* tensor : order) {
    out.write({static_cast<const std::byte*>(tensor->data), bytes_of(*tensor)});
  }
  out.commit();
}

}  // namespace zygos::io
