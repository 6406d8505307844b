# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# Finds what Zygos is built on and refuses, with the cure, what cannot work.

include(ZygosKokkos)
include(ZygosCommunicators)
include(ZygosExchange)

# What an installed Zygos asks for again: ZygosConfig.cmake is generated from these lines.
set(zygos_dependencies
    "Threads"
    "ZLIB"
    "OpenSSL COMPONENTS Crypto"
    "HDF5 COMPONENTS C"
    "yaml-cpp"
    "fmt"
    "xxHash"
    "LibZip"
    ${zygos_comm_dependencies}
    ${zygos_exchange_dependencies})
foreach(dependency IN LISTS zygos_dependencies)
  separate_arguments(words UNIX_COMMAND "${dependency}")
  find_package(${words} REQUIRED)
endforeach()
find_package(nlohmann_json REQUIRED) # headers only: nothing for who links us
if(NOT TARGET yaml-cpp::yaml-cpp) # yaml-cpp before 0.8
  add_library(yaml-cpp::yaml-cpp INTERFACE IMPORTED)
  target_link_libraries(yaml-cpp::yaml-cpp INTERFACE yaml-cpp)
endif()

if(ZYGOS_ENABLE_APP)
  find_package(CLI11 CONFIG REQUIRED)
endif()
if(ZYGOS_ENABLE_TESTS)
  find_package(Catch2 3 CONFIG QUIET)
  if(NOT Catch2_FOUND)
    message(FATAL_ERROR
      "Catch2 3 was not found; the tests need it. Give -DCatch2_ROOT=<prefix>, switch the tests off with "
      "-DZYGOS_ENABLE_TESTS=OFF, or use ./bootstrap.")
  endif()
endif()
if(ZYGOS_ENABLE_PERF)
  find_package(benchmark CONFIG REQUIRED)
endif()
