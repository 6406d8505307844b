# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0

add_custom_target(zygos_thread_tests)

# In a build for a device nvcc compiles every test that includes Kokkos, so there is one program, of the tests that
# launch kernels on the device; all others test the same code as a build for the host alone does.
set(zygos_one_test_program OFF)
if(NOT zygos_device STREQUAL none AND NOT ZYGOS_ENABLE_HOST_TESTS)
  set(zygos_one_test_program ON)
endif()

# zygos_add_test(<name> SOURCES <file>... [LINK <target>...] [LABELS <label>...] [PATTERNS <names of cases>...]
#                [KOKKOS] [DEVICE] [ALONE])
# A ctest entry: the Catch2 test cases of these files, run in the root of the source tree. The tests of a folder share
# programs, since files that include the same headers compile several times as fast in one translation unit; each test is
# still a process of its own, which picks its cases by the name of their file.
# KOKKOS: Kokkos is initialised, with four threads, around the whole run.
# DEVICE: runs kernels on every execution space of the build; part of zygos_device_tests, where it runs them on the device.
# ALONE: an executable of its own, <name>: for what replaces operator new, runs under mpirun or has flags of its own.
# The label threads: runs under ThreadSanitizer, too (preset tsan).
function(zygos_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "KOKKOS;DEVICE;ALONE" "" "SOURCES;LINK;LABELS;PATTERNS")
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/tests OUTPUT_VARIABLE program)
  string(REPLACE "/" "_" program "zygos_${program}_tests")
  if(zygos_one_test_program)
    if(NOT test_DEVICE)
      return()
    endif()
    set(program zygos_device_tests)
  elseif(test_ALONE)
    set(program ${name})
  else()
    foreach(kind IN ITEMS KOKKOS threads)
      if(test_${kind} OR kind IN_LIST test_LABELS)
        string(TOLOWER ${program}_${kind} program)
      endif()
    endforeach()
  endif()

  if(NOT test_PATTERNS)
    set(test_PATTERNS "*")
  endif()
  set(cases "")
  foreach(source IN LISTS test_SOURCES)
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
    set_property(GLOBAL APPEND PROPERTY ${program}_sources ${path})
    cmake_path(GET path STEM stem)
    if(stem MATCHES "^test_" AND NOT test_ALONE)
      foreach(pattern IN LISTS test_PATTERNS)
        list(APPEND cases "[#${stem}]~[.]${pattern}")
      endforeach()
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY ${program}_links ${test_LINK})
  if(test_KOKKOS)
    set_property(GLOBAL PROPERTY ${program}_kokkos ON)
  endif()
  if(test_ALONE)
    zygos_build_test_program(${name})
  else()
    set_property(GLOBAL APPEND PROPERTY zygos_test_programs ${program})
  endif()
  if(zygos_one_test_program)
    return()
  endif()

  if(NOT test_ALONE)
    list(JOIN cases "," cases)
    set(cases --filenames-as-tags ${cases})
  endif()
  add_test(NAME ${name} COMMAND ${program} ${cases} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS "${test_LABELS}" TIMEOUT ${zygos_test_timeout})
  if("threads" IN_LIST test_LABELS)
    add_dependencies(zygos_thread_tests ${program})
  endif()
endfunction()

# The programs that folders share, once all tests are known.
function(zygos_build_test_programs)
  set(batch 8)
  if(zygos_kokkos_device STREQUAL cuda)
    set(batch 16) # nvcc needs 14 s for Kokkos' headers
  endif()
  get_property(programs GLOBAL PROPERTY zygos_test_programs)
  list(REMOVE_DUPLICATES programs)
  foreach(program IN LISTS programs)
    zygos_build_test_program(${program})
    set_target_properties(${program} PROPERTIES UNITY_BUILD ${ZYGOS_UNITY_TESTS} UNITY_BUILD_BATCH_SIZE ${batch})
  endforeach()
  if(zygos_one_test_program)
    target_compile_definitions(zygos_device_tests PRIVATE ZYGOS_TESTS_OF_DEVICE)
    add_test(NAME zygos_device_tests COMMAND zygos_device_tests WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(zygos_device_tests PROPERTIES TIMEOUT ${zygos_test_timeout})
  endif()
endfunction()

function(zygos_build_test_program program)
  foreach(list IN ITEMS sources links)
    get_property(${list} GLOBAL PROPERTY ${program}_${list})
    list(REMOVE_DUPLICATES ${list})
  endforeach()
  get_property(kokkos GLOBAL PROPERTY ${program}_kokkos)
  if(kokkos)
    list(APPEND sources $<TARGET_OBJECTS:zygos_test_kokkos_session>)
    list(APPEND links zygos::lane)
  endif()
  add_executable(${program} ${sources})
  target_include_directories(${program} PRIVATE
    ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/src)
  target_link_libraries(${program} PRIVATE ${links} Catch2::Catch2WithMain zygos_flags)
  # No try block around every assertion, which is a sixth of the time: what throws ends its test case, with the line
  # before it in the message.
  target_compile_definitions(${program} PRIVATE CATCH_CONFIG_FAST_COMPILE)
  if(CMAKE_BUILD_TYPE STREQUAL Release AND NOT kokkos AND NOT program MATCHES "_threads$")
    # These compute nothing themselves, and compile in three quarters of the time of -O1.
    target_compile_options(${program} PRIVATE -O0)
  endif()
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
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
