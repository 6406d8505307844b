// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "turns.hpp"

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <cstdint>

namespace zygos::lane {

namespace {

/// The kernel's sched_attr. Its own header can't be read together with the C library's <sched.h>.
struct SchedulingAttributes {
  std::uint32_t size, policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime_ns, deadline_ns, period_ns;
};

}  // namespace

void ask_for_turns([[maybe_unused]] std::chrono::nanoseconds length) noexcept {
#if defined(__linux__) && defined(SYS_sched_setattr)
  // sched_setattr(2): the runtime of an ordinary thread is the length of its turns, 2.8 ms unless
  // told.
  SchedulingAttributes attributes{};
  attributes.size = sizeof(attributes);
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0U) == 0) {
    attributes.runtime_ns = static_cast<std::uint64_t>(length.count());
    static_cast<void>(syscall(SYS_sched_setattr, 0, &attributes, 0U));
  }
#endif
}

}  // namespace zygos::lane
