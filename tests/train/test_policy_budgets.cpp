// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What is planned of a lane's memory is what a policy takes of it: enough as a budget, and a byte
// less is not.
#include "policy_cases.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/memory_plan.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <vector>

namespace zygos::test_policy_budgets {
namespace {

using test::CutModel;
using test::PolicyCase;
using test::SmallRun;

/// Those that learn with stale gradients, too.
std::vector<PolicyCase> all_policies(const CutModel& model) {
  std::vector<PolicyCase> cases = test::synchronous_policies(model);
  const policies::StageOptions three{.cuts = model.three, .lanes = {}};
  cases.push_back(
      {"pipedream", 3, policies::pipedream({.micro_batches = 8, .replicas = {}, .stages = three})});
  cases.push_back({"pipedream_2bw", 3, policies::pipedream_2bw({.updates = 2, .stages = three})});
  return cases;
}

/// Budgets by lane; 0: none.
struct BudgetedRun {
  BudgetedRun(const CutModel& model, int lanes, const std::vector<std::size_t>& budgets)
      : run(specs(lanes, budgets)) {
    run.use(model.graph);
  }
  static std::vector<lane::LaneSpec> specs(int lanes, const std::vector<std::size_t>& budgets) {
    auto specs = test::workers(lanes);
    for (std::size_t lane = 0; lane < budgets.size(); ++lane) {
      specs[lane].budget_bytes = budgets[lane];
    }
    return specs;
  }
  std::vector<double> weights_after_a_step(const train::PolicyPtr& policy) {
    const auto engine = run.engine(run.schedule_of(policy));
    engine->step(run.batch(), 1);
    return engine->weights();
  }

  SmallRun run;
};

std::vector<std::size_t> planned_bytes(const CutModel& model, const PolicyCase& one) {
  const BudgetedRun free(model, one.lanes, {});
  const schedule::Schedule schedule = free.run.schedule_of(one.policy);
  std::vector<std::size_t> bytes;
  for (const plan::LaneMemory& lane : plan::lane_memory(
           schedule,
           plan::plan_memory({free.run.graph, *free.run.optimizer, DType::f64, {}}, schedule))) {
    bytes.push_back(lane.lane.total());
  }
  return bytes;
}

}  // namespace

TEST_CASE("Every policy trains within the memory that is planned for it, with the same bits",
          "[train][policies]") {
  const CutModel model = test::dense_model();
  for (const PolicyCase& one : all_policies(model)) {
    CAPTURE(one.name, one.lanes);
    const auto planned = planned_bytes(model, one);

    const auto within = BudgetedRun(model, one.lanes, planned).weights_after_a_step(one.policy);

    CHECK(within == BudgetedRun(model, one.lanes, {}).weights_after_a_step(one.policy));
  }
}

TEST_CASE("Every policy is refused where a lane has a byte less than it needs",
          "[train][policies]") {
  const CutModel model = test::dense_model();
  for (const PolicyCase& one : all_policies(model)) {
    const auto planned = planned_bytes(model, one);
    for (std::size_t lane = 0; lane < planned.size(); ++lane) {
      if (planned[lane] == 0) {
        continue;
      }
      CAPTURE(one.name, one.lanes, lane, planned[lane]);
      std::vector<std::size_t> budgets(planned.size());
      budgets[lane] = planned[lane] - 1;

      CHECK_THROWS_AS(BudgetedRun(model, one.lanes, budgets).weights_after_a_step(one.policy),
                      MemoryError);
    }
  }
}

}  // namespace zygos::test_policy_budgets
