// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/checkpoint/checkpoint_manifest.hpp"

#include "zygos/core/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace zygos::io {

namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& cause) { throw CheckpointError(cause); }

/// The deepest manifest that this version writes is an extent in a shape in a tensor in a list.
constexpr int depth_limit = 8;

Json parse_json(std::string_view text) {
  bool too_deep = false;
  const auto watch_depth = [&](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > depth_limit;
    return !too_deep;
  };
  Json json = Json::parse(text.begin(), text.end(), watch_depth, false);
  if (too_deep || !json.is_object()) {
    refuse("is not a JSON object as Zygos writes it");
  }
  return json;
}

const Json& member(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (!object.is_object() || found == object.end()) {
    refuse(fmt::format("lacks the entry '{}'", key));
  }
  return *found;
}

std::string text_of(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (!value.is_string()) {
    refuse(fmt::format("entry '{}' is not a string", key));
  }
  return value.get<std::string>();
}

std::int64_t number_in(const Json& value, const char* key) {
  const bool fits = value.is_number_unsigned() &&
                    value.get<std::uint64_t>() <=
                        static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!fits) {
    refuse(fmt::format("entry '{}' is not a whole number from 0 to 2^63 - 1", key));
  }
  return value.get<std::int64_t>();
}

std::int64_t number_of(const Json& object, const char* key) {
  return number_in(member(object, key), key);
}

const Json& list_of(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (!value.is_array()) {
    refuse(fmt::format("entry '{}' is not a list", key));
  }
  return value;
}

void require_format(const Json& json) {
  if (text_of(json, "format") != checkpoint_format) {
    refuse(fmt::format("entry 'format' is not '{}'", checkpoint_format));
  }
  const std::int64_t version = number_of(json, "format_version");
  if (version < 1 || version > checkpoint_format_version) {
    refuse(fmt::format(
        "has format version {}, this program reads version {} and those before it; it was written "
        "by Zygos {}",
        version, checkpoint_format_version, text_of(json, "library_version")));
  }
}

Facts parse_facts(const Json& json) {
  const Json& object = member(json, "facts");
  if (!object.is_object()) {
    refuse("entry 'facts' is not an object");
  }
  Facts facts;
  for (const auto& [key, value] : object.items()) {
    if (!value.is_string()) {
      refuse(fmt::format("fact '{}' is not a string", key));
    }
    facts[key] = value.get<std::string>();
  }
  return facts;
}

bool is_data_file_name(const std::string& name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  return name.size() <= 128 && name.ends_with(".h5") && name.front() != '.' &&
         std::ranges::all_of(name, allowed);
}

std::vector<FileEntry> parse_files(const Json& json) {
  std::vector<FileEntry> files;
  std::set<std::string> seen;
  for (const Json& entry : list_of(json, "files")) {
    FileEntry file;
    file.name = text_of(entry, "name");
    file.bytes = static_cast<std::uint64_t>(number_of(entry, "bytes"));
    file.sha256 = text_of(entry, "sha256");
    if (!is_data_file_name(file.name) || !seen.insert(file.name).second) {
      refuse(fmt::format("lists a file '{}': not the name of an HDF5 file, or twice", file.name));
    }
    files.push_back(std::move(file));
  }
  return files;
}

Shape parse_shape(const Json& entry) {
  std::array<std::int64_t, Shape::max_rank> dimensions{};
  std::size_t rank = 0;
  for (const Json& extent : list_of(entry, "shape")) {
    if (rank == dimensions.size()) {
      refuse(fmt::format("a shape has more than {} dimensions", Shape::max_rank));
    }
    dimensions[rank++] = number_in(extent, "shape");
  }
  return Shape(std::span<const std::int64_t>(dimensions.data(), rank));
}

TensorEntry parse_tensor(const Json& entry) {
  TensorEntry tensor;
  tensor.name = text_of(entry, "name");
  try {
    require_tensor_name(tensor.name);
    tensor.dtype = dtype_from_name(text_of(entry, "dtype"));
    tensor.shape = parse_shape(entry);
    static_cast<void>(tensor.bytes());
  } catch (const UsageError& error) {
    refuse(fmt::format("tensor '{}': {}", tensor.name, error.what()));
  }
  tensor.file = text_of(entry, "file");
  tensor.xxh3_64 = text_of(entry, "xxh3_64");
  return tensor;
}

