// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/launcher.hpp"

#include <catch2/catch_test_macros.hpp>

#include <map>
#include <string>

namespace zygos::test_launcher {
namespace {

int launched(const std::map<std::string, std::string>& variables) {
  return zygos::comm::launched_processes([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

}  // namespace

TEST_CASE("a process that no launcher started is alone", "[comm]") {
  CHECK(launched({}) == 0);
  CHECK(launched({{"PATH", "/bin"}}) == 0);
}

TEST_CASE("an allocation's shell is no launcher", "[comm]") {
  CHECK(launched({{"SLURM_NTASKS", "8"}, {"SLURM_STEP_NUM_TASKS", "8"}}) == 0);
}

TEST_CASE("each launcher's own variable tells the number of processes", "[comm]") {
  CHECK(launched({{"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "1"}}) == 4);
  CHECK(launched({{"PMI_SIZE", "3"}}) == 3);
  CHECK(launched({{"MV2_COMM_WORLD_SIZE", "2"}}) == 2);
  CHECK(launched({{"PMIX_RANK", "0"}, {"SLURM_STEP_NUM_TASKS", "16"}}) == 16);
}

TEST_CASE("a rank without a number of processes tells that there are as many at least", "[comm]") {
  CHECK(launched({{"PMIX_RANK", "0"}}) == 1);
  CHECK(launched({{"PMIX_RANK", "2"}}) == 3);
}

TEST_CASE("a variable that holds no number is as if not set", "[comm]") {
  CHECK(launched({{"PMI_SIZE", ""}}) == 0);
  CHECK(launched({{"PMI_SIZE", "many"}}) == 0);
  CHECK(launched({{"PMI_SIZE", "-4"}}) == 0);
  CHECK(launched({{"PMI_SIZE", "99999999999"}}) == 0);
}

}  // namespace zygos::test_launcher
