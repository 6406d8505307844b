// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Handles that free themselves, arrays of vectors, and a run to load, for the tests of this module.
#pragma once

#include "load/saved_run.hpp"

#include "zygos/zygos.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace zygos::test {

struct FreeModel {
  void operator()(zygos_model* model) const { zygos_free(model); }
};
using Handle = std::unique_ptr<zygos_model, FreeModel>;

/// Requires that a call has worked.
#define ZYGOS_TEST_OK(call)    \
  do {                         \
    zygos_error error{};       \
    const int code = call;     \
    CAPTURE(error.message);    \
    REQUIRE(code == ZYGOS_OK); \
  } while (false)

/// zygos_options whose members can be named alone.
struct Options {
  std::int32_t best = 0;
  std::int32_t precision = ZYGOS_TYPE_NONE;
  std::int64_t block = 0;
  std::int32_t threads = 0;

  zygos_options c() const { return {best, precision, block, threads}; }
};

/// Of a Kokkos that the test program has initialised.
struct Session {
  explicit Session(int threads = 2) { ZYGOS_TEST_OK(zygos_initialize(threads, &session, &error)); }
  ~Session() { CHECK(zygos_finalize(session, nullptr) == ZYGOS_OK); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Handle load(const std::string& path, const Options& options = {}) const {
    zygos_model* model = nullptr;
    const zygos_options chosen = options.c();
    ZYGOS_TEST_OK(zygos_load(session, path.c_str(), &chosen, &model, &error));
    return Handle(model);
  }

  zygos_session* session = nullptr;
};

inline Handle share(const Handle& model, int threads = 0) {
  zygos_model* shared = nullptr;
  ZYGOS_TEST_OK(zygos_share(model.get(), threads, &shared, &error));
  return Handle(shared);
}

/// Dense unless there are strides.
template <class T>
zygos_array array_of(T* data, std::initializer_list<std::int64_t> dimensions,
                     std::initializer_list<std::int64_t> strides = {}) {
  zygos_array array{};
  array.data = const_cast<std::remove_const_t<T>*>(data);
  array.type = std::is_same_v<std::remove_const_t<T>, float> ? ZYGOS_FLOAT32 : ZYGOS_FLOAT64;
  array.rank = static_cast<std::int32_t>(dimensions.size());
  std::copy(dimensions.begin(), dimensions.end(), array.dimensions);
  std::copy(strides.begin(), strides.end(), array.strides);
  return array;
}

inline void predict(const Handle& model, const std::vector<zygos_array>& inputs,
                    const zygos_array& output) {
  ZYGOS_TEST_OK(zygos_predict(model.get(), inputs.data(), static_cast<std::int32_t>(inputs.size()),
                              &output, &error));
}

constexpr std::int64_t features = 6;
constexpr std::int64_t targets = 3;

/// Samples whose elements are of the order of 1.
template <class T>
std::vector<T> samples(std::int64_t count) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < count * features; ++i) {
    values.push_back(static_cast<T>(static_cast<float>((i * 37) % 101) / 50.0F - 1.0F));
  }
  return values;
}

/// What infer::Model predicts of samples<double>(count).
inline std::vector<double> expected(infer::Model& model, std::int64_t count) {
  const auto n = static_cast<std::size_t>(count);
  const auto values = samples<double>(count);
  std::vector<double> out(n * targets);
  using Memory = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  model.predict(Kokkos::OpenMP(1),
                Kokkos::View<const double**, Kokkos::LayoutRight, Kokkos::HostSpace, Memory>(
                    values.data(), n, features),
                Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace, Memory>(out.data(),
                                                                                       n, targets));
  return out;
}

/// What a model predicts of the same samples.
inline std::vector<double> predicted(const Handle& model, std::int64_t count) {
  const auto x = samples<double>(count);
  std::vector<double> y(static_cast<std::size_t>(count * targets));
  predict(model, {array_of(x.data(), {count, features})}, array_of(y.data(), {count, targets}));
  return y;
}

}  // namespace zygos::test
