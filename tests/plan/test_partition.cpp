// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "plan/two_places.hpp"

#include "zygos/core/error.hpp"
#include "zygos/core/philox.hpp"
#include "zygos/plan/partition.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

namespace zygos::plan::test_partition {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using schedule::NodeRange;
using schedule::Place;
using schedule::TaskKind;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Small whole numbers from a counter: no two cases alike, and the same on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t number) : key_{number, RngPurpose::data, 0} {}
  std::int64_t roll(std::int64_t low, std::int64_t high) {
    const std::uint32_t value = random_block(key_, 0, next_++).v[0];
    return low + static_cast<std::int64_t>(value) % (high - low + 1);
  }

 private:
  RngKey key_;
  std::uint32_t next_ = 0;
};

/// A chain with a few skips, sizes and speeds at random; budgets that are sometimes tight.
struct Case {
  Problem problem;
  Profile profile;
  PartitionRequest request;
};

schedule::ModelOutline random_model(Dice& dice) {
  schedule::ModelOutline model = test::chain(static_cast<std::int32_t>(dice.roll(2, 6)));
  std::int64_t offset = 0;
  for (std::int32_t i = 0; i < model.node_count(); ++i) {
    auto& node = model.nodes[static_cast<std::size_t>(i)];
    node.output_bytes = 4 * dice.roll(1, 50);
    const std::int64_t parameters = 16 * dice.roll(0, 8);
    node.parameters = {offset, offset + parameters};
    offset += parameters;
    node.flops = static_cast<double>(dice.roll(0, 9));
    node.has_backward = i > 0 || dice.roll(0, 1) == 1;
    if (i >= 2 && dice.roll(0, 2) == 0) {
      node.inputs.push_back(static_cast<std::int32_t>(dice.roll(0, i - 2)));
    }
  }
  return model;
}

PlaceCosts random_costs(Dice& dice, std::int32_t nodes) {
  PlaceCosts costs;
  const double slowness = static_cast<double>(dice.roll(1, 4));
  for (std::int32_t node = 0; node < nodes; ++node) {
    costs.forward.push_back(test::line(slowness * static_cast<double>(dice.roll(1, 20))));
    costs.backward.push_back(test::line(slowness * static_cast<double>(dice.roll(1, 40))));
  }
  costs.pass_s = static_cast<double>(dice.roll(0, 3));
  for (const TaskKind kind : {TaskKind::load, TaskKind::copy, TaskKind::send, TaskKind::receive}) {
    costs.others[kind] = test::line(0.01 * static_cast<double>(dice.roll(0, 30)));
  }
  costs.others[TaskKind::loss] = test::line(static_cast<double>(dice.roll(0, 5)));
  costs.others[TaskKind::update] = test::line(0.1 * static_cast<double>(dice.roll(0, 5)));
  return costs;
}

Case random_case(std::uint64_t number) {
  Dice dice(number);
  Case made;
  made.problem.model = random_model(dice);
  made.problem.batch = dice.roll(1, 8);
  const auto nodes = made.problem.model.node_count();
  const auto places = dice.roll(1, std::min<std::int64_t>(nodes, 4));
  for (std::int64_t place = 0; place < places; ++place) {
    const bool host = place == 0;
    const std::size_t budget =
        dice.roll(0, 1) == 0 ? 0 : static_cast<std::size_t>(dice.roll(500, 6000));
    made.problem.places.push_back({"p" + std::to_string(place),
                                   host ? lane::Kind::host : lane::Kind::emulated, host, budget});
    made.profile.places.push_back({random_costs(dice, nodes), {}, host});
  }
  made.request.goal =
      dice.roll(0, 1) == 0 ? PartitionGoal::slowest_stage : PartitionGoal::sum_of_stages;
  made.request.micro_batches = dice.roll(1, 4);
  made.request.use_all_places = dice.roll(0, 1) == 0;
  made.request.max_replicas = static_cast<std::int32_t>(dice.roll(1, 2));
  made.request.in_flight = dice.roll(0, 1) == 0 ? for_pipedream(4) : for_gpipe(3);
  return made;
}

