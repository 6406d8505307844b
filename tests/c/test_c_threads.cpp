// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Models of several threads, and what predictions allocate.
#include "c/model.hpp"
#include "c_samples.hpp"
#include "support/allocation_counter.hpp"

#include <omp.h>

#include <array>
#include <string>
#include <thread>
#include <variant>

namespace zygos::test_c_threads {
using namespace zygos::test;

namespace {

/// Of layers that are worth several threads, whatever its weights.
Handle wide_model(const Session& session, std::int32_t threads) {
  constexpr std::int64_t units = 700;
  constexpr const char* deck = R"(deck_version: 1
data: {format: synthetic, function: invariants, samples: 1}
model:
  layers:
    - {name: a, type: dense, units: 700, activation: tanh}
    - {name: b, type: dense, units: 700, activation: tanh}
    - {name: c, type: dense, units: 3}
  loss: mse
optimizer: sgd
lanes: {host: {kind: host}}
policy: single
train: {epochs: 1, batch: 256}
)";
  std::vector<float> values;
  for (int i = 0; i < units * units; ++i) {
    values.push_back(static_cast<float>((i * 29) % 113) / 1000.0F - 0.05F);
  }
  float* const v = values.data();
  const std::vector<zygos_weight> weights{
      {"a/kernel", array_of(v, {features, units})}, {"a/bias", array_of(v, {units})},
      {"b/kernel", array_of(v, {units, units})},    {"b/bias", array_of(v, {units})},
      {"c/kernel", array_of(v, {units, targets})},  {"c/bias", array_of(v, {targets})}};
  const zygos_network network{deck, 1, 6, {features}, weights.data()};
  const zygos_options options = Options{.threads = threads}.c();
  zygos_model* model = nullptr;
  ZYGOS_TEST_OK(zygos_create(session.session, &network, &options, &model, &error));
  return Handle(model);
}

}  // namespace

TEST_CASE("Threads with a share each predict the same bits at the same time", "[c]") {
  const SavedRun run("c-threads");
  const Session session;
  const Handle model = session.load(run.folder.path());
  const auto alone = predicted(model, 40);
  std::array<Handle, 4> shares;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    shares[i] = share(model, 1 + static_cast<int>(i % 2));
  }
  std::array<bool, 4> same{};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    threads.emplace_back([&, i] {
      const auto x = samples<double>(40);
      const zygos_array input = array_of(x.data(), {40, features});
      zygos_model* mine = nullptr;
      same[i] = zygos_load(session.session, run.folder.path().c_str(), nullptr, &mine, nullptr) ==
                ZYGOS_OK;
      zygos_free(mine);
      for (int round = 0; round < 50; ++round) {
        std::vector<double> y(40 * targets);
        const zygos_array output = array_of(y.data(), {40, targets});
        const int code = zygos_predict(shares[i].get(), &input, 1, &output, nullptr);
        same[i] = same[i] && code == ZYGOS_OK && y == alone;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(same == std::array{true, true, true, true});
}

TEST_CASE("In a parallel region of OpenMP every thread predicts alone", "[c]") {
  constexpr std::int64_t count = 200;
  const Session session;
  const Handle model = wide_model(session, 3);
  const auto alone = predicted(model, count);
  std::array<Handle, 3> shares{share(model), share(model), share(model)};
  const auto x = samples<double>(count);
  std::array<std::vector<double>, 3> y;
  std::array<int, 3> codes{};
  std::array<bool, 3> serial{};

#pragma omp parallel num_threads(3)
  {
    const auto i = static_cast<std::size_t>(omp_get_thread_num());
    y[i].resize(count * targets);
    const zygos_array input = array_of(x.data(), {count, features});
    const zygos_array output = array_of(y[i].data(), {count, targets});
    codes[i] = zygos_predict(shares[i].get(), &input, 1, &output, nullptr);
    serial[i] = std::holds_alternative<Kokkos::Serial>(shares[i]->on_host());
  }

  CHECK(codes == std::array{0, 0, 0});
  CHECK(serial == std::array{true, true, true});
  CHECK(std::holds_alternative<Kokkos::OpenMP>(shares[0]->on_host()));
  for (const auto& one : y) {
    CHECK(one == alone);
  }
  CHECK(predicted(shares[1], count) == alone);
}

TEST_CASE("A model that a thread uses is refused to another one", "[c]") {
  const SavedRun run("c-in-use");
  const Session session;
  const Handle model = session.load(run.folder.path());
  const auto x = samples<double>(8);
  std::vector<double> y(8 * targets);
  const zygos_array input = array_of(x.data(), {8, features});
  const zygos_array output = array_of(y.data(), {8, targets});
  zygos_error error{};
  {
    const c::InUse elsewhere = model->use();
    CHECK(zygos_predict(model.get(), &input, 1, &output, &error) == ZYGOS_ERROR_USAGE);
    CHECK(std::string(error.message).find("zygos_share()") != std::string::npos);
    CHECK(zygos_prepare(model.get(), 8, nullptr) == ZYGOS_ERROR_USAGE);
    CHECK(predicted(share(model), 8) != y);
  }
  CHECK(zygos_predict(model.get(), &input, 1, &output, &error) == ZYGOS_OK);
  // A prediction that fails gives the model back.
  CHECK(zygos_predict(model.get(), &input, 1, &input, &error) == ZYGOS_ERROR_USAGE);
  CHECK(zygos_predict(model.get(), &input, 1, &output, &error) == ZYGOS_OK);
}

TEST_CASE("A prediction of as many samples as one before calls no allocator", "[c]") {
  const SavedRun run("c-allocations");
  const Session session;
  const Handle model = session.load(run.folder.path(), {.threads = 1});
  const auto x = samples<double>(40);
  std::vector<double> y(40 * targets);
  const zygos_array parts[] = {array_of(x.data(), {40, 2}, {features, 1}),
                               array_of(x.data() + 2, {40, 4}, {features, 1})};
  const zygos_array output = array_of(y.data(), {40, targets});
  zygos_predict(model.get(), parts, 2, &output, nullptr);
  const long before = testing::allocations();

  for (int round = 0; round < 10; ++round) {
    zygos_predict(model.get(), parts, 2, &output, nullptr);
  }

  CHECK(testing::allocations() == before);
  CHECK(predicted(model, 40) == y);
}

}  // namespace zygos::test_c_threads
