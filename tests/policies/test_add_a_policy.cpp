// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// docs/add_a_policy.md walks through a policy that is there: this keeps them the same.
#include <catch2/catch_test_macros.hpp>

#include <fstream>
#include <iterator>
#include <string>

namespace zygos::policies::test_add_a_policy {
namespace {

std::string text_of_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// From the line that begins with `first` to the line `last`, both included.
std::string lines_of(const std::string& text, const std::string& first, const std::string& last) {
  const auto begin = text.find("\n" + first);
  const auto end = text.find("\n" + last + "\n", begin);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  return text.substr(begin + 1, end + last.size() + 1 - begin);
}

TEST_CASE("The documentation shows the policy it walks through as it is compiled") {
  const std::string source = text_of_file("policies/layer_placement.cpp");
  const std::string page = text_of_file("docs/add_a_policy.md");

  CHECK(page.find(lines_of(source, "class LayerPlacement", "};")) != std::string::npos);
  CHECK(page.find(lines_of(source, "train::PolicyEntry", "}")) != std::string::npos);
}

}  // namespace
}  // namespace zygos::policies::test_add_a_policy