/// Every division of the nodes, every order of every subset of the places, every number of
/// replicas: no table, no order of evaluation, only stage_plan().
class BruteForce {
 public:
  BruteForce(const Case& one, const Profile* profile) : case_(one), profile_(profile) {}

  double best() {
    std::vector<StageChoice> stages;
    divide(0, stages);
    return best_;
  }

 private:
  void divide(std::int32_t begin, std::vector<StageChoice>& stages) {
    if (begin == case_.problem.model.node_count()) {
      std::vector<std::vector<Place>> places;
      std::vector<Place> free(case_.problem.places.size());
      std::iota(free.begin(), free.end(), 0);
      return assign(stages, places, free);
    }
    for (std::int32_t end = begin + 1; end <= case_.problem.model.node_count(); ++end) {
      for (std::int32_t replicas = 1; replicas <= case_.request.max_replicas; ++replicas) {
        stages.push_back({{begin, end}, 0, replicas, 0});
        divide(end, stages);
        stages.pop_back();
      }
    }
  }

  /// Gives the next stage every choice of its replicas among the free places.
  void assign(const std::vector<StageChoice>& stages, std::vector<std::vector<Place>>& places,
              const std::vector<Place>& free) {
    if (places.size() == stages.size()) {
      if (free.empty() || !case_.request.use_all_places) {
        weigh(stages, places);
      }
      return;
    }
    const auto wanted = static_cast<std::size_t>(stages[places.size()].replicas);
    for (std::uint32_t mask = 0; mask < (1U << free.size()); ++mask) {
      std::vector<Place> taken, rest;
      for (std::size_t i = 0; i < free.size(); ++i) {
        ((mask >> i & 1U) != 0 ? taken : rest).push_back(free[i]);
      }
      if (taken.size() == wanted) {
        places.push_back(taken);
        assign(stages, places, rest);
        places.pop_back();
      }
    }
  }

  void weigh(std::vector<StageChoice> stages, const std::vector<std::vector<Place>>& places) {
    double worst = 0.0, sum = 0.0;
    std::int32_t behind = 0;
    for (std::size_t i = stages.size(); i-- > 0;) {
      stages[i].places_behind = behind;
      behind += stages[i].replicas;
      const StagePlan stage =
          stage_plan(case_.problem, profile_, case_.request, stages[i], places[i]);
      for (const Place place : places[i]) {
        const std::size_t budget =
            case_.problem.places[static_cast<std::size_t>(place)].budget_bytes;
        if (budget > 0 && stage.bytes > budget) {
          return;
        }
      }
      worst = std::max({worst, stage.compute_s, stage.outgoing_s, stage.incoming_s});
      sum += stage.compute_s + stage.outgoing_s + stage.incoming_s;
    }
    best_ = std::min(best_, case_.request.goal == PartitionGoal::slowest_stage ? worst : sum);
  }

  const Case& case_;
  const Profile* profile_;
  double best_ = infinity;
};

double cost_or_infinity(const Case& one, const Profile* profile) {
  try {
    return partition(one.problem, profile, one.request).cost_s;
  } catch (const MemoryError&) {
    return infinity;
  }
}

bool same(double a, double b) { return a == b || std::abs(a - b) <= 1e-12 * std::abs(b); }

TEST_CASE("The divider finds what trying everything finds") {
  int infeasible = 0;
  for (std::uint64_t number = 0; number < 400; ++number) {
    CAPTURE(number);
    const Case one = random_case(number);
    const Profile* profile = number % 8 == 0 ? nullptr : &one.profile;
    const double least = BruteForce(one, profile).best();
    const double found = cost_or_infinity(one, profile);
    infeasible += least == infinity ? 1 : 0;
    REQUIRE(same(found, least));
  }
  // Some of these cases must be about memory, but most must have an answer.
  CHECK(infeasible > 20);
  CHECK(infeasible < 200);
}

