// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/peak_rate_meter.hpp"

#include "core/median.hpp"
#include "ops/gemm/gemm.hpp"
#include "train/flat_ops.hpp"

#include "zygos/core/bf16.hpp"
#include "zygos/core/error.hpp"
#include "zygos/lane/dispatch.hpp"
#include "zygos/tensor/initialiser.hpp"
#include "zygos/tensor/views.hpp"

#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>

namespace zygos::measure {
namespace {

constexpr const char* label = "zygos::measure::peak";

constexpr std::int64_t product_side = 2048;
constexpr std::size_t sum_bytes = std::size_t{128} << 20;
constexpr std::size_t min_sum_bytes = std::size_t{1} << 20;

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
  lane::dispatch_stored(execution, c.dtype(), [&](const auto& exec, auto type) {
    using Exec = std::decay_t<decltype(exec)>;
    using T = typename decltype(type)::type;
    ops::gemm<Exec, T>(exec, matrix_view<Exec, const T>(a), matrix_view<Exec, const Wide<T>>(b),
                       matrix_view<Exec, T>(c));
  });
}

/// Three tensors of one shape in one block of the lane, not yet written: the second one as weights
/// are stored.
struct Operands {
  Operands(const lane::Lane& lane, DType dtype, const Shape& shape) {
    const auto count = static_cast<std::size_t>(shape.size());
    const std::size_t bytes = count * size_of(dtype);
    const std::size_t weight_bytes = count * size_of(wide(dtype));
    block = lane.allocator()(2 * bytes + weight_bytes, label);
    a = Tensor(block.get() + weight_bytes, dtype, shape);
    b = Tensor(block.get(), wide(dtype), shape);
    result = Tensor(block.get() + weight_bytes + bytes, dtype, shape);
  }
  memory::Block block;
  Tensor a, b, result;
};

std::vector<std::byte> weights(DType dtype) {
  const Shape shape{product_side, product_side};
  std::vector<std::byte> numbers(static_cast<std::size_t>(shape.size()) * size_of(dtype));
  initialise(Tensor(numbers.data(), dtype, shape),
             Initialiser::uniform(1.0 / std::sqrt(static_cast<double>(product_side))), 0, "peak");
  return numbers;
}

/// The same numbers as activations are stored.
std::vector<std::byte> as_activations(const std::vector<std::byte>& numbers, DType dtype) {
  if (dtype != DType::bf16) {
    return numbers;
  }
  std::vector<std::byte> rounded(numbers.size() / sizeof(float) * sizeof(bf16));
  for (std::size_t i = 0; i < rounded.size() / sizeof(bf16); ++i) {
    float number = 0.0F;
    std::memcpy(&number, numbers.data() + i * sizeof(float), sizeof(float));
    const bf16 stored(number);
    std::memcpy(rounded.data() + i * sizeof(bf16), &stored, sizeof(bf16));
  }
  return rounded;
}

}  // namespace

PeakRateMeter::PeakRateMeter(lane::Lane& lane, DType dtype)
    : lane_(lane),
      dtype_(dtype),
      weights_(weights(wide(dtype))),
      activations_(as_activations(weights_, dtype)) {}

void PeakRateMeter::sample(double seconds) {
  sample_products(seconds / 2.0);
  sample_sums(seconds / 2.0);
}

plan::PeakRates PeakRateMeter::peak() const { return {median(flops_per_s_), median(bytes_per_s_)}; }

void PeakRateMeter::sample_products(double seconds) {
  const Operands operands(lane_, dtype_, Shape{product_side, product_side});
  lane_.run_and_wait([&] {
    lane_.copy_to_lane(operands.a.raw(), activations_.data(), activations_.size(), label);
    lane_.copy_to_lane(operands.b.raw(), weights_.data(), weights_.size(), label);
    lane_.fence(label);
  });
  const auto side = static_cast<double>(product_side);
  sample_rate(
      lane_, 2.0 * side * side * side, seconds,
      [&] { multiply(lane_.execution(), operands.a, operands.b, operands.result); }, flops_per_s_);
}

void PeakRateMeter::sample_sums(double seconds) {
  for (std::size_t bytes = sum_bytes;; bytes /= 2) {
    try {
      return sample_sums_of(bytes, seconds);
    } catch (const MemoryError&) {
      if (bytes <= min_sum_bytes) {
        throw;
      }
    }
  }
}

void PeakRateMeter::sample_sums_of(std::size_t bytes, double seconds) {
  const DType dtype = wide(dtype_);
  const Operands operands(lane_, dtype, Shape{static_cast<std::int64_t>(bytes / size_of(dtype))});
  lane_.run_and_wait([&] {
    train::fill_with_zeros(lane_.execution(), operands.a);
    train::fill_with_zeros(lane_.execution(), operands.b);
    lane_.fence(label);
  });
  sample_rate(
      lane_, 3.0 * static_cast<double>(bytes), seconds,
      [&] { train::sum_into(lane_.execution(), operands.result, operands.a, operands.b); },
      bytes_per_s_);
}

}  // namespace zygos::measure
