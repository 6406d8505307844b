// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/build_facts.hpp"

#include "app/commands/commands.hpp"

#include "zygos/core/machine.hpp"
#include "zygos/core/version.hpp"
#include "zygos/memory/bytes.hpp"

#include <Kokkos_Core.hpp>

#include <H5public.h>
#include <fmt/format.h>

#include <fstream>

namespace zygos::app {

namespace {

std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("model name", 0) == 0) {
      const auto colon = line.find(':');
      return colon == std::string::npos ? line : line.substr(colon + 2);
    }
  }
  return "unknown";
}

}  // namespace

std::string zygos_version() { return std::string(version()); }

std::string kokkos_version() {
  return fmt::format("{}.{}.{}", KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100,
                     KOKKOS_VERSION % 100);
}

std::string version_line() {
  return fmt::format("zygos {} (Kokkos {}, HDF5 {}.{}.{})", zygos_version(), kokkos_version(),
                     H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE);
}

Facts version_facts() {
  return {{"zygos", zygos_version()},
          {"kokkos", kokkos_version()},
          {"hdf5", fmt::format("{}.{}.{}", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE)},
          {"compiler", ZYGOS_APP_COMPILER}};
}

Facts machine_facts() {
  return {{"processor", processor_name()},
          {"cores", fmt::format("{}", granted_cores(usable_cores().size()))},
          {"memory", memory::text_of_bytes(static_cast<std::size_t>(usable_memory()))}};
}

}  // namespace zygos::app
