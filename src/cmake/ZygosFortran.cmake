# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# Decides whether the Fortran module is built, and sets
#   zygos_fortran        ON or OFF
#   zygos_fortran_text   the compiler, or why there is none, for the summary

set(zygos_fortran OFF)
set(zygos_fortran_text off)
if(fortran IN_LIST zygos_needed AND NOT ZYGOS_ENABLE_FORTRAN STREQUAL OFF)
  include(CheckLanguage)
  if(NOT CMAKE_Fortran_COMPILER) # one may have been installed since the last time
    unset(CMAKE_Fortran_COMPILER CACHE)
  endif()
  check_language(Fortran)
  set(zygos_fortran_text "no compiler found")
endif()
if(fortran IN_LIST zygos_needed AND CMAKE_Fortran_COMPILER AND NOT ZYGOS_ENABLE_FORTRAN STREQUAL OFF)
  enable_language(Fortran)
  set(zygos_fortran_text "${CMAKE_Fortran_COMPILER_ID} ${CMAKE_Fortran_COMPILER_VERSION}")
  # Arrays of any rank go to C as descriptors (Fortran 2018), which older ones hand over with faults.
  if(CMAKE_Fortran_COMPILER_ID STREQUAL GNU AND CMAKE_Fortran_COMPILER_VERSION VERSION_LESS 12)
    string(APPEND zygos_fortran_text ", too old: 12 or newer is needed")
  else()
    set(zygos_fortran ON)
  endif()
endif()
if(fortran IN_LIST zygos_needed AND ZYGOS_ENABLE_FORTRAN STREQUAL ON AND NOT zygos_fortran)
  message(FATAL_ERROR
    "ZYGOS_ENABLE_FORTRAN=ON, but: ${zygos_fortran_text}. Give -DCMAKE_Fortran_COMPILER=<gfortran 12 or newer>, or set "
    "ZYGOS_ENABLE_FORTRAN=OFF to do without the Fortran module.")
endif()
