// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// PyTorch as a reference: tests/reference/golden_torch.py says how its answers were made, and
// how to add a case.
#include "nn/support/golden.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace zygos::testing::test_golden {
namespace {

using Names = std::vector<std::string>;

/// Keywords that PyTorch has nothing to compare with; say why when adding one. PyTorch has no 1-bit
/// Adam; until the freeze ours has the bits of Adam, which is compared. The cases of dropout draw
/// no random numbers.
const Names exempt{"one_bit_adam"};

/// Keywords of the registry that no case of the file names.
template <class Product>
Names without_golden(const std::vector<nn::Entry<Product>>& entries, const std::string& kind) {
  Names covered = exempt;
  for (const Json& one : golden_cases(kind)) {
    covered.push_back(section_of(entries, one.at(kind)).text("type"));
  }
  Names missing = keywords(entries);
  std::erase_if(missing, [&](const std::string& keyword) {
    return std::ranges::find(covered, keyword) != covered.end();
  });
  return missing;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("Every layer has PyTorch's outputs and gradients", "", KernelCases) {
  for (const Json& one : golden_cases("layer")) {
    CAPTURE(one.at("layer"));
    GoldenLayer<typename TestType::Exec, typename TestType::T> layer(one);
    CHECK(layer.differences() == "");
  }
}

TEMPLATE_LIST_TEST_CASE("Every loss has PyTorch's value and gradient", "", KernelCases) {
  for (const Json& one : golden_cases("loss")) {
    CAPTURE(one.at("loss"));
    CHECK(loss_differences<typename TestType::Exec, typename TestType::T>(one) == "");
  }
}

TEMPLATE_LIST_TEST_CASE("Every optimizer goes PyTorch's way", "", KernelCases) {
  for (const Json& one : golden_cases("optimizer")) {
    CAPTURE(one.at("optimizer"));
    CHECK(optimizer_differences<typename TestType::Exec, typename TestType::T>(one) == "");
  }
}

TEST_CASE("Every schedule of rates has PyTorch's factors") {
  for (const Json& one : golden_cases("rate")) {
    CAPTURE(one.at("rate"));
    CHECK(rate_differences(one) == "");
  }
}

TEST_CASE("PyTorch has golden values for every keyword of the registries") {
  CHECK(without_golden(nn::layer_registry(), "layer") == Names{});
  CHECK(without_golden(nn::loss_registry(), "loss") == Names{});
  CHECK(without_golden(nn::optimizer_registry(), "optimizer") == Names{});
  CHECK(without_golden(nn::rate_schedule_registry(), "rate") == Names{});
}

TEST_CASE("A wrong number, parameter or keyword in the file is seen") {
  using Golden = GoldenLayer<Kokkos::Serial, double>;
  const Json good = golden_cases("layer").front();
  REQUIRE(Golden(good).differences() == "");

  Json wrong = good;
  double& value = wrong["d_inputs"][0]["values"][1].get_ref<double&>();
  value += 1e-13 * std::max(1.0, std::abs(value));
  CHECK_FALSE(Golden(wrong).differences() == "");
  wrong = good;
  wrong["parameters"].erase("bias");
  CHECK_FALSE(Golden(wrong).differences() == "");
  wrong = good;
  wrong["layer"] = "dens";
  CHECK_THROWS_AS(Golden(wrong), deck::DeckError);
}

}  // namespace zygos::testing::test_golden
