// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "insitu/kernels/sample_kernels.hpp"

#include "ops/common/launch.hpp"

#include "zygos/lane/dispatch.hpp"

#include <algorithm>

namespace zygos::insitu {
namespace {

struct ReadSample {
  Columns from;
  Standards standards;
  Rows to;

  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    const auto sample = static_cast<std::int64_t>(i);
    from.for_each(sample, [&](std::int64_t column, const Part& part, std::int64_t at) {
      const double value = load(part.data, part.dtype, at) - standards.shift[column];
      to.set(sample, column, value / standards.scale[column]);
    });
  }
};

struct WriteSample {
  Rows from;
  Standards standards;
  Columns to;

  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    const auto sample = static_cast<std::int64_t>(i);
    to.for_each(sample, [&](std::int64_t column, const Part& part, std::int64_t at) {
      const double value = from.get(sample, column) * standards.scale[column];
      store(part.data, part.dtype, at, value + standards.shift[column]);
    });
  }
};

struct AddErrors {
  Rows prediction;
  Rows target;
  Standards standards;
  const double* losses;
  std::int64_t rows;
  ErrorSums* sums;

  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    const auto column = static_cast<std::int64_t>(i);
    ErrorSums sum = sums[column];
    double squares = 0.0;
    for (std::int64_t row = 0; row < rows; ++row) {
      const double wanted = target.get(row, column);
      const double error = prediction.get(row, column) - wanted;
      squares += error * error;
      sum.targets += wanted;
      sum.squared_targets += wanted * wanted;
      sum.losses += column == 0 ? losses[row] : 0.0;
    }
    sum.squares += squares;
    sum.physical += squares * standards.scale[column] * standards.scale[column];
    sums[column] = sum;
  }
};

/// Samples of so many columns that keep a core busy for longer than waking it takes.
std::size_t samples_worth_a_core(std::int64_t width) {
  const auto columns = static_cast<std::size_t>(std::max<std::int64_t>(width, 1));
  return std::max<std::size_t>(ops::chunk::medium / columns, 1);
}

}  // namespace

void read_samples(const lane::Execution& execution, const Columns& from, const Standards& standards,
                  const Rows& to) {
  lane::dispatch(execution, [&](const auto& exec) {
    ops::for_each_element("zygos::insitu::read_samples", exec,
                          static_cast<std::size_t>(from.samples), samples_worth_a_core(from.width),
                          ReadSample{from, standards, to});
  });
}

void write_samples(const lane::Execution& execution, const Rows& from, const Standards& standards,
                   const Columns& to) {
  lane::dispatch(execution, [&](const auto& exec) {
    ops::for_each_element("zygos::insitu::write_samples", exec,
                          static_cast<std::size_t>(to.samples), samples_worth_a_core(to.width),
                          WriteSample{from, standards, to});
  });
}

void add_errors(const lane::Execution& execution, const Rows& prediction, const Rows& target,
                const Standards& standards, const double* losses, std::int64_t rows,
                ErrorSums* sums) {
  lane::dispatch(execution, [&](const auto& exec) {
    ops::for_each_element("zygos::insitu::add_errors", exec,
                          static_cast<std::size_t>(prediction.width), std::size_t{8},
                          AddErrors{prediction, target, standards, losses, rows, sums});
  });
}

}  // namespace zygos::insitu
