# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0

# GCC's OpenMP runtime is not instrumented and synchronises its team by system calls of its own: to ThreadSanitizer every
# access in a parallel region seems to race with what comes before and after it. LLVM's runtime has GCC's entry points,
# too, and Archer, a tool that it loads, tells ThreadSanitizer of its barriers, locks and tasks. So programs of the
# preset tsan run with LLVM's runtime in the place of GCC's: the test preset puts this folder before others.
set(zygos_openmp_folder ${PROJECT_BINARY_DIR}/openmp)
file(GLOB zygos_llvm_folders /usr/lib/llvm-*/lib)
list(SORT zygos_llvm_folders COMPARE NATURAL ORDER DESCENDING)
find_library(ZYGOS_LLVM_OPENMP NAMES libomp.so.5 libomp.so HINTS ${zygos_llvm_folders})
find_library(ZYGOS_ARCHER NAMES libarcher.so HINTS ${zygos_llvm_folders})
if(NOT ZYGOS_LLVM_OPENMP OR NOT ZYGOS_ARCHER)
  message(FATAL_ERROR "ThreadSanitizer needs an OpenMP runtime whose barriers it sees, and found no LLVM OpenMP with Archer "
                      "(libomp.so.5, libarcher.so). Install it (Debian and Ubuntu: libomp-dev), or set ZYGOS_LLVM_OPENMP "
                      "and ZYGOS_ARCHER to the two files")
endif()
file(MAKE_DIRECTORY ${zygos_openmp_folder})
file(CREATE_LINK ${ZYGOS_LLVM_OPENMP} ${zygos_openmp_folder}/libgomp.so.1 SYMBOLIC)
file(CREATE_LINK ${ZYGOS_ARCHER} ${zygos_openmp_folder}/libarcher.so SYMBOLIC)
