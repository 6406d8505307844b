# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# Checks in FOLDER/compile_commands.json that sources which include Kokkos and those which don't are compiled for the same
# processor: the types that they share have other sizes on another one.

file(READ ${FOLDER}/compile_commands.json commands)
string(JSON count LENGTH "${commands}")
math(EXPR last "${count} - 1")
foreach(index RANGE ${last})
  string(JSON file GET "${commands}" ${index} file)
  if(file MATCHES "/src/ops/conv/host/(conv2d|im2col_conv).cpp$")
    set(source ${CMAKE_MATCH_1})
    string(JSON command GET "${commands}" ${index} command)
    string(REGEX MATCHALL " -m(arch|cpu)=[^ ]+" ${source} "${command}")
    list(REMOVE_DUPLICATES ${source})
  endif()
endforeach()
if(NOT DEFINED conv2d OR NOT DEFINED im2col_conv OR NOT conv2d STREQUAL im2col_conv)
  message(FATAL_ERROR "conv2d.cpp is compiled for '${conv2d}', im2col_conv.cpp for '${im2col_conv}'")
endif()
