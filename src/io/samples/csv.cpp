// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/samples/csv.hpp"

#include "io/files/pending_file.hpp"
#include "io/samples/csv_lines.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace zygos::io {
namespace {

/// Samples of f64, read in one pass behind one that counts and checks them.
class CsvReader final : public SampleReader {
 public:
  CsvReader(std::filesystem::path file, const std::vector<std::string>& columns)
      : file_(std::move(file)), columns_(columns) {
    for (open(); table_->has_line(); table_->advance()) {
      for (const std::size_t column : chosen_) {
        static_cast<void>(table_->number(column));
      }
      ++samples_;
    }
    if (samples_ == 0) {
      throw DataError(file_.string() + ": found no line of numbers; allowed is one sample a line");
    }
    shape_ = Shape{std::ssize(chosen_)};
    open();
  }

  DType dtype() const override { return DType::f64; }
  const Shape& sample_shape() const override { return shape_; }
  std::int64_t samples() const override { return samples_; }

  void read(std::int64_t count, std::byte* out) override {
    auto* to = reinterpret_cast<double*>(out);
    for (std::int64_t i = 0; i < count; ++i) {
      if (!table_->has_line()) {
        throw IoError(file_.string() + " has changed while it was read");
      }
      for (const std::size_t column : chosen_) {
        *to++ = table_->number(column);
      }
      table_->advance();
    }
  }

 private:
  /// At the first line of numbers.
  void open() {
    table_ = std::make_unique<CsvTable>(file_, std::nullopt, columns_);
    chosen_.clear();
    if (table_->names().empty() || columns_.empty()) {
      chosen_.resize(table_->columns());
      std::iota(chosen_.begin(), chosen_.end(), std::size_t{0});
    } else {
      std::ranges::transform(columns_, std::back_inserter(chosen_),
                             [&](const std::string& name) { return table_->column_of(name); });
    }
  }

  std::filesystem::path file_;
  std::vector<std::string> columns_;
  std::unique_ptr<CsvTable> table_;
  std::vector<std::size_t> chosen_;
  std::int64_t samples_ = 0;
  Shape shape_;
};

template <class T>
void append_element(std::string& text, const void* array, std::int64_t index) {
  std::array<char, 40> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(),
                                 static_cast<const T*>(array)[index])
                       .ptr;
  text.append(digits.data(), end);
}

class CsvWriter final : public ArrayWriter {
 public:
  CsvWriter(const std::filesystem::path& file, std::int64_t samples,
            std::vector<OutputArray> arrays)
      : out_(file), arrays_(std::move(arrays)), left_(samples) {
    for (const OutputArray& array : arrays_) {
      for (std::int64_t i = 0; i < array.sample.size(); ++i) {
        line_ += line_.empty() ? "" : ",";
        line_ += array.name + (array.sample.rank() == 0 ? "" : std::to_string(i));
      }
    }
    end_line();
  }

  void write(std::int64_t count, std::span<const void* const> arrays) override {
    left_ -= count;
    for (std::int64_t sample = 0; sample < count; ++sample) {
      for (std::size_t a = 0; a < arrays_.size(); ++a) {
        const std::int64_t size = arrays_[a].sample.size();
        for (std::int64_t i = 0; i < size; ++i) {
          line_ += line_.empty() ? "" : ",";
          append(arrays_[a], arrays[a], sample * size + i);
        }
      }
      end_line();
    }
  }
  void commit() override {
    ZYGOS_REQUIRE(left_ == 0, "a table was committed before all samples were written");
    out_.commit();
  }

 private:
  void append(const OutputArray& described, const void* array, std::int64_t index) {
    switch (described.dtype) {
      case DType::f32:
        return append_element<float>(line_, array, index);
      case DType::f64:
        return append_element<double>(line_, array, index);
      case DType::i32:
        return append_integer(described, array, index);
      default:
        throw InternalError("no text is written of " + std::string(name_of(described.dtype)));
    }
  }
  void append_integer(const OutputArray& described, const void* array, std::int64_t index) {
    const auto value = static_cast<const std::int32_t*>(array)[index];
    if (value < 0 || value >= std::ssize(described.names)) {
      return append_element<std::int32_t>(line_, array, index);
    }
    append_text(described.names[static_cast<std::size_t>(value)]);
  }
  /// In quotes where it would not be one field without them.
  void append_text(const std::string& text) {
    if (text.find_first_of(",;\t\"# ") == std::string::npos) {
      line_ += text;
      return;
    }
    line_ += '"';
    for (const char c : text) {
      line_ += c == '"' ? "\"\"" : std::string(1, c);
    }
    line_ += '"';
  }
  void end_line() {
    line_ += '\n';
    out_.write(bytes_of(line_));
    line_.clear();
  }

  PendingBytes out_;
  std::vector<OutputArray> arrays_;
  std::int64_t left_;
  std::string line_;
};

}  // namespace

std::unique_ptr<SampleReader> open_csv(const std::filesystem::path& file,
                                       const std::vector<std::string>& columns) {
  return std::make_unique<CsvReader>(file, columns);
}

std::unique_ptr<ArrayWriter> write_csv(const std::filesystem::path& file, std::int64_t samples,
                                       std::vector<OutputArray> arrays) {
  return std::make_unique<CsvWriter>(file, samples, std::move(arrays));
}

}  // namespace zygos::io