TEST_CASE("The stages of a division cover all nodes in order, and its cost is theirs") {
  for (std::uint64_t number = 0; number < 100; ++number) {
    CAPTURE(number);
    Case one = random_case(number);
    for (PlaceInfo& place : one.problem.places) {
      place.budget_bytes = 0;
    }
    const Partition found = partition(one.problem, &one.profile, one.request);
    std::int32_t next = 0;
    std::set<Place> places;
    double worst = 0.0, sum = 0.0;
    for (const StagePlan& stage : found.stages) {
      CHECK(stage.nodes.begin == next);
      CHECK(stage.nodes.count() > 0);
      next = stage.nodes.end;
      for (const Place place : stage.places) {
        CHECK(places.insert(place).second);
      }
      worst = std::max({worst, stage.compute_s, stage.outgoing_s, stage.incoming_s});
      sum += stage.compute_s + stage.outgoing_s + stage.incoming_s;
    }
    CHECK(next == one.problem.model.node_count());
    CHECK(same(found.cost_s, one.request.goal == PartitionGoal::slowest_stage ? worst : sum));
    if (one.request.use_all_places) {
      CHECK(places.size() == one.problem.places.size());
    }
  }
}

TEST_CASE("A stage costs its passes, samples, loss, update and both borders") {
  // Node 1 of a chain of three, two samples; its border tensors have 8 bytes a sample.
  const Problem problem = test::two_place_problem(2);
  Profile profile = test::linear_profile(6.0, 60.0);
  auto& device = profile.places[1].alone;
  device.pass_s = 0.5;
  device.others[TaskKind::load] = test::line(1.0);
  device.others[TaskKind::copy] = test::line(0.25);
  device.others[TaskKind::loss] = test::line(100.0);
  device.others[TaskKind::update] = test::line(2.0);
  device.others[TaskKind::send] = test::line(3.0);
  device.others[TaskKind::receive] = test::line(5.0);
  PartitionRequest request;
  request.micro_batches = 4;
  request.in_flight = for_gpipe(4);

  const StagePlan middle = stage_plan(problem, &profile, request, {{1, 2}, 1, 1, 1}, {1});
  const StagePlan last = stage_plan(problem, &profile, request, {{1, 3}, 1, 1, 0}, {1});

  // Passes 2 * (10 * 2 + 0.5), ids 2 * 4 bytes loaded and copied, 16 elements updated once in four.
  CHECK_THAT(middle.compute_s, WithinRel(41.0 + 8.0 + 2.0 + 8.0));
  CHECK_THAT(middle.outgoing_s, WithinRel(3.0 * (16 + 16)));
  CHECK_THAT(middle.incoming_s, WithinRel(5.0 * (16 + 16)));
  // Weights, gradient and one state of 16 floats; input and output of four times two samples.
  CHECK(middle.bytes == 3 * 64 + 4 * 2 * (8 + 8));
  // The last one loads targets too, evaluates the loss and has one border.
  CHECK_THAT(last.compute_s, WithinRel(81.0 + 16.0 + 4.0 + 200.0 + 16.0));
  CHECK_THAT(last.outgoing_s, WithinRel(3.0 * 16));
}

TEST_CASE("A skip connection over a cut is carried, and counts") {
  Problem problem = test::two_place_problem(1);
  problem.model.nodes[2].inputs = {1, 0};
  const Profile profile = test::linear_profile(6.0, 6.0, 1.0);
  PartitionRequest request;
  request.in_flight = for_gpipe(1);

  const StagePlan last = stage_plan(problem, &profile, request, {{2, 3}, 1, 1, 0}, {1});

  CHECK(last.bytes == 3 * 64 + 8 + 2 * 8);
}

TEST_CASE("Equal layers on equal places are cut in the middle") {
  Problem problem;
  problem.places = {{"a", lane::Kind::host, true, 0}, {"b", lane::Kind::emulated, false, 0}};
  problem.batch = 10;
  problem.model = test::chain(16);

  const Partition found = partition(problem, nullptr, {});

  REQUIRE(found.ranges() == std::vector<NodeRange>{{0, 8}, {8, 16}});
  CHECK(found.stages[0].places == std::vector<Place>{0});
  CHECK(found.stages[1].places == std::vector<Place>{1});
  CHECK_THAT(found.cost_s, WithinRel(8 * 64.0));
}

