// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "load/onnx/layer_name.hpp"

#include <algorithm>

namespace zygos::load {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

std::string module_in(const std::string& parameter, const std::string& type) {
  const auto end = parameter.find_last_of("./");
  if (end == std::string::npos || parameter.find("::") != std::string::npos) {
    return {};
  }
  std::string name = parameter.substr(0, end);
  std::ranges::replace_if(
      name, [](char c) { return !is_letter(c) && !(c >= '0' && c <= '9') && c != '-'; }, '_');
  return name.empty() || is_letter(name.front()) ? name : type + "_" + name;
}

}  // namespace zygos::load
