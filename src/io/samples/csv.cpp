// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/samples/csv.hpp"

#include "io/byte_source.hpp"
#include "io/pending_file.hpp"

#include "zygos/core/error.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace zygos::io {
namespace {

/// A longer line is no line of numbers.
constexpr std::size_t max_line = std::size_t{64} << 20;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \r");
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(" \r") - first + 1);
}

std::optional<double> number_in(std::string_view field) {
  const std::string_view digits = field.starts_with('+') ? field.substr(1) : field;
  double value = 0.0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return problem == std::errc() && end == digits.data() + digits.size() ? std::optional(value)
                                                                        : std::nullopt;
}

/// The lines of a file that are neither empty nor comments.
class Lines {
 public:
  explicit Lines(const std::filesystem::path& file) : name_(file.string()), source_(file) {}

  /// Number of the last line given, from 1.
  std::int64_t number() const noexcept { return number_; }

  std::optional<std::string_view> next() {
    while (true) {
      const std::size_t end = text_.find('\n', begin_);
      if (end == std::string::npos && !ended_) {
        refill();
        continue;
      }
      if (begin_ >= text_.size()) {
        return std::nullopt;
      }
      const std::string_view line = trimmed(std::string_view(text_).substr(
          begin_, end == std::string::npos ? std::string::npos : end - begin_));
      begin_ = end == std::string::npos ? text_.size() : end + 1;
      ++number_;
      if (!line.empty() && line.front() != '#') {
        return line;
      }
    }
  }

 private:
  void refill() {
    constexpr std::size_t piece = std::size_t{1} << 20;
    text_.erase(0, begin_);
    begin_ = 0;
    if (text_.size() > max_line) {
      throw DataError(name_ + ": line " + std::to_string(number_ + 1) + " is longer than " +
                      std::to_string(max_line) + " bytes; is this a text file?");
    }
    const std::size_t before = text_.size();
    text_.resize(before + piece);
    const std::size_t got =
        source_.read(std::as_writable_bytes(std::span(text_).subspan(before, piece)));
    text_.resize(before + got);
    ended_ = got < piece;
  }

  std::string name_;
  ByteSource source_;
  std::string text_;
  std::size_t begin_ = 0;
  std::int64_t number_ = 0;
  bool ended_ = false;
};

class CsvReader final : public SampleReader {
 public:
  explicit CsvReader(const std::filesystem::path& file)
      : file_(file), lines_(std::make_unique<Lines>(file)) {
    std::vector<double> row;
    for (auto line = first_row(); line; line = lines_->next()) {
      row.clear();
      parse(*line, row);
      if (samples_ == 0) {
        columns_ = row.size();
      }
      require_columns(row.size());
      ++samples_;
    }
    if (samples_ == 0) {
      throw DataError(file.string() + ": found no line of numbers; allowed is one sample a line");
    }
    shape_ = Shape{static_cast<std::int64_t>(columns_)};
    lines_ = std::make_unique<Lines>(file);
    next_ = first_row();
  }

  DType dtype() const override { return DType::f64; }
  const Shape& sample_shape() const override { return shape_; }
  std::int64_t samples() const override { return samples_; }

  void read(std::int64_t count, std::byte* out) override {
    auto* to = reinterpret_cast<double*>(out);
    for (std::int64_t i = 0; i < count; ++i) {
      if (!next_) {
        throw IoError(file_.string() + " has changed while it was read");
      }
      row_.clear();
      parse(*next_, row_);
      require_columns(row_.size());
      to = std::copy(row_.begin(), row_.end(), to);
      next_ = lines_->next();
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw DataError(file_.string() + ":" + std::to_string(lines_->number()) + ": " + what);
  }

  /// The first line, unless it has names.
  std::optional<std::string_view> first_row() {
    auto line = lines_->next();
    if (!line) {
      return line;
    }
    separator_ = separator_in(*line);
    bool has_number = false;
    for_each_field(*line, [&](std::string_view field) {
      has_number = has_number || number_in(field).has_value();
    });
    return has_number ? line : lines_->next();
  }

  static char separator_in(std::string_view line) {
    for (const char one : {',', ';', '\t'}) {
      if (line.find(one) != std::string_view::npos) {
        return one;
      }
    }
    return ',';
  }

  template <class F>
  void for_each_field(std::string_view line, const F& f) const {
    while (true) {
      const auto end = line.find(separator_);
      f(trimmed(line.substr(0, end)));
      if (end == std::string_view::npos) {
        return;
      }
      line.remove_prefix(end + 1);
    }
  }

  void parse(std::string_view line, std::vector<double>& row) const {
    for_each_field(line, [&](std::string_view field) {
      const auto value = number_in(field);
      const std::string where = "column " + std::to_string(row.size() + 1) + ": '" +
                                std::string(field.substr(0, 40)) + "'";
      if (!value) {
        refuse(where + " is not a number");
      }
      if (!std::isfinite(*value)) {
        refuse(where + " is not finite");
      }
      row.push_back(*value);
    });
  }

  void require_columns(std::size_t found) const {
    if (found != columns_) {
      refuse("found " + std::to_string(found) + " values where the lines before have " +
             std::to_string(columns_));
    }
  }

  std::filesystem::path file_;
  std::unique_ptr<Lines> lines_;
  char separator_ = ',';
  std::size_t columns_ = 0;
  std::int64_t samples_ = 0;
  Shape shape_;
  std::optional<std::string_view> next_;
  std::vector<double> row_;
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
          append(arrays_[a].dtype, arrays[a], sample * size + i);
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
  void append(DType dtype, const void* array, std::int64_t index) {
    switch (dtype) {
      case DType::f32:
        return append_element<float>(line_, array, index);
      case DType::f64:
        return append_element<double>(line_, array, index);
      case DType::i32:
        return append_element<std::int32_t>(line_, array, index);
      default:
        throw InternalError("no text is written of " + std::string(name_of(dtype)));
    }
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

std::unique_ptr<SampleReader> open_csv(const std::filesystem::path& file) {
  return std::make_unique<CsvReader>(file);
}

std::unique_ptr<ArrayWriter> write_csv(const std::filesystem::path& file, std::int64_t samples,
                                       std::vector<OutputArray> arrays) {
  return std::make_unique<CsvWriter>(file, samples, std::move(arrays));
}

}  // namespace zygos::io
