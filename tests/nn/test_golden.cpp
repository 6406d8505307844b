// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// PyTorch as a second judge: tests/reference/golden_torch.py says how its answers were made, and
// how to add a case.
#include "nn/support/golden.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace zygos::testing {
namespace {

using Names = std::vector<std::string>;

/// Keywords that PyTorch has nothing to compare with; say why when adding one. None so far: the
/// cases of dropout draw no random numbers.
const Names exempt{};

/// Keywords of the registry that no case of the file names.
template <class Product>
Names not_judged(const std::vector<nn::Entry<Product>>& entries, const std::string& kind) {
  Names judged = exempt;
  for (const Json& one : golden_cases(kind)) {
    judged.push_back(section_of(entries, one.at(kind)).text("type"));
  }
  Names missing = keywords(entries);
  std::erase_if(missing, [&](const std::string& keyword) {
    return std::ranges::find(judged, keyword) != judged.end();
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

TEST_CASE("PyTorch has judged every keyword of the registries") {
  CHECK(not_judged(nn::layer_registry(), "layer") == Names{});
  CHECK(not_judged(nn::loss_registry(), "loss") == Names{});
  CHECK(not_judged(nn::optimizer_registry(), "optimizer") == Names{});
  CHECK(not_judged(nn::rate_schedule_registry(), "rate") == Names{});
}

TEST_CASE("A wrong number, parameter or keyword in the file is seen") {
  using Judge = GoldenLayer<Kokkos::Serial, double>;
  const Json good = golden_cases("layer").front();
  REQUIRE(Judge(good).differences() == "");

  Json wrong = good;
  double& value = wrong["d_inputs"][0]["values"][1].get_ref<double&>();
  value += 1e-13 * std::max(1.0, std::abs(value));
  CHECK_FALSE(Judge(wrong).differences() == "");
  wrong = good;
  wrong["parameters"].erase("bias");
  CHECK_FALSE(Judge(wrong).differences() == "");
  wrong = good;
  wrong["layer"] = "dens";
  CHECK_THROWS_AS(Judge(wrong), deck::DeckError);
}

}  // namespace zygos::testing
