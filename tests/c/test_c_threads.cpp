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

using namespace zygos;
using namespace zygos::test;

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
      same[i] = true;
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
  const SavedRun run("c-openmp");
  const Session session;
  const Handle model = session.load(run.folder.path(), {.threads = 3});
  const auto alone = predicted(model, 40);
  std::array<Handle, 3> shares{share(model), share(model), share(model)};
  const auto x = samples<double>(40);
  std::array<std::vector<double>, 3> y;
  std::array<int, 3> codes{};

#pragma omp parallel num_threads(3)
  {
    const auto i = static_cast<std::size_t>(omp_get_thread_num());
    y[i].resize(40 * targets);
    const zygos_array input = array_of(x.data(), {40, features});
    const zygos_array output = array_of(y[i].data(), {40, targets});
    codes[i] = zygos_predict(shares[i].get(), &input, 1, &output, nullptr);
  }

  CHECK(codes == std::array{0, 0, 0});
  for (const auto& one : y) {
    CHECK(one == alone);
  }
  CHECK(predicted(shares[1], 40) == alone);
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
    const c::InUse elsewhere(*model);
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
