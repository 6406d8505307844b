// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/zygos.h"

#include <atomic>
#include <cstdint>

struct zygos_session {
  bool owns_kokkos = false;
  int threads = 1;
  std::atomic<std::int64_t> models{0};  ///< that are not freed yet, surrogates included
};

namespace zygos::c {

/// Counts a model of the session from before it is made until after it is gone.
class Registration {
 public:
  explicit Registration(zygos_session& session) : session_(session) { session.models.fetch_add(1); }
  ~Registration() { session_.models.fetch_sub(1); }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  zygos_session& session() const noexcept { return session_; }

 private:
  zygos_session& session_;
};

/// Threads of something that asks for `threads` of them, 0: those of the session. Throws UsageError
/// for a negative number; `what` names it.
int threads_of(const zygos_session& session, int threads, const char* what);

}  // namespace zygos::c
