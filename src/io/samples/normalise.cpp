// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/io/normalise.hpp"

#include "zygos/io/batching.hpp"
#include "zygos/io/sample_source.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace zygos::io {
namespace {

/// Numbers are looked at in pieces of about so many.
constexpr std::int64_t piece_elements = std::int64_t{1} << 20;

/// Sums of squares are about the running mean (Welford, 1962).
struct Column {
  std::int64_t count = 0;
  double mean = 0.0;
  double deviation = 0.0;
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  void add(double value) {
    const double before = value - mean;
    mean += before / static_cast<double>(++count);
    deviation += before * (value - mean);
    least = std::min(least, value);
    most = std::max(most, value);
  }
  double shift(Normalisation how) const { return how == Normalisation::standard ? mean : least; }
  double scale(Normalisation how) const {
    const double width = how == Normalisation::standard
                             ? std::sqrt(deviation / static_cast<double>(count))
                             : most - least;
    // The rounding of a mean is no spread.
    const double noise =
        std::numeric_limits<double>::epsilon() * 16.0 * std::max(std::abs(least), std::abs(most));
    return width > noise ? width : 1.0;
  }
};

/// `rows_in`: of a part of the set in memory.
template <class RowsIn>
Standards standards_of(const Dataset& data, const Shape& sample, Normalisation how,
                       const RowsIn& rows_in) {
  const std::int64_t width = std::max<std::int64_t>(sample.size(), 1);
  const auto columns = static_cast<std::size_t>(sample.rank() == 0 ? 1 : sample[0]);
  const std::size_t run = static_cast<std::size_t>(width) / columns;
  std::vector<Column> found(columns);
  const std::int64_t most = std::max<std::int64_t>(piece_elements / width, 1);
  std::vector<std::uint32_t> ids;
  std::vector<double> values;
  for (std::int64_t first = 0; first < data.size(); first += most) {
    const Dataset part = samples_in_memory(data, first, std::min(most, data.size() - first));
    ids.resize(static_cast<std::size_t>(part.size()));
    std::iota(ids.begin(), ids.end(), 0U);
    values.resize(ids.size() * static_cast<std::size_t>(width));
    gather(rows_in(part), ids, values.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      found[i / run % columns].add(values[i]);
    }
  }
  Standards standards;
  for (const Column& column : found) {
    standards.shift.push_back(column.shift(how));
    standards.scale.push_back(column.scale(how));
  }
  return standards;
}

}  // namespace

Standards input_standards(const Dataset& data, Normalisation how) {
  return standards_of(data, data.sample_shape(), how,
                      [](const Dataset& part) { return rows_of(part).inputs; });
}

Standards target_standards(const Dataset& data, Normalisation how) {
  return standards_of(data, data.target_shape(), how,
                      [](const Dataset& part) { return rows_of(part).targets; });
}

}  // namespace zygos::io
