// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The policy that docs/add_a_policy.md walks through, compiled and tested as it stands there.
#include "policies/golden.hpp"

#include "zygos/core/error.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_test_macros.hpp>

#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

namespace zygos::policies {
namespace {

// [begin of the example]
class EvenShares final : public train::Policy {
 public:
  std::string_view keyword() const override { return "even_shares"; }

  schedule::Schedule schedule(const plan::Problem& problem,
                              const plan::Profile* /*profile*/) const override {
    const auto lanes = static_cast<std::int64_t>(problem.places.size());
    if (problem.batch < lanes) {
      throw UsageError("policy 'even_shares': a batch of " + std::to_string(problem.batch) +
                       " can't be shared by " + std::to_string(lanes) +
                       " lanes. Raise train.batch or name fewer lanes");
    }
    std::vector<std::string> names;
    for (const plan::PlaceInfo& place : problem.places) {
      names.push_back(place.name);
    }
    schedule::ScheduleBuilder builder("even_shares", names, problem.batch, problem.nodes);
    std::vector<schedule::Place> places(problem.places.size());
    std::iota(places.begin(), places.end(), 0);
    for (const schedule::Place place : places) {
      const schedule::SampleRange samples{place * problem.batch / lanes,
                                          (place + 1) * problem.batch / lanes};
      const bool direct = problem.places[static_cast<std::size_t>(place)].host_accessible;
      builder.load(place, samples, direct);
      if (!direct) {
        builder.copy(place, samples);
      }
      builder.forward(place, samples);
      builder.loss(place, samples);
      builder.backward(place, samples);
      builder.send(place);
    }
    builder.all_reduce(places);
    for (const schedule::Place place : places) {
      builder.update(place, /*reduced=*/true);
    }
    return std::move(builder).build();
  }
};
// [end of the example]

std::string text_of_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("The documented example policy divides a batch between any number of lanes") {
  plan::Problem problem = test::host_and_device();
  for (const std::string name : {"gpu1", "gpu2", "gpu3", "gpu4", "gpu5"}) {
    problem.places.push_back({name, lane::Kind::device, false});

    const auto schedule = EvenShares().schedule(problem, nullptr);

    CHECK(schedule::validate(schedule).empty());
    CHECK(schedule.active_places().size() == problem.places.size());
  }
}

TEST_CASE("The documented example policy refuses a batch with fewer samples than lanes") {
  plan::Problem problem = test::host_and_device();
  problem.batch = 1;

  CHECK_THROWS_AS(EvenShares().schedule(problem, nullptr), UsageError);
}

TEST_CASE("The documentation shows the example policy as it is compiled") {
  const std::string source = text_of_file("tests/policies/test_example_policy.cpp");
  const std::string begin = "// [begin of the example]\n";
  const auto first = source.find(begin) + begin.size();
  const auto last = source.find("// [end of the example]");
  REQUIRE(last != std::string::npos);

  const std::string page = text_of_file("docs/add_a_policy.md");

  CHECK(page.find(source.substr(first, last - first)) != std::string::npos);
}

}  // namespace
}  // namespace zygos::policies
