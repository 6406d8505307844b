# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# Decides which communicators are built and sets
#   zygos_mpi, zygos_nccl      ON or OFF
#   zygos_comm_dependencies    what they are built on, as lines for find_package

set(zygos_comm_dependencies "")

zygos_check_switch(ZYGOS_ENABLE_MPI)
set(zygos_mpi OFF)
set(zygos_mpi_text off)
if(ZYGOS_ENABLE_MPI AND MPI IN_LIST zygos_packages)
  # MPI's C interface: the old C++ one was dropped from the standard, and links a library more.
  find_package(MPI QUIET COMPONENTS C)
  if(MPI_C_FOUND)
    set(zygos_mpi ON)
    set(zygos_mpi_text "${MPI_C_LIBRARIES}")
    list(APPEND zygos_comm_dependencies "MPI COMPONENTS C")
  elseif(ZYGOS_ENABLE_MPI_is_auto)
    set(zygos_mpi_text "not found")
  else()
    message(FATAL_ERROR
      "ZYGOS_ENABLE_MPI=${ZYGOS_ENABLE_MPI}, but no MPI was found. Install one (Debian: libopenmpi-dev and "
      "openmpi-bin), give -DMPI_HOME=<prefix>, or set ZYGOS_ENABLE_MPI=OFF.")
  endif()
endif()

zygos_check_switch(ZYGOS_ENABLE_NCCL)
set(zygos_nccl OFF)
set(zygos_nccl_text off)
if(NOT NCCL IN_LIST zygos_packages)
  # no module for it
elseif(ZYGOS_ENABLE_NCCL AND zygos_device STREQUAL cuda)
  find_package(ZygosNccl QUIET)
  if(ZygosNccl_FOUND)
    set(zygos_nccl ON)
    set(zygos_nccl_text "${ZYGOS_NCCL_LIBRARY}")
    list(APPEND zygos_comm_dependencies "ZygosNccl")
  elseif(ZYGOS_ENABLE_NCCL_is_auto)
    set(zygos_nccl_text "not found")
  else()
    message(FATAL_ERROR
      "ZYGOS_ENABLE_NCCL=${ZYGOS_ENABLE_NCCL}, but no NCCL was found. Install it (Debian: libnccl-dev), give "
      "-DZYGOS_NCCL_INCLUDE_DIR=<folder of nccl.h> -DZYGOS_NCCL_LIBRARY=<libnccl.so>, or set ZYGOS_ENABLE_NCCL=OFF.")
  endif()
elseif(ZYGOS_ENABLE_NCCL AND ZYGOS_ENABLE_NCCL_is_auto)
  set(zygos_nccl_text "needs the device cuda")
elseif(ZYGOS_ENABLE_NCCL)
  message(FATAL_ERROR
    "ZYGOS_ENABLE_NCCL=${ZYGOS_ENABLE_NCCL}, but the device is '${zygos_device}': NCCL moves memory of NVIDIA GPUs. "
    "Use a Kokkos built with CUDA, or set ZYGOS_ENABLE_NCCL=OFF.")
endif()
