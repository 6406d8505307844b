// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/io/split.hpp"

#include "io/permutation.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/sample_source.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace zygos::io {
namespace {

/// Samples of a file by their numbers there, which ascend.
class SubsetSource final : public SampleSource {
 public:
  SubsetSource(const Dataset& whole, std::vector<std::uint32_t> ids)
      : whole_(whole), ids_(std::move(ids)) {}

  void read(std::int64_t first, std::int64_t count, std::byte* inputs,
            std::byte* targets) const override {
    const std::size_t input_row = row_bytes(whole_.inputs);
    const std::size_t target_row = row_bytes(whole_.targets);
    for_each_run(first, count, [&](std::int64_t begin, std::int64_t number) {
      whole_.source->read(begin, number, inputs, targets);
      // Here, so that messages have the numbers of the file.
      whole_.source->check(part(begin, number, inputs, targets));
      inputs += static_cast<std::size_t>(number) * input_row;
      targets += static_cast<std::size_t>(number) * target_row;
    });
  }

  void announce(std::int64_t first, std::int64_t count) const override {
    for_each_run(first, count, [&](std::int64_t begin, std::int64_t number) {
      whole_.source->announce(begin, number);
    });
  }

  std::size_t bytes() const override {
    return whole_.source->bytes() + ids_.size() * sizeof(std::uint32_t);
  }

 private:
  static std::size_t row_bytes(const Array& array) {
    return array.bytes() / static_cast<std::size_t>(array.samples());
  }

  template <class F>
  void for_each_run(std::int64_t first, std::int64_t count, const F& f) const {
    const auto ids =
        std::span(ids_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    for (std::size_t begin = 0; begin < ids.size();) {
      std::size_t end = begin + 1;
      while (end < ids.size() && ids[end] == ids[end - 1] + 1) {
        ++end;
      }
      f(std::int64_t{ids[begin]}, static_cast<std::int64_t>(end - begin));
      begin = end;
    }
  }

  Dataset part(std::int64_t first, std::int64_t count, const std::byte* inputs,
               const std::byte* targets) const {
    Dataset out = whole_;
    out.source = nullptr;
    out.first = whole_.first + first;
    out.inputs.shape = whole_.sample_shape().with_leading(count);
    out.inputs.data = {std::shared_ptr<const std::byte>(), inputs};
    out.targets.shape = whole_.target_shape().with_leading(count);
    out.targets.data = {std::shared_ptr<const std::byte>(), targets};
    return out;
  }

  Dataset whole_;
  std::vector<std::uint32_t> ids_;
};

Array rows_at(const Array& array, std::span<const std::uint32_t> ids) {
  Array out = array;
  out.shape = array.shape.without_leading().with_leading(std::ssize(ids));
  out.data = nullptr;
  if (array.data == nullptr) {
    return out;
  }
  const std::size_t row = array.bytes() / static_cast<std::size_t>(array.samples());
  const auto room = allocate_bytes(out.bytes(), "a part of a data set");
  for (std::size_t i = 0; i < ids.size(); ++i) {
    std::memcpy(room.get() + i * row, array.data.get() + ids[i] * row, row);
  }
  out.data = room;
  return out;
}

Dataset samples_at(const Dataset& data, std::vector<std::uint32_t> ids, const char* part) {
  Dataset out = data;
  out.name += part;
  out.inputs = rows_at(data.inputs, ids);
  out.targets = rows_at(data.targets, ids);
  if (data.source != nullptr) {
    out.source = std::make_shared<SubsetSource>(data, std::move(ids));
  }
  return out;
}

}  // namespace

SplitDataset split(const Dataset& data, double share, std::uint64_t seed) {
  if (!(share > 0.0 && share < 1.0)) {
    throw UsageError("a share of " + std::to_string(share) +
                     " cannot be split off; allowed are shares between 0 and 1");
  }
  if (data.size() < 2) {
    throw DataError(data.name +
                    ": found one sample, of which none can be split off; add samples, "
                    "or leave validation out");
  }
  std::vector<std::uint32_t> ids(static_cast<std::size_t>(data.size()));
  permute({seed, RngPurpose::split, 0}, 0, ids);
  const auto wanted = std::llround(share * static_cast<double>(data.size()));
  const auto cut = ids.begin() + std::clamp<std::int64_t>(wanted, 1, data.size() - 1);
  std::vector<std::uint32_t> validation(ids.begin(), cut);
  std::vector<std::uint32_t> training(cut, ids.end());
  std::ranges::sort(validation);
  std::ranges::sort(training);
  return {samples_at(data, std::move(training), " (training part)"),
          samples_at(data, std::move(validation), " (validation part)")};
}

}  // namespace zygos::io
