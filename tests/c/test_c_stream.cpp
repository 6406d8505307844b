// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Predictions in the memory of every execution space of the build.
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include "zygos/zygos.h"

#include <Kokkos_Core.hpp>

#include <catch2/catch_message.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace zygos::test_c_stream {
namespace {

constexpr std::int64_t samples = 77, features = 6, units = 64, outputs = 3;

constexpr const char* deck = R"(deck_version: 1
data: {format: synthetic, function: invariants, samples: 1}
model:
  layers:
    - {name: h, type: dense, units: 64, activation: tanh}
    - {name: out, type: dense, units: 3}
  loss: mse
optimizer: sgd
lanes: {host: {kind: host}}
policy: single
train: {epochs: 1, batch: 32}
)";

template <class T>
zygos_array array_of(T* data, std::int64_t rows, std::int64_t columns) {
  return {data, ZYGOS_FLOAT64, 2, {rows, columns}, {0}};
}

/// A session with a model of random weights.
struct Model {
  Model() {
    auto values = testing::random_values(static_cast<std::size_t>(units * features), 5);
    double* const v = values.data();
    zygos_array bias = array_of(v, units, 1);
    bias.rank = 1;
    zygos_array out_bias = array_of(v, outputs, 1);
    out_bias.rank = 1;
    const zygos_weight weights[] = {{"h/kernel", array_of(v, features, units)},
                                    {"h/bias", bias},
                                    {"out/kernel", array_of(v, units, outputs)},
                                    {"out/bias", out_bias}};
    const zygos_network network{deck, 1, 4, {features}, weights};
    REQUIRE(zygos_initialize(2, &session, &error) == ZYGOS_OK);
    const int code = zygos_create(session, &network, nullptr, &model, &error);
    CAPTURE(error.message);
    REQUIRE(code == ZYGOS_OK);
  }
  ~Model() {
    zygos_free(model);
    CHECK(zygos_finalize(session, &error) == ZYGOS_OK);
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  zygos_error error{};
  zygos_session* session = nullptr;
  zygos_model* model = nullptr;
};

/// Samples and their predictions in memory that Exec can access, row major.
template <class Exec>
struct Fields {
  using View = Kokkos::View<double**, Kokkos::LayoutRight, typename Exec::memory_space>;

  Fields() {
    const auto values = testing::random_values(samples * features, 9);
    const auto host = Kokkos::create_mirror_view(x);
    std::copy(values.begin(), values.end(), host.data());
    Kokkos::deep_copy(x, host);
  }
  zygos_array input() const { return array_of(x.data(), samples, features); }
  zygos_array output() const { return array_of(y.data(), samples, outputs); }
  std::vector<double> predicted() const {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
    return {host.data(), host.data() + host.size()};
  }

  View x{"zygos::test::x", samples, features};
  View y{"zygos::test::y", samples, outputs};
};

template <class Exec>
concept HasStream = requires(const Exec& exec) {
  exec.cuda_stream();
};

bool agree(const std::vector<double>& found, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!(std::abs(found[i] - expected[i]) <= 1e-4 * (1.0 + std::abs(expected[i])))) {
      return false;
    }
  }
  return found.size() == expected.size();
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("A model of C predicts in host memory and on streams of a device", "[c]",
                        testing::AllSpaces) {
  Model model;
  const Fields<Kokkos::Serial> host;
  const zygos_array host_x = host.input(), host_y = host.output();
  REQUIRE(zygos_predict(model.model, &host_x, 1, &host_y, &model.error) == ZYGOS_OK);
  const TestType exec = testing::make_exec<TestType>();
  const Fields<TestType> fields;
  const zygos_array x = fields.input(), y = fields.output();

  if constexpr (HasStream<TestType>) {
    CHECK(zygos_predict_on_stream(model.model, exec.cuda_stream(), &x, 1, &y, &model.error) ==
          ZYGOS_OK);
    exec.fence("zygos::test");
    CHECK(agree(fields.predicted(), host.predicted()));
    Kokkos::deep_copy(fields.y, 0.0);
    CHECK(zygos_predict_on_stream(model.model, nullptr, &x, 1, &y, &model.error) == ZYGOS_OK);
    // From the device back to the host.
    CHECK(zygos_predict(model.model, &host_x, 1, &host_y, &model.error) == ZYGOS_OK);
  } else {
    CHECK(zygos_predict(model.model, &x, 1, &y, &model.error) == ZYGOS_OK);
  }

  CAPTURE(model.error.message);
  CHECK(agree(fields.predicted(), host.predicted()));
  CHECK(std::abs(host.predicted()[0]) > 1e-6);
}

}  // namespace zygos::test_c_stream
