// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/roof_meter.hpp"

#include "ops/gemm.hpp"
#include "train/flat_ops.hpp"
#include "train/median.hpp"

#include "zygos/core/error.hpp"
#include "zygos/lane/dispatch.hpp"
#include "zygos/tensor/initialiser.hpp"
#include "zygos/tensor/views.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <string>

namespace zygos::train {
namespace {

const std::string label = "zygos::train::roof";

constexpr std::int64_t product_side = 2048;
constexpr std::size_t sum_bytes = std::size_t{128} << 20;
constexpr std::size_t least_sum_bytes = std::size_t{1} << 20;

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Appends `work_done` over the seconds of each of many repetitions (one at least), on the lane.
void sample_rate(lane::Lane& lane, double work_done, double seconds,
                 const std::function<void()>& work, std::vector<double>& rates) {
  lane.run_and_wait([&] {
    work();
    lane.fence(label);
    const auto begin = std::chrono::steady_clock::now();
    do {
      const auto start = std::chrono::steady_clock::now();
      work();
      lane.fence(label);
      rates.push_back(work_done / since(start));
    } while (since(begin) < seconds);
  });
}

void multiply(const lane::Execution& execution, const Tensor& a, const Tensor& b, const Tensor& c) {
  lane::dispatch(execution, c.dtype(), [&](const auto& exec, auto type) {
    using Exec = std::decay_t<decltype(exec)>;
    using T = typename decltype(type)::type;
    ops::gemm<Exec, T>(exec, matrix_view<Exec, const T>(a), matrix_view<Exec, const T>(b),
                       matrix_view<Exec, T>(c));
  });
}

/// Three tensors in one block of the lane, full of zeros.
struct Operands {
  Operands(lane::Lane& lane, DType dtype, const Shape& shape) {
    const std::size_t bytes = static_cast<std::size_t>(shape.size()) * size_of(dtype);
    block = lane.allocator()(tensors.size() * bytes, label);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      tensors[i] = Tensor(block.get() + i * bytes, dtype, shape);
    }
    lane.run_and_wait([&] {
      for (const Tensor& tensor : tensors) {
        fill_with_zeros(lane.execution(), tensor);
      }
      lane.fence(label);
    });
  }
  memory::Block block;
  std::array<Tensor, 3> tensors;
};

std::vector<std::byte> weights(DType dtype) {
  const Shape shape{product_side, product_side};
  std::vector<std::byte> numbers(static_cast<std::size_t>(shape.size()) * size_of(dtype));
  initialise(Tensor(numbers.data(), dtype, shape),
             Initialiser::uniform(1.0 / std::sqrt(static_cast<double>(product_side))), 0, "roof");
  return numbers;
}

}  // namespace

RoofMeter::RoofMeter(lane::Lane& lane, DType dtype)
    : lane_(lane), dtype_(dtype), numbers_(weights(dtype)) {}

void RoofMeter::sample(double seconds) {
  sample_products(seconds / 2.0);
  sample_sums(seconds / 2.0);
}

plan::Roof RoofMeter::roof() const { return {median(flops_per_s_), median(bytes_per_s_)}; }

void RoofMeter::sample_products(double seconds) {
  const Operands operands(lane_, dtype_, Shape{product_side, product_side});
  const auto& [a, b, c] = operands.tensors;
  lane_.run_and_wait([&, &a = a, &b = b] {
    lane_.copy_to_lane(a.raw(), numbers_.data(), numbers_.size(), label);
    lane_.copy_to_lane(b.raw(), numbers_.data(), numbers_.size(), label);
    lane_.fence(label);
  });
  const auto side = static_cast<double>(product_side);
  sample_rate(
      lane_, 2.0 * side * side * side, seconds,
      [&, &a = a, &b = b, &c = c] { multiply(lane_.execution(), a, b, c); }, flops_per_s_);
}

void RoofMeter::sample_sums(double seconds) {
  for (std::size_t bytes = sum_bytes;; bytes /= 2) {
    try {
      return sample_sums_of(bytes, seconds);
    } catch (const MemoryError&) {
      if (bytes <= least_sum_bytes) {
        throw;
      }
    }
  }
}

void RoofMeter::sample_sums_of(std::size_t bytes, double seconds) {
  const Operands operands(lane_, dtype_, Shape{static_cast<std::int64_t>(bytes / size_of(dtype_))});
  const auto& [a, b, to] = operands.tensors;
  sample_rate(
      lane_, 3.0 * static_cast<double>(bytes), seconds,
      [&, &a = a, &b = b, &to = to] { sum_into(lane_.execution(), to, a, b); }, bytes_per_s_);
}

}  // namespace zygos::train
