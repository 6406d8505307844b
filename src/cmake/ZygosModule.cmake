# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0

# Flags of our own code, and of nobody who links it.
add_library(zygos_flags INTERFACE)
target_compile_options(zygos_flags INTERFACE -Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # gcc 12 warns of its own std::string + (GCC bug 105651).
  target_compile_options(zygos_flags INTERFACE -Wno-restrict)
endif()
# Whether a target is compiled without Kokkos, see zygos_keep_from_kokkos(): in a CUDA build, whether by nvcc.
set(zygos_is_plain $<BOOL:$<TARGET_PROPERTY:ZYGOS_WITHOUT_KOKKOS>>)
set(zygos_strict_warnings -Wshadow -Wpedantic -Wconversion -Wsign-conversion)
if(ZYGOS_WARNINGS_AS_ERRORS)
  list(APPEND zygos_strict_warnings -Werror)
endif()
if(zygos_kokkos_device STREQUAL cuda)
  # The code that nvcc hands to the host compiler is not free of these, whatever ours is.
  target_compile_options(zygos_flags INTERFACE "$<${zygos_is_plain}:${zygos_strict_warnings}>")
else()
  target_compile_options(zygos_flags INTERFACE ${zygos_strict_warnings})
endif()
if(ZYGOS_HOST_ARCH)
  target_compile_options(zygos_flags INTERFACE -march=${ZYGOS_HOST_ARCH})
endif()
if(ZYGOS_SANITIZE)
  # gcc's sanitizers hide initialisations from its warnings, in std::regex for one.
  target_compile_options(zygos_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  if(ZYGOS_SANITIZE MATCHES thread)
    # Kokkos has fences, which ThreadSanitizer passes over; what we synchronise with is atomics.
    target_compile_options(zygos_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
  endif()
  add_compile_options(-fsanitize=${ZYGOS_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ZYGOS_SANITIZE})
endif()

if(zygos_kokkos_device STREQUAL cuda)
  # fmt 9 takes nvcc for a compiler without constexpr functions, and then contradicts itself.
  target_compile_definitions(zygos_flags INTERFACE $<$<NOT:${zygos_is_plain}>:FMT_USE_CONSTEXPR=1>)
endif()
if(ZYGOS_KOKKOS_FLAGS)
  target_compile_options(zygos_flags INTERFACE "$<$<NOT:${zygos_is_plain}>:${ZYGOS_KOKKOS_FLAGS}>")
endif()

if(ZYGOS_COMPILER_LAUNCHER AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND NOT zygos_kokkos_device STREQUAL cuda)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ZYGOS_COMPILER_LAUNCHER})
endif()

# zygos_add_module(<name> [SOURCES <file>...] [KOKKOS_SOURCES <file>...] [PUBLIC <target>...] [PRIVATE <target>...])
# One library zygos_<name> with the alias zygos::<name>, installed with the rest; nothing if no component needs it.
# KOKKOS_SOURCES include Kokkos, by themselves or through a header. SOURCES do not, and are compiled without Kokkos'
# options and folders: the host compiler has them in half of the time that nvcc takes.
function(zygos_add_module name)
  if(name IN_LIST zygos_left_out)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 module "" "" "SOURCES;KOKKOS_SOURCES;PUBLIC;PRIVATE")
  if(name IN_LIST zygos_all)
    zygos_check_description(${name} ${module_PUBLIC} ${module_PRIVATE})
  endif()
  set(target zygos_${name})
  list(TRANSFORM module_PUBLIC REPLACE "^Kokkos::kokkos$" zygos::kokkos)
  list(TRANSFORM module_PRIVATE REPLACE "^Kokkos::kokkos$" zygos::kokkos)
  # Only headers: nothing that who links us needs.
  list(TRANSFORM module_PRIVATE REPLACE "^(nlohmann_json::nlohmann_json)$" "$<BUILD_INTERFACE:\\1>")

  set(targets ${target})
  if(NOT module_SOURCES OR NOT module_KOKKOS_SOURCES)
    add_library(${target} ${module_SOURCES} ${module_KOKKOS_SOURCES})
  else()
    add_library(${target}_plain OBJECT ${module_SOURCES})
    add_library(${target} ${module_KOKKOS_SOURCES} $<TARGET_OBJECTS:${target}_plain>)
    list(APPEND targets ${target}_plain)
  endif()
  add_library(zygos::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${name} VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  foreach(part IN LISTS targets)
    target_compile_features(${part} PUBLIC cxx_std_20)
    target_include_directories(${part}
      PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
             $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
      PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/src)
    target_link_libraries(${part} PUBLIC ${module_PUBLIC} PRIVATE ${module_PRIVATE} $<BUILD_INTERFACE:zygos_flags>)
    if(module_SOURCES AND (NOT module_KOKKOS_SOURCES OR part MATCHES "_plain$"))
      zygos_keep_from_kokkos(${part})
    elseif(zygos_kokkos_device STREQUAL cuda)
      set_target_properties(${part} PROPERTIES UNITY_BUILD_BATCH_SIZE 20) # nvcc needs 14 s for Kokkos' headers
    endif()
  endforeach()
endfunction()

# Compiles a target without Kokkos, but for the processor that Kokkos has chosen: it shares types with what includes it,
# whose sizes follow from the width of vectors. ccache can keep what nvcc has no hand in: a CUDA build takes it from that of
# a host, with the same options.
function(zygos_keep_from_kokkos target)
  set_target_properties(${target} PROPERTIES ZYGOS_WITHOUT_KOKKOS ON)
  target_compile_options(${target} PRIVATE ${zygos_kokkos_processor})
  if(zygos_kokkos_device STREQUAL cuda)
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${ZYGOS_COMPILER_LAUNCHER}")
  endif()
endfunction()

# zygos_check_description(<module> <what it links>...): src/cmake/ZygosComponents.cmake has to say so, too, or a build of
# some components would lack a library.
function(zygos_check_description name)
  set(reached ${zygos_uses_${name}})
  set(backwards ${zygos_all})
  list(REVERSE backwards)
  foreach(module IN LISTS backwards)
    if(module IN_LIST reached)
      list(APPEND reached ${zygos_uses_${module}})
    endif()
  endforeach()
  foreach(link IN LISTS ARGN)
    if(link MATCHES "^zygos::(.+)$" AND NOT CMAKE_MATCH_1 IN_LIST reached)
      message(FATAL_ERROR "Module ${name} links ${link}, but src/cmake/ZygosComponents.cmake does not say that it uses it.")
    endif()
  endforeach()
endfunction()

# Zygos::zygos, what programs link: every module that is built but the Fortran one, which has modules of one compiler.
function(zygos_add_facade)
  add_library(zygos INTERFACE)
  add_library(zygos::zygos ALIAS zygos)
  add_library(Zygos::zygos ALIAS zygos)
  foreach(module IN LISTS zygos_needed)
    if(NOT module STREQUAL fortran)
      target_link_libraries(zygos INTERFACE zygos_${module})
    endif()
  endforeach()
endfunction()
