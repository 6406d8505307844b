// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/kokkos_session.hpp"

#include "zygos/lane/lane_set.hpp"

#include <Kokkos_Core.hpp>

#include <omp.h>

#include <cstdlib>

namespace zygos::app {

KokkosSession::KokkosSession(const std::vector<std::string>& arguments) {
  // Lanes bring their own threads; this one launches nothing. Were it given a team, GCC's OpenMP
  // would count more threads than cores and put the lanes' threads to sleep after each kernel.
  omp_set_num_threads(1);
  // The lanes bind their threads themselves, and more threads than cores are meant: Kokkos' advice
  // on both would only be noise.
  ::setenv("OMP_PROC_BIND", "false", 0);
  std::vector<std::string> words{"zygos", "--kokkos-num-threads=1", "--kokkos-disable-warnings"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  lane::allow_absent_device();
  int count = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);
  Kokkos::initialize(count, pointers.data());
}

KokkosSession::~KokkosSession() { Kokkos::finalize(); }

}  // namespace zygos::app
