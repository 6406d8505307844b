// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// MPI's return codes as exceptions.
#pragma once

#include "zygos/core/error.hpp"

#include <mpi.h>

#include <array>
#include <string>

namespace zygos::comm {

inline std::string mpi_error_text(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return {text.data(), static_cast<std::size_t>(length)};
}

/// Throws PeerError if `code` is an error; `what` is called for the text then.
template <class What>
void mpi_check(int code, int rank, int peer, What what) {
  if (code == MPI_SUCCESS) {
    return;
  }
  int kind = MPI_ERR_OTHER;
  MPI_Error_class(code, &kind);
  throw PeerError(rank, peer,
                  what() + ": " +
                      (kind == MPI_ERR_TRUNCATE ? std::string("the sender has more bytes")
                                                : mpi_error_text(code)));
}

/// Between MPI_Init and MPI_Finalize.
inline bool mpi_is_initialised() {
  int initialised = 0;
  int finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  return initialised != 0 && finalised == 0;
}

}  // namespace zygos::comm
