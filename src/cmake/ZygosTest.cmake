# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0

add_custom_target(zygos_thread_tests)

# In a build for a device nvcc compiles every test that includes Kokkos, so there is one program, of the tests that
# launch kernels on the device; all others test the same code as a build for the host alone does.
set(zygos_one_test_program OFF)
if(NOT zygos_device STREQUAL none AND NOT ZYGOS_ENABLE_HOST_TESTS)
  set(zygos_one_test_program ON)
endif()

# zygos_add_test(<name> SOURCES <file>... [LINK <target>...] [LABELS <label>...] [ARGS <argument>...] [KOKKOS] [DEVICE])
# A Catch2 executable and its ctest entry, run in the root of the source tree.
# KOKKOS: Kokkos is initialised, with four threads, around the whole run.
# DEVICE: runs kernels on every execution space of the build; part of zygos_device_tests.
# The label threads: runs under ThreadSanitizer, too (preset tsan).
function(zygos_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "KOKKOS;DEVICE" "" "SOURCES;LINK;LABELS;ARGS")
  if(zygos_one_test_program)
    if(test_DEVICE)
      list(TRANSFORM test_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
      set_property(GLOBAL APPEND PROPERTY zygos_device_test_sources ${test_SOURCES})
      set_property(GLOBAL APPEND PROPERTY zygos_device_test_links ${test_LINK})
    endif()
    return()
  endif()
  zygos_add_test_program(${name} ${ARGN})
endfunction()

# The program of all tests with DEVICE.
function(zygos_add_device_tests)
  get_property(sources GLOBAL PROPERTY zygos_device_test_sources)
  get_property(links GLOBAL PROPERTY zygos_device_test_links)
  list(REMOVE_DUPLICATES links)
  zygos_add_test_program(zygos_device_tests SOURCES ${sources} LINK ${links} KOKKOS)
  # Test files use the same names in their unnamed namespaces.
  set_target_properties(zygos_device_tests PROPERTIES UNITY_BUILD OFF)
endfunction()

function(zygos_add_test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 test "KOKKOS;DEVICE" "" "SOURCES;LINK;LABELS;ARGS")
  if(test_KOKKOS)
    list(APPEND test_SOURCES $<TARGET_OBJECTS:zygos_test_kokkos_session>)
    list(APPEND test_LINK zygos::lane)
  endif()

  add_executable(${name} ${test_SOURCES})
  target_include_directories(${name} PRIVATE
    ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/src)
  target_link_libraries(${name} PRIVATE ${test_LINK} Catch2::Catch2WithMain zygos_flags)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name} ${test_ARGS} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS "${test_LABELS}" TIMEOUT ${zygos_test_timeout})
  if("threads" IN_LIST test_LABELS)
    add_dependencies(zygos_thread_tests ${name})
  endif()
endfunction()

# zygos_add_mpi_test(<name> RANKS <number> COMMAND <executable target> [<argument>...] [EXIT_CODE <number>])
# Runs a program under mpirun, more ranks than cores if need be. Nothing in a build without MPI. Leaks are not looked
# for: MPI leaves some behind, in plug-ins that are gone when they are counted.
function(zygos_add_mpi_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "RANKS;EXIT_CODE" "COMMAND")
  if(NOT zygos_mpi)
    return()
  endif()
  list(POP_FRONT test_COMMAND program)
  set(command ${MPIEXEC_EXECUTABLE} ${zygos_mpirun_flags} ${MPIEXEC_NUMPROC_FLAG} ${test_RANKS}
              $<TARGET_FILE:${program}> ${test_COMMAND})
  if(test_EXIT_CODE)
    set(command sh -c "\"$@\"\ntest $? -eq ${test_EXIT_CODE}" sh ${command})
  endif()
  add_test(NAME ${name} COMMAND ${command} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS mpi TIMEOUT 300 PROCESSORS ${test_RANKS}
    ENVIRONMENT "OMPI_MCA_mpi_yield_when_idle=1;OMP_NUM_THREADS=1;ASAN_OPTIONS=detect_leaks=0")
endfunction()

if(zygos_mpi AND ZYGOS_ENABLE_TESTS)
  execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE zygos_mpirun_version ERROR_QUIET)
  set(zygos_mpirun_flags "")
  if(zygos_mpirun_version MATCHES "Open MPI|OpenRTE")
    set(zygos_mpirun_flags --allow-run-as-root --oversubscribe --bind-to none)
  endif()
endif()