TEST_CASE("Without FLOPs layers are weighed by their parameters, without these all alike") {
  Problem problem = test::two_place_problem(10);
  for (auto& node : problem.model.nodes) {
    node.flops = 0.0;
  }
  problem.model.nodes[0].parameters = {0, 0};
  problem.model.nodes[1].parameters = {0, 16};
  CHECK(partition(problem, nullptr, {}).ranges() == std::vector<NodeRange>{{0, 2}, {2, 3}});
  for (auto& node : problem.model.nodes) {
    node.parameters = {0, 0};
  }
  CHECK(partition(problem, nullptr, {}).cost_s == 2.0);
}

TEST_CASE("A place four times as fast gets most of the layers, wherever it stands") {
  Problem problem;
  problem.places = {{"fast", lane::Kind::host, true, 0}, {"slow", lane::Kind::emulated, false, 0}};
  problem.batch = 1;
  problem.model = test::chain(10);
  Profile profile = test::linear_profile(1.0, 4.0);
  for (std::size_t place = 0; place < 2; ++place) {
    auto& costs = profile.places[place].alone;
    costs.forward.assign(10, costs.forward[0]);
    costs.backward.assign(10, costs.backward[0]);
  }

  const Partition found = partition(problem, &profile, {});

  for (const StagePlan& stage : found.stages) {
    CHECK(stage.nodes.count() == (stage.places.front() == 0 ? 8 : 2));
  }
}

TEST_CASE("A dear link moves the cut to where little crosses it") {
  Problem problem = test::two_place_problem(1);
  problem.model = test::chain(4);
  problem.model.nodes[1].output_bytes = 800;
  Profile profile = test::linear_profile(6.0, 6.0);
  for (PlaceProfile& place : profile.places) {
    place.alone.forward.assign(4, test::line(1.0));
    place.alone.backward.assign(4, test::line(1.0));
    place.alone.others[TaskKind::receive] = test::line(0.01);
  }

  CHECK(partition(problem, &profile, {}).stages.front().nodes.count() != 2);
  profile.places[0].alone.others[TaskKind::receive] = test::line(0.0);
  profile.places[1].alone.others[TaskKind::receive] = test::line(0.0);
  CHECK(partition(problem, &profile, {}).stages.front().nodes.count() == 2);
}

TEST_CASE("Early stages of 1F1B keep more micro-batches, PipeDream's more versions as well") {
  const auto kept = [](const auto& rule, std::int32_t replicas, std::int32_t behind) {
    const InFlight found = rule({{0, 1}, 0, replicas, behind});
    return std::pair{found.micro_batches, found.versions};
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;

  for (std::int32_t stage = 0; stage < 4; ++stage) {
    CHECK(kept(for_pipedream(8), 1, 3 - stage) == Pair{4 - stage, 4 - stage});
    CHECK(kept(for_pipedream(8, schedule::Tier::file), 1, 3 - stage) ==
          Pair{4 - stage, std::min(2, 4 - stage)});
    CHECK(kept(for_one_f_one_b(8), 1, 3 - stage) == Pair{4 - stage, 1});
    CHECK(kept(for_one_f_one_b(2), 1, 3 - stage) == Pair{std::min(2, 4 - stage), 1});
    CHECK(kept(for_gpipe(8), 1, 3 - stage) == Pair{8, 1});
  }
  // A stage of two and one of one: 2, 1.
  CHECK(kept(for_pipedream(8), 2, 1) == Pair{2, 2});
  CHECK(kept(for_pipedream(8), 1, 0) == Pair{1, 1});
}

TEST_CASE("What fits nowhere is refused with what it needs and what there is") {
  Problem problem = test::two_place_problem(100);
  problem.places[0].budget_bytes = 1000;
  problem.places[1].budget_bytes = 2000;

  CHECK_THROWS_MATCHES(partition(problem, nullptr, {}), MemoryError,
                       MessageMatches(ContainsSubstring("no division of the 3 layers") &&
                                      ContainsSubstring("host ") && ContainsSubstring("device ")));
}

TEST_CASE("More places than layers are refused if each must have a stage") {
  Problem problem = test::two_place_problem(100);
  problem.model = test::chain(1);

  CHECK_THROWS_AS(partition(problem, nullptr, {}), UsageError);
  PartitionRequest request;
  request.use_all_places = false;
  CHECK(partition(problem, nullptr, request).stages.size() == 1);
}

}  // namespace
}  // namespace zygos::plan::test_partition
