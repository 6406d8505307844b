// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "insitu/kernels/standards.hpp"

#include "ops/common/launch.hpp"

#include "zygos/lane/dispatch.hpp"

#include <type_traits>

namespace zygos::insitu {
namespace {

struct TakeStandards {
  const Moments* running;
  Standards to;

  KOKKOS_FUNCTION void operator()(const std::size_t column) const {
    const Moments& moments = running[column];
    const double deviation =
        moments.count > 0.0 ? Kokkos::sqrt(moments.squares / moments.count) : 1.0;
    to.shift[column] = moments.mean;
    to.scale[column] = deviation > 0.0 && Kokkos::isfinite(deviation) ? deviation : 1.0;
  }
};

struct FindDrift {
  Standards old;
  Standards fresh;
  std::int32_t* flag;

  KOKKOS_FUNCTION void operator()(const std::size_t column) const {
    const double ratio = fresh.scale[column] / old.scale[column];
    const double way = Kokkos::abs(fresh.shift[column] - old.shift[column]);
    if (ratio > 2.0 || ratio < 0.5 || way > fresh.scale[column]) {
      Kokkos::atomic_store(flag, std::int32_t{1});
    }
  }
};

/// With x = old.scale u + old.shift = fresh.scale v + fresh.shift: u W + b in terms of v.
template <class T>
struct AbsorbInputs {
  Standards old;
  Standards fresh;
  T* kernel;
  T* bias;
  std::size_t inputs;
  std::size_t units;

  KOKKOS_FUNCTION void operator()(const std::size_t unit) const {
    auto sum = static_cast<double>(bias[unit]);
    for (std::size_t i = 0; i < inputs; ++i) {
      const auto weight = static_cast<double>(kernel[i * units + unit]);
      sum += weight * ((fresh.shift[i] - old.shift[i]) / old.scale[i]);
      kernel[i * units + unit] = static_cast<T>(weight * (fresh.scale[i] / old.scale[i]));
    }
    bias[unit] = static_cast<T>(sum);
  }
};

template <class T>
struct AbsorbTargets {
  Standards old;
  Standards fresh;
  T* kernel;
  T* bias;
  std::size_t features;
  std::size_t targets;

  KOKKOS_FUNCTION void operator()(const std::size_t target) const {
    const double ratio = old.scale[target] / fresh.scale[target];
    const double way = (old.shift[target] - fresh.shift[target]) / fresh.scale[target];
    for (std::size_t i = 0; i < features; ++i) {
      T& weight = kernel[i * targets + target];
      weight = static_cast<T>(static_cast<double>(weight) * ratio);
    }
    bias[target] = static_cast<T>(static_cast<double>(bias[target]) * ratio + way);
  }
};

struct CopyStandards {
  Standards from;
  Standards to;
  KOKKOS_FUNCTION void operator()(const std::size_t column) const {
    to.shift[column] = from.shift[column];
    to.scale[column] = from.scale[column];
  }
};

template <template <class> class Functor>
void absorb(const char* label, const lane::Execution& execution, const Standards& old,
            const Standards& fresh, const Tensor& kernel, const Tensor& bias) {
  const MatrixExtents size = as_matrix(kernel.shape());
  const auto rows = static_cast<std::size_t>(size.rows);
  const auto columns = static_cast<std::size_t>(size.columns);
  lane::dispatch(execution, kernel.dtype(), [&](const auto& exec, auto type) {
    using T = typename decltype(type)::type;
    ops::for_each_element(label, exec, columns, ops::chunk::heavy,
                          Functor<T>{old, fresh, kernel.data<T>(), bias.data<T>(), rows, columns});
  });
}

template <class Functor>
void launch_columns(const char* label, const lane::Execution& execution, std::int64_t width,
                    const Functor& functor) {
  lane::dispatch(execution, [&](const auto& exec) {
    ops::for_each_element(label, exec, static_cast<std::size_t>(width), ops::chunk::heavy, functor);
  });
}

}  // namespace

void standards_of(const lane::Execution& execution, const Moments* running, std::int64_t width,
                  const Standards& to) {
  launch_columns("zygos::insitu::take_standards", execution, width, TakeStandards{running, to});
}

void find_drift(const lane::Execution& execution, const Standards& old, const Standards& fresh,
                std::int64_t width, std::int32_t* flag) {
  launch_columns("zygos::insitu::find_drift", execution, width, FindDrift{old, fresh, flag});
}

void absorb_inputs(const lane::Execution& execution, const Standards& old, const Standards& fresh,
                   const Tensor& kernel, const Tensor& bias) {
  absorb<AbsorbInputs>("zygos::insitu::absorb_inputs", execution, old, fresh, kernel, bias);
}

void absorb_targets(const lane::Execution& execution, const Standards& old, const Standards& fresh,
                    const Tensor& kernel, const Tensor& bias) {
  absorb<AbsorbTargets>("zygos::insitu::absorb_targets", execution, old, fresh, kernel, bias);
}

void copy_standards(const lane::Execution& execution, const Standards& from, const Standards& to,
                    std::int64_t width) {
  launch_columns("zygos::insitu::copy_standards", execution, width, CopyStandards{from, to});
}

}  // namespace zygos::insitu
