// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks are threads here; none of them waits for another but in what is collective.
#include "simulation.hpp"

#include "zygos/comm/in_process.hpp"
#include "zygos/core/error.hpp"
#include "zygos/insitu/ranks.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <exception>
#include <functional>
#include <thread>

namespace zygos::insitu::test_ranks {
using namespace zygos::test;

namespace {

/// A rank's own samples and network.
struct Rank {
  explicit Rank(int number)
      : net(insitu::Surrogate::mlp({.in = 6, .hidden = {16}, .out = 2}, exec, {.batch = 32})),
        reservoir(net.reservoir({.capacity = 400})),
        particles(400, static_cast<std::uint64_t>(number) + 1) {
    reservoir.add(exec, particles.inputs(), particles.f);
  }

  Kokkos::Serial exec{Kokkos::NewInstance{}};
  insitu::Surrogate net;
  insitu::Reservoir reservoir;
  Particles<double> particles;
};

/// Calls f(rank, communicator) on a thread for each rank; throws what the first of them threw.
template <class F>
void on_ranks(std::vector<Rank>& ranks, const F& f) {
  auto group = comm::in_process_group(static_cast<int>(ranks.size()));
  std::vector<std::exception_ptr> failures(ranks.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      threads.emplace_back([&, i] {
        try {
          f(ranks[i], *group[i]);
        } catch (...) {
          failures[i] = std::current_exception();
        }
      });
    }
  }
  for (const auto& failure : failures) {
    if (failure) {
      std::rethrow_exception(failure);
    }
  }
}

std::vector<Rank> three_ranks() {
  std::vector<Rank> ranks;
  for (int i = 0; i < 3; ++i) {
    ranks.emplace_back(i);
  }
  return ranks;
}

}  // namespace

TEST_CASE("Ranks that train on their own samples and average become equal", "[insitu][ranks]") {
  auto ranks = three_ranks();

  on_ranks(ranks, [](Rank& rank, comm::Communicator& all) {
    insitu::share_standards(rank.net, rank.reservoir, all);
    rank.net.train(rank.reservoir, {.max_steps = 20});
    insitu::average(rank.net, all);
  });

  for (const char* name :
       {"weights/hidden1/kernel", "first_moment/output/bias", "surrogate/standards"}) {
    const auto first = numbers_of(ranks[0].net.state(), name);
    CHECK(numbers_of(ranks[1].net.state(), name) == first);
    CHECK(numbers_of(ranks[2].net.state(), name) == first);
  }
}

TEST_CASE("Shared standards are those of all samples together", "[insitu][ranks]") {
  auto ranks = three_ranks();
  insitu::Reservoir all_samples(ranks[0].exec, Shape{6}, Shape{2}, {.capacity = 10});
  for (Rank& rank : ranks) {
    all_samples.add(rank.exec, rank.particles.inputs(), rank.particles.f);
  }
  auto alone = insitu::Surrogate::mlp({.in = 6, .hidden = {16}, .out = 2}, ranks[0].exec);
  alone.standardise(all_samples);

  on_ranks(ranks, [](Rank& rank, comm::Communicator& all) {
    insitu::share_standards(rank.net, rank.reservoir, all);
  });

  const auto wanted = numbers_of(alone.state(), "surrogate/standards");
  const auto found = numbers_of(ranks[2].net.state(), "surrogate/standards");
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CHECK(found[i] == Catch::Approx(wanted[i]).epsilon(1e-12));
  }
}

TEST_CASE("A rank of weight 0 takes the mean of the others", "[insitu][ranks]") {
  auto ranks = three_ranks();
  std::vector<std::vector<double>> before;

  on_ranks(ranks, [&](Rank& rank, comm::Communicator& all) {
    insitu::share_standards(rank.net, rank.reservoir, all);
    if (all.rank() != 1) {  // this one has no time to train, and nobody waits for it
      rank.net.train(rank.reservoir, {.max_steps = 5});
    }
  });
  for (const Rank& rank : ranks) {
    before.push_back(numbers_of(rank.net.state(), "weights/output/kernel"));
  }
  on_ranks(ranks, [](Rank& rank, comm::Communicator& all) {
    insitu::average(rank.net, all, static_cast<double>(rank.net.steps()));
  });

  const auto after = numbers_of(ranks[1].net.state(), "weights/output/kernel");
  for (std::size_t i = 0; i < after.size(); ++i) {
    CHECK(after[i] == Catch::Approx(0.5 * (before[0][i] + before[2][i])).margin(1e-7));
  }
}

TEST_CASE("Weights of differently standardised samples are not averaged", "[insitu][ranks]") {
  auto ranks = three_ranks();

  CHECK_THROWS_AS(on_ranks(ranks,
                           [](Rank& rank, comm::Communicator& all) {
                             rank.net.train(rank.reservoir, {.max_steps = 1});
                             insitu::average(rank.net, all);
                           }),
                  UsageError);
}

TEST_CASE("With weights of 0 everywhere nothing changes", "[insitu][ranks]") {
  auto ranks = three_ranks();
  const insitu::State before = ranks[0].net.state();

  on_ranks(ranks, [](Rank& rank, comm::Communicator& all) { insitu::average(rank.net, all, 0.0); });

  CHECK(same(ranks[0].net.state(), before));
}

}  // namespace zygos::insitu::test_ranks
