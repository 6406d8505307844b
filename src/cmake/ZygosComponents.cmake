# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# Which modules are built, and what has to be found for them. Sets
#   zygos_all         all modules, each behind those that it uses
#   zygos_needed      those of ZYGOS_COMPONENTS and what they use, in that order
#   zygos_packages    what these are built on
#   zygos_complete    ON if nothing is left out

set(zygos_all "")

# zygos_describe(<module> [USES <module>...] [NEEDS <package>...]): what it includes and links, and of packages what
# is found only for those who need it. Kokkos is always there.
macro(zygos_describe module)
  cmake_parse_arguments(zygos_described "" "" "USES;NEEDS" ${ARGN})
  list(APPEND zygos_all ${module})
  set(zygos_uses_${module} ${zygos_described_USES})
  set(zygos_needs_${module} ${zygos_described_NEEDS})
endmacro()

zygos_describe(core)
zygos_describe(memory USES core)
zygos_describe(deck_values USES core)
zygos_describe(deck USES deck_values NEEDS yaml-cpp nlohmann_json)
zygos_describe(lane USES memory)
zygos_describe(tensor USES lane)
zygos_describe(ops USES tensor)
zygos_describe(io USES core NEEDS fmt HDF5 LibZip nlohmann_json Onnx OpenSSL xxHash ZLIB)
zygos_describe(comm USES core NEEDS MPI NCCL)
zygos_describe(synthetic USES io)
zygos_describe(nn USES deck_values ops)
zygos_describe(graph USES nn)
zygos_describe(infer USES graph)
zygos_describe(insitu USES infer)
zygos_describe(insitu_deck USES insitu deck)
zygos_describe(insitu_hdf5 USES insitu io)
zygos_describe(insitu_ranks USES insitu comm)
zygos_describe(schedule USES memory)
zygos_describe(plan USES graph schedule io)
zygos_describe(train USES plan comm deck)
zygos_describe(measure USES train)
zygos_describe(policies USES train)
zygos_describe(load USES infer policies synthetic)
zygos_describe(c USES load insitu_deck)
zygos_describe(fortran USES c)


set(zygos_needed ${ZYGOS_COMPONENTS})
if(ZYGOS_COMPONENTS STREQUAL all)
  set(zygos_needed ${zygos_all})
endif()
foreach(component IN LISTS zygos_needed)
  if(NOT component IN_LIST zygos_all)
    list(JOIN zygos_all ", " names)
    message(FATAL_ERROR "ZYGOS_COMPONENTS is '${ZYGOS_COMPONENTS}'; allowed are all, or some of: ${names}")
  endif()
endforeach()
set(zygos_backwards ${zygos_all})
list(REVERSE zygos_backwards)
set(zygos_packages "")
foreach(module IN LISTS zygos_backwards)
  if(module IN_LIST zygos_needed)
    list(APPEND zygos_needed ${zygos_uses_${module}})
    list(APPEND zygos_packages ${zygos_needs_${module}})
  endif()
endforeach()
list(REMOVE_DUPLICATES zygos_packages)
set(zygos_left_out ${zygos_all})
list(REMOVE_ITEM zygos_left_out ${zygos_needed})
set(zygos_needed ${zygos_all})
list(REMOVE_ITEM zygos_needed ${zygos_left_out})
set(zygos_complete ON)
if(zygos_left_out)
  set(zygos_complete OFF)
endif()

# The command line, tests, examples and benchmarks use everything.
foreach(part IN ITEMS APP TESTS EXAMPLES PERF)
  if(NOT zygos_complete AND ZYGOS_ENABLE_${part})
    message(FATAL_ERROR
      "ZYGOS_ENABLE_${part} is on, but ZYGOS_COMPONENTS is '${ZYGOS_COMPONENTS}'. Set it to OFF, or ZYGOS_COMPONENTS to all.")
  endif()
endforeach()
