// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "insitu/kernels/ensemble_kernels.hpp"

#include "ops/common/launch.hpp"

#include "zygos/lane/dispatch.hpp"

#include <algorithm>

namespace zygos::insitu {
namespace {

struct CombineMembers {
  Predictions predictions;
  const double* scales;
  Columns mean;
  Columns spread;

  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    const auto sample = static_cast<std::int64_t>(i);
    const auto members = static_cast<double>(predictions.members);
    double variances = 0.0;
    mean.for_each(sample, [&](std::int64_t column, const Part& part, std::int64_t at) {
      double sum = 0.0;
      for (std::int64_t k = 0; k < predictions.members; ++k) {
        sum += predictions.get(k, sample, column, mean.width);
      }
      const double middle = sum / members;
      double squares = 0.0;
      for (std::int64_t k = 0; k < predictions.members; ++k) {
        const double off =
            (predictions.get(k, sample, column, mean.width) - middle) / scales[column];
        squares += off * off;
      }
      variances += squares / (members - 1.0);
      store(part.data, part.dtype, at, middle);
    });
    if (spread.count == 0) {
      return;
    }
    const Part& part = spread.parts[0];
    store(part.data, part.dtype, part.at(sample, 0),
          Kokkos::sqrt(variances / static_cast<double>(mean.width)));
  }
};

}  // namespace

void combine_members(const lane::Execution& execution, const Predictions& predictions,
                     const double* scales, const Columns& mean, const Columns& spread) {
  const std::int64_t numbers = std::max<std::int64_t>(predictions.members * mean.width, 1);
  const std::size_t worth_a_core = ops::chunk::medium / static_cast<std::size_t>(numbers);
  lane::dispatch(execution, [&](const auto& exec) {
    ops::for_each_element(
        "zygos::insitu::combine_members", exec, static_cast<std::size_t>(mean.samples),
        std::max<std::size_t>(worth_a_core, 1), CombineMembers{predictions, scales, mean, spread});
  });
}

}  // namespace zygos::insitu
