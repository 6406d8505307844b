# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# Finds what Zygos is built on and refuses, with the cure, what cannot work.

include(ZygosKokkos)
include(ZygosCudnn)
include(ZygosCommunicators)
include(ZygosExchange)

# What an installed Zygos asks for again: ZygosConfig.cmake is generated from these lines. Headers of nlohmann_json are
# nothing for who links us.
set(zygos_find_OpenSSL "OpenSSL COMPONENTS Crypto")
set(zygos_find_HDF5 "HDF5 COMPONENTS C")
set(zygos_dependencies "")
foreach(package IN ITEMS ZLIB OpenSSL HDF5 yaml-cpp fmt xxHash LibZip)
  if(package IN_LIST zygos_packages)
    if(NOT zygos_find_${package})
      set(zygos_find_${package} ${package})
    endif()
    list(APPEND zygos_dependencies "${zygos_find_${package}}")
  endif()
endforeach()
list(APPEND zygos_dependencies ${zygos_comm_dependencies} ${zygos_exchange_dependencies})
foreach(dependency IN LISTS zygos_dependencies)
  separate_arguments(words UNIX_COMMAND "${dependency}")
  find_package(${words} REQUIRED)
endforeach()
if(nlohmann_json IN_LIST zygos_packages)
  find_package(nlohmann_json REQUIRED)
endif()
if(TARGET yaml-cpp AND NOT TARGET yaml-cpp::yaml-cpp) # yaml-cpp before 0.8
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
