# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0

# Flags of our own code, and of nobody who links it.
add_library(zygos_flags INTERFACE)
target_compile_options(zygos_flags INTERFACE -Wall -Wextra -Wshadow)
if(zygos_device STREQUAL none)
  # nvcc's generated code does not survive these.
  target_compile_options(zygos_flags INTERFACE -Wpedantic -Wconversion -Wsign-conversion)
endif()
if(ZYGOS_WARNINGS_AS_ERRORS)
  target_compile_options(zygos_flags INTERFACE -Werror)
endif()
if(ZYGOS_HOST_ARCH)
  target_compile_options(zygos_flags INTERFACE -march=${ZYGOS_HOST_ARCH})
endif()
if(ZYGOS_SANITIZE)
  add_compile_options(-fsanitize=${ZYGOS_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ZYGOS_SANITIZE})
endif()

# zygos_add_module(<name> SOURCES <file>... [PUBLIC <target>...] [PRIVATE <target>...])
# One library zygos_<name> with the alias zygos::<name>.
function(zygos_add_module name)
  cmake_parse_arguments(PARSE_ARGV 1 module "" "" "SOURCES;PUBLIC;PRIVATE")
  set(target zygos_${name})
  add_library(${target} ${module_SOURCES})
  add_library(zygos::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} VERSION ${PROJECT_VERSION})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
           $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${target} PUBLIC ${module_PUBLIC} PRIVATE ${module_PRIVATE} $<BUILD_INTERFACE:zygos_flags>)
endfunction()
