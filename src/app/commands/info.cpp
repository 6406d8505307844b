// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/build_facts.hpp"
#include "app/commands/commands.hpp"
#include "app/kokkos_session.hpp"
#include "app/run/lane_choice.hpp"

#include "zygos/lane/lane_set.hpp"

#include <Kokkos_Core.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace zygos::app {

namespace {

/// How this build multiplies on a host.
#if defined(__AMX_BF16__)
constexpr const char* float_products = "AMX, in parts, where it pays; else multiply-adds";
constexpr const char* bf16_products = "AMX, or AVX-512 BF16 where the system refuses tiles";
#else
constexpr const char* float_products = "multiply-adds";
#if defined(__AVX512BF16__)
constexpr const char* bf16_products = "AVX-512 BF16";
#else
constexpr const char* bf16_products = "widened to float";
#endif
#endif

/// How many there are; of a build with device support also why there is none.
std::string devices() {
  const int count = lane::device_count();
  return count == 0 && lane::device_space_name() != "none"
             ? fmt::format("0 ({})", lane::device_absence())
             : fmt::format("{}", count);
}

Facts space_facts() {
  return {{"device space", std::string(lane::device_space_name())},
          {"devices", devices()},
          {"host space", Kokkos::OpenMP::name()},
          {"host threads", fmt::format("{}", this_machine().cores)},
          {"float products", float_products},
          {"bf16 products", bf16_products}};
}

void say_facts(Console& console, const std::string& head, const Facts& facts) {
  console.say(head, head.size());
  for (const auto& [name, value] : facts) {
    console.say(fmt::format("  {:<14} {}", name, value));
  }
}

nlohmann::json json_of(const Facts& facts) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [name, value] : facts) {
    object[name] = value;
  }
  return object;
}

}  // namespace

ExitCode run_info(const Invocation& invocation, Console& console) {
  const KokkosSession session(invocation.kokkos_arguments);
  std::ostringstream configuration;
  Kokkos::print_configuration(configuration, invocation.console.verbosity > 0);
  say_facts(console, "Versions", version_facts());
  say_facts(console, "Machine", machine_facts());
  say_facts(console, "Execution spaces", space_facts());
  console.detail(configuration.str());
  if (console.wants_json()) {
    console.json({{"versions", json_of(version_facts())},
                  {"machine", json_of(machine_facts())},
                  {"spaces", json_of(space_facts())},
                  {"kokkos_configuration", configuration.str()}});
  }
  return ExitCode::done;
}

}  // namespace zygos::app
