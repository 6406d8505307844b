// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Which machine this is, as far as the speed of its lanes goes.
#include "zygos/core/machine.hpp"

#include "zygos/io/hash.hpp"
#include "zygos/plan/profile_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <span>
#include <sstream>
#include <string_view>

namespace zygos::plan {
namespace {

/// The value of the first "name : value" line of a file of /proc; empty if there is none.
std::string proc_value(const std::filesystem::path& file, std::string_view name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(':');
    if (line.rfind(name, 0) == 0 && colon != std::string::npos) {
      const auto begin = line.find_first_not_of(" \t", colon + 1);
      return begin == std::string::npos ? std::string() : line.substr(begin);
    }
  }
  return {};
}

std::string processor() {
  const std::string name = proc_value("/proc/cpuinfo", "model name");
  return name.empty() ? "unknown" : name;
}

std::string cores() {
  const auto numbers = usable_cores();
  return numbers.empty() ? "unknown" : std::to_string(granted_cores(numbers.size()));
}

/// The power of two nearest to the memory in GiB: what a container is given varies a little.
std::string memory_order() {
  const double gib = static_cast<double>(usable_memory()) / (1024.0 * 1024.0 * 1024.0);
  return gib > 0.0 ? fmt::format("about {:g} GiB", std::exp2(std::round(std::log2(gib))))
                   : "unknown";
}

/// Those that kernels and BLAS libraries choose their code by.
std::string instruction_sets() {
  const std::string x86 = proc_value("/proc/cpuinfo", "flags");
  std::istringstream flags(x86.empty() ? proc_value("/proc/cpuinfo", "Features") : x86);
  constexpr std::array prefixes{"sse4", "avx", "fma", "amx", "f16c", "asimd", "sve", "bf16"};
  std::vector<std::string> found;
  for (std::string flag; flags >> flag;) {
    if (std::ranges::any_of(prefixes,
                            [&](const char* prefix) { return flag.rfind(prefix, 0) == 0; })) {
      found.push_back(flag);
    }
  }
  std::ranges::sort(found);
  return found.empty() ? "none" : fmt::format("{}", fmt::join(found, " "));
}

std::string device() {
  const int count = lane::device_count();
  if (count == 0) {
    return "none";
  }
  std::string model;
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", ignored)) {
    model = proc_value(entry.path() / "information", "Model");
  }
  return fmt::format("{} x {}", count, model.empty() ? lane::device_space_name() : model);
}

std::string execution_spaces() {
  const std::string_view device_space = lane::device_space_name();
  return device_space == "none" ? "OpenMP, Serial"
                                : fmt::format("OpenMP, Serial, {}", device_space);
}

std::string lane_text(const lane::LaneSpec& spec) {
  std::string text = fmt::format("{} {}", spec.name, lane::name_of(spec.kind));
  if (spec.kind != lane::Kind::device) {
    text += spec.space == lane::HostSpace::serial ? " serial" : fmt::format(" x{}", spec.threads);
  }
  if (spec.link.bytes_per_second > 0.0 || spec.link.latency_s > 0.0) {
    text += fmt::format(" link {:g} B/s {:g} s", spec.link.bytes_per_second, spec.link.latency_s);
  }
  text += spec.unified ? " unified" : "";
  text += spec.cores.empty() ? "" : fmt::format(" on cores {}", fmt::join(spec.cores, "+"));
  return text +
         (spec.slowdown > 1.0 ? fmt::format(" slowdown {:g}", spec.slowdown) : std::string());
}

std::string lanes_text(const lane::LaneSet& lanes) {
  std::vector<std::string> texts;
  for (std::size_t place = 0; place < lanes.size(); ++place) {
    texts.push_back(lane_text(lanes[place].spec()));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

Facts machine_fingerprint() {
  return {{"processor", processor()},
          {"cores", cores()},
          {"memory", memory_order()},
          {"instruction sets", instruction_sets()},
          {"build type", ZYGOS_PLAN_BUILD_TYPE},
          {"execution spaces", execution_spaces()},
          {"device", device()}};
}

Facts identity_of(const graph::Graph& graph, const std::string& optimizer,
                  const lane::LaneSet& lanes, DType dtype, bool tf32) {
  const std::string text = graph.text();
  Facts facts = machine_fingerprint();
  facts.emplace_back("lanes", lanes_text(lanes));
  facts.emplace_back("model", fmt::format("{} ({} layers, {} parameters)",
                                          io::xxh64_hex(std::as_bytes(std::span(text))),
                                          graph.nodes().size(), graph.parameter_count()));
  facts.emplace_back("optimizer", optimizer);
  facts.emplace_back("precision", tf32 ? "tf32" : name_of(dtype));
  return facts;
}

}  // namespace zygos::plan
