// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/weights/npz.hpp"

#include "io/byte_source.hpp"
#include "io/files/pending_file.hpp"
#include "io/samples/npy_elements.hpp"

#include "zygos/core/error.hpp"

#include <zip.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace zygos::io {
namespace {

constexpr std::string_view array_ending = ".npy";
/// 1980-01-02, about the first moment that an archive can hold, so that equal arrays make equal
/// files.
constexpr std::time_t fixed_time = 315'619'200;

struct Discard {
  void operator()(zip_t* archive) const noexcept { zip_discard(archive); }
  void operator()(zip_file_t* member) const noexcept { zip_fclose(member); }
};
using Archive = std::unique_ptr<zip_t, Discard>;
using Member = std::unique_ptr<zip_file_t, Discard>;

std::string message_of(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

Archive open_archive(const std::filesystem::path& file, int flags) {
  int problem = 0;
  Archive archive(zip_open(file.c_str(), flags, &problem));
  if (archive) {
    return archive;
  }
  const std::string text = file.string() + ": " + message_of(problem);
  if (problem == ZIP_ER_NOZIP || problem == ZIP_ER_INCONS) {
    throw DataError(text + "; allowed are files of numpy.savez");
  }
  throw IoError(text);
}

/// One array of an archive.
class ArrayReader {
 public:
  ArrayReader(zip_t* archive, std::uint64_t index, std::string name)
      : name_(std::move(name)), member_(zip_fopen_index(archive, index, 0)) {
    zip_stat_t facts;
    zip_stat_init(&facts);
    if (!member_ || zip_stat_index(archive, index, 0, &facts) != 0 ||
        (facts.valid & ZIP_STAT_SIZE) == 0 || (facts.valid & ZIP_STAT_COMP_SIZE) == 0) {
      throw DataError(name_ + ": " + zip_strerror(archive));
    }
    left_ = facts.size;
    packed_bytes_ = facts.comp_size;
  }

  NpyHeader header() {
    return read_npy_header(name_, [this](std::size_t bytes) {
      std::string text(bytes, '\0');
      text.resize(read(std::as_writable_bytes(std::span(text))));
      return text;
    });
  }

  /// The elements as stored, to the end of the member, which also verifies its check sum.
  std::vector<std::byte> elements(const NpyHeader& header, std::size_t element_bytes) {
    const std::uint64_t wanted = static_cast<std::uint64_t>(header.shape.size()) * element_bytes;
    if (wanted != left_ || wanted / deflate_ratio > packed_bytes_) {
      throw DataError(name_ + ": found " + std::to_string(left_) + " bytes for an array of shape " +
                      header.shape.text() + "; complete the file");
    }
    std::vector<std::byte> bytes(wanted);
    std::byte past_end{};
    if (read(bytes) != wanted || read({&past_end, 1}) != 0) {
      throw DataError(name_ + ": found the end of the array too early; complete the file");
    }
    return bytes;
  }

 private:
  std::size_t read(std::span<std::byte> out) {
    std::size_t done = 0;
    while (done < out.size()) {
      const auto got = zip_fread(member_.get(), out.data() + done, out.size() - done);
      if (got < 0) {
        throw DataError(name_ + ": " + zip_file_strerror(member_.get()) +
                        "; the file is damaged, copy it anew");
      }
      if (got == 0) {
        break;
      }
      done += static_cast<std::size_t>(got);
    }
    left_ -= std::min<std::uint64_t>(left_, done);
    return done;
  }

  std::string name_;
  Member member_;
  std::uint64_t left_ = 0;
  std::uint64_t packed_bytes_ = 0;
};

void read_array(ArrayReader& reader, std::string name, WeightFile& out) {
  const NpyHeader header = reader.header();
  const auto bytes = element_bytes(header);
  if (!bytes) {
    out.unreadable[std::move(name)] = header.type;
    return;
  }
  out.tensors.push_back(tensor_of(std::move(name), header, reader.elements(header, *bytes)));
}

}  // namespace

WeightFile read_npz(const std::filesystem::path& file, const std::vector<std::string>& only) {
  const Archive archive = open_archive(file, ZIP_RDONLY | ZIP_CHECKCONS);
  WeightFile out;
  const auto members = zip_get_num_entries(archive.get(), 0);
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(members); ++i) {
    const char* const given = zip_get_name(archive.get(), i, 0);
    std::string name = given == nullptr ? "" : given;
    if (!name.ends_with(array_ending)) {
      throw DataError(file.string() + ": found '" + name +
                      "', which is no array; allowed are files of numpy.savez");
    }
    name.resize(name.size() - array_ending.size());
    if (!only.empty() && std::ranges::find(only, name) == only.end()) {
      continue;
    }
    ArrayReader reader(archive.get(), i, file.string() + ": array '" + name + "'");
    read_array(reader, std::move(name), out);
  }
  return out;
}

namespace {

void add_array(zip_t* archive, const TensorRef& tensor, const std::string& header) {
  const std::array<zip_buffer_fragment_t, 2> pieces{
      {{reinterpret_cast<zip_uint8_t*>(const_cast<char*>(header.data())), header.size()},
       {static_cast<zip_uint8_t*>(const_cast<void*>(tensor.data)),
        static_cast<std::uint64_t>(tensor.shape.size()) * size_of(tensor.dtype)}}};
  zip_source_t* const source = zip_source_buffer_fragment(archive, pieces.data(), pieces.size(), 0);
  if (source == nullptr) {
    throw IoError(zip_strerror(archive));
  }
  const auto index = zip_file_add(archive, (tensor.name + std::string(array_ending)).c_str(),
                                  source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    throw IoError(zip_strerror(archive));
  }
  // As numpy.savez does: floating-point numbers hardly get smaller.
  zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
  zip_file_set_mtime(archive, static_cast<zip_uint64_t>(index), fixed_time, 0);
}

}  // namespace

void write_npz(const std::filesystem::path& file, std::span<const TensorRef> tensors) {
  std::vector<std::string> headers;  // read until the archive is closed
  for (const TensorRef& tensor : tensors) {
    headers.push_back(npy_header(tensor.dtype, tensor.shape));
  }
  PendingFile pending(file);
  Archive archive = open_archive(pending.beside(), ZIP_CREATE | ZIP_TRUNCATE);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    add_array(archive.get(), tensors[i], headers[i]);
  }
  if (zip_close(archive.get()) != 0) {
    throw IoError(file.string() + ": " + zip_strerror(archive.get()));
  }
  static_cast<void>(archive.release());
  pending.commit();
}

}  // namespace zygos::io
