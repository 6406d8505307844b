// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/kokkos_session.hpp"

#include <Kokkos_Core.hpp>

#include <cstdlib>

namespace zygos::app {

KokkosSession::KokkosSession(int threads, const std::vector<std::string>& arguments) {
  // The lanes bind their threads themselves, and more threads than cores are meant: Kokkos' advice
  // on both would only be noise.
  ::setenv("OMP_PROC_BIND", "false", 0);
  std::vector<std::string> words{"zygos", "--kokkos-num-threads=" + std::to_string(threads),
                                 "--kokkos-disable-warnings"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  int count = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);
  Kokkos::initialize(count, pointers.data());
}

KokkosSession::~KokkosSession() { Kokkos::finalize(); }

}  // namespace zygos::app
