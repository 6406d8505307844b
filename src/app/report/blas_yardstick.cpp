// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/report/blas_yardstick.hpp"

#include "core/median.hpp"

#include "zygos/core/error.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <vector>

namespace zygos::app {
namespace {

constexpr int side = 2048;
constexpr double measured_seconds = 1.0;
constexpr int row_major = 101;     // CblasRowMajor
constexpr int no_transpose = 111;  // CblasNoTrans

using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int,
                       float, float*, int);
using SetThreads = void (*)(int);

/// A loaded library; stays loaded, for it may have threads of its own.
template <class Function>
Function symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

std::vector<float> operand(unsigned seed) {
  std::vector<float> values(static_cast<std::size_t>(side) * side);
  for (float& value : values) {
    seed = seed * 1664525U + 1013904223U;
    value = static_cast<float>(seed >> 8U) * 0x1p-24F - 0.5F;
  }
  return values;
}

double median_flops_per_s(Sgemm sgemm) {
  const std::vector<float> a = operand(1);
  const std::vector<float> b = operand(2);
  std::vector<float> c(a.size());
  std::vector<double> rates;
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const auto begin = now();
  const auto since = [&](auto start) {
    return std::chrono::duration<double>(now() - start).count();
  };
  do {
    const auto start = now();
    sgemm(row_major, no_transpose, no_transpose, side, side, side, 1.0F, a.data(), side, b.data(),
          side, 0.0F, c.data(), side);
    rates.push_back(2.0 * side * side * side / since(start));
  } while (since(begin) < measured_seconds);
  return median(rates);
}

}  // namespace

std::optional<BlasRate> measure_blas(int threads) {
  const char* const name = std::getenv("ZYGOS_BLAS");
  if (name == nullptr || *name == '\0') {
    return std::nullopt;
  }
  void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  const auto sgemm = library == nullptr ? nullptr : symbol<Sgemm>(library, "cblas_sgemm");
  if (sgemm == nullptr) {
    throw UsageError(fmt::format(
        "ZYGOS_BLAS is '{}', which is not a shared library with cblas_sgemm; name one, for example "
        "libopenblas.so.0, or unset it",
        name));
  }
  if (const auto set_threads = symbol<SetThreads>(library, "openblas_set_num_threads")) {
    set_threads(threads);
  }
  return BlasRate{name, median_flops_per_s(sgemm)};
}

}  // namespace zygos::app
