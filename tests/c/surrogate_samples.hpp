// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Surrogates of the C interface that free themselves, and what they learn from.
#pragma once

#include "c_samples.hpp"
#include "insitu/simulation.hpp"

#include "zygos/zygos_insitu.h"

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace zygos::test {

struct FreeSurrogate {
  void operator()(zygos_surrogate* surrogate) const { zygos_surrogate_free(surrogate); }
};
using SurrogateHandle = std::unique_ptr<zygos_surrogate, FreeSurrogate>;

constexpr std::array<std::int64_t, 2> hidden_widths{24, 24};

/// Those of small_net() in tests/insitu.
inline zygos_surrogate_options small_options() {
  zygos_surrogate_options options{};
  options.inputs = 6;
  options.outputs = 2;
  options.hidden = hidden_widths.data();
  options.hidden_count = 2;
  options.batch = 32;
  options.capacity = 300;
  return options;
}

inline SurrogateHandle create(const Session& session, const zygos_surrogate_options& options) {
  zygos_surrogate* surrogate = nullptr;
  ZYGOS_TEST_OK(zygos_surrogate_create(session.session, &options, &surrogate, &error));
  return SurrogateHandle(surrogate);
}

/// Samples [begin, end) of particles, as C sees them.
template <class P>
struct Part {
  Part(const P& particles, std::int64_t begin, std::int64_t end)
      : inputs{rows(particles.x, begin, end), rows(particles.v, begin, end)},
        target(rows(particles.f, begin, end)) {}

  template <class View>
  static zygos_array rows(const View& view, std::int64_t begin, std::int64_t end) {
    return array_of(
        &view(static_cast<std::size_t>(begin), 0),
        {end - begin, static_cast<std::int64_t>(view.extent(1))},
        {static_cast<std::int64_t>(view.stride(0)), static_cast<std::int64_t>(view.stride(1))});
  }

  std::array<zygos_array, 2> inputs;
  zygos_array target;
};

template <class P>
void add(const SurrogateHandle& net, const P& particles, std::int64_t begin, std::int64_t end) {
  const Part part(particles, begin, end);
  ZYGOS_TEST_OK(zygos_surrogate_add(net.get(), part.inputs.data(), 2, &part.target, 1, &error));
}

inline zygos_training learn(const SurrogateHandle& net, std::int64_t steps) {
  zygos_training training{};
  ZYGOS_TEST_OK(zygos_surrogate_train(net.get(), 0.0, steps, &training, &error));
  return training;
}

template <class P>
std::vector<double> predicted(const SurrogateHandle& net, const P& particles, std::int64_t count) {
  const Part part(particles, 0, count);
  std::vector<double> out(static_cast<std::size_t>(2 * count));
  const zygos_array output = array_of(out.data(), {count, 2});
  ZYGOS_TEST_OK(zygos_surrogate_predict(net.get(), part.inputs.data(), 2, &output, 1, &error));
  return out;
}

inline std::vector<std::byte> saved(const SurrogateHandle& net) {
  std::int64_t size = 0;
  ZYGOS_TEST_OK(zygos_surrogate_state_bytes(net.get(), &size, &error));
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  ZYGOS_TEST_OK(zygos_surrogate_save_state(net.get(), bytes.data(), size, &error));
  return bytes;
}

inline zygos_surrogate_info info_of(const SurrogateHandle& net) {
  zygos_surrogate_info info{};
  ZYGOS_TEST_OK(zygos_surrogate_get_info(net.get(), &info, &error));
  return info;
}

}  // namespace zygos::test
