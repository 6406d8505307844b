// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace zygos::app {

/// Kokkos from construction to destruction. Only the executable has one: the library never
/// initialises what its caller owns.
class KokkosSession {
 public:
  /// `arguments` ("--kokkos-...") are the user's and win.
  explicit KokkosSession(const std::vector<std::string>& arguments);
  ~KokkosSession();
  KokkosSession(const KokkosSession&) = delete;
  KokkosSession& operator=(const KokkosSession&) = delete;
};

}  // namespace zygos::app