std::vector<TensorEntry> parse_tensors(const Json& json, const std::vector<FileEntry>& files) {
  std::vector<TensorEntry> tensors;
  std::set<std::string> seen;
  for (const Json& entry : list_of(json, "tensors")) {
    TensorEntry tensor = parse_tensor(entry);
    if (!seen.insert(tensor.name).second) {
      refuse(fmt::format("lists tensor '{}' twice", tensor.name));
    }
    if (std::ranges::find(files, tensor.file, &FileEntry::name) == files.end()) {
      refuse(fmt::format("tensor '{}' is in '{}', which is not listed", tensor.name, tensor.file));
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// Texts as Json::dump(1) has them. Not made by it: values of that class allocate when they are
// destroyed, and a process ends if there is no memory for that.

using Texts = std::vector<std::string>;

/// Throws Json::type_error for text that is not UTF-8.
std::string quoted(const std::string& text) { return Json(text).dump(); }

std::string member_text(const std::string& name, const std::string& value) {
  return quoted(name) + ": " + value;
}

/// Elements of an object or a list, each on its own line; `depth` is that of its first line.
std::string enclosed(std::string_view brackets, const Texts& elements, std::size_t depth) {
  if (elements.empty()) {
    return std::string(brackets);
  }
  std::string text(1, brackets[0]);
  for (const std::string& element : elements) {
    text += (text.size() > 1 ? ",\n" : "\n") + std::string(depth + 1, ' ') + element;
  }
  return text + "\n" + std::string(depth, ' ') + brackets[1];
}

std::string facts_text(const Facts& facts) {
  Texts members;
  for (const auto& [key, value] : facts) {
    members.push_back(member_text(key, quoted(value)));
  }
  return enclosed("{}", members, 1);
}

std::string files_text(const std::vector<FileEntry>& files) {
  Texts entries;
  for (const FileEntry& file : files) {
    const Texts members{member_text("name", quoted(file.name)),
                        member_text("bytes", std::to_string(file.bytes)),
                        member_text("sha256", quoted(file.sha256))};
    entries.push_back(enclosed("{}", members, 2));
  }
  return enclosed("[]", entries, 1);
}

std::string tensors_text(const std::vector<TensorEntry>& tensors) {
  Texts entries;
  for (const TensorEntry& tensor : tensors) {
    Texts shape;
    for (const std::int64_t extent : tensor.shape.dimensions()) {
      shape.push_back(std::to_string(extent));
    }
    const Texts members{member_text("name", quoted(tensor.name)),
                        member_text("dtype", quoted(std::string(name_of(tensor.dtype)))),
                        member_text("shape", enclosed("[]", shape, 3)),
                        member_text("file", quoted(tensor.file)),
                        member_text("xxh3_64", quoted(tensor.xxh3_64))};
    entries.push_back(enclosed("{}", members, 2));
  }
  return enclosed("[]", entries, 1);
}

}  // namespace

std::size_t byte_count(DType dtype, const Shape& shape) {
  const auto elements = static_cast<std::uint64_t>(shape.size());
  if (elements >
      static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max()) / size_of(dtype)) {
    throw UsageError(fmt::format("a tensor of shape {} and type {} does not fit into any memory",
                                 shape.text(), name_of(dtype)));
  }
  return static_cast<std::size_t>(elements) * size_of(dtype);
}

std::size_t TensorEntry::bytes() const { return byte_count(dtype, shape); }

void require_tensor_name(const std::string& name) {
  bool good = !name.empty() && name.size() <= 1024;
  for (const char c : name) {
    good = good && static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
  }
  for (std::size_t begin = 0; good && begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view segment = std::string_view(name).substr(begin, end - begin);
    good = !segment.empty() && segment != "." && segment != "..";
    begin = end + 1;
  }
  if (!good) {
    throw UsageError(fmt::format(
        "'{}' can't name a tensor of a checkpoint; allowed are 1 to 1024 bytes without control "
        "characters, in parts between '/' that are neither empty nor '.' nor '..'",
        name));
  }
}

std::string manifest_text(const Manifest& manifest) {
  try {
    const Texts members{member_text("format", quoted(std::string(checkpoint_format))),
                        member_text("format_version", std::to_string(checkpoint_format_version)),
                        member_text("library_version", quoted(manifest.library_version)),
                        member_text("step", std::to_string(manifest.step)),
                        member_text("facts", facts_text(manifest.facts)),
                        member_text("files", files_text(manifest.files)),
                        member_text("tensors", tensors_text(manifest.tensors))};
    return enclosed("{}", members, 0) + "\n";
  } catch (const Json::type_error&) {
    throw UsageError("a fact or a tensor's name for a checkpoint is not valid UTF-8");
  }
}

Manifest parse_manifest(std::string_view text) {
  const Json json = parse_json(text);
  require_format(json);
  Manifest manifest;
  manifest.library_version = text_of(json, "library_version");
  manifest.step = number_of(json, "step");
  manifest.facts = parse_facts(json);
  manifest.files = parse_files(json);
  manifest.tensors = parse_tensors(json, manifest.files);
  return manifest;
}

std::string sums_text(const Manifest& manifest, std::string_view manifest_sha256) {
  std::string text;
  for (const FileEntry& file : manifest.files) {
    text += fmt::format("{}  {}\n", file.sha256, file.name);
  }
  return text + fmt::format("{}  {}\n", manifest_sha256, manifest_name);
}

}  // namespace zygos::io
