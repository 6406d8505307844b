// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// How threads of lanes wait for each other.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace zygos::lane {

/// A thread that computes: between two tasks it waits some ten microseconds, and as much again is
/// what a thread that sleeps on an idle core takes to wake (20 to 50 us in a virtual machine).
inline constexpr std::chrono::microseconds computing_spin_timeout{50};
/// The same on a core that none of the program's threads wants. It pays 30 us to wake, and as much
/// whoever wakes it, only where it has waited for so long that they hardly count.
inline constexpr std::chrono::microseconds own_core_spin_timeout{1000};
/// A thread that has nothing to win: its core is better left to those that compute.
inline constexpr std::chrono::microseconds other_spin_timeout{2};

/// Whether a thread that spins yields its core to any other thread that is runnable. On a core of
/// its own, where only strangers do, it would not get it back for their whole turn: milliseconds.
enum class GivesWay : std::uint8_t { no, yes };

/// Returns once `counter` differs from `seen`. Spins for `spin_timeout`, then sleeps; who changes
/// the counter must notify.
void await_change(const std::atomic<std::uint32_t>& counter, std::uint32_t seen,
                  std::chrono::microseconds spin_timeout, GivesWay gives_way = GivesWay::yes);
/// Returns once `counter` differs from `seen` or the time has come. Spins when that is near.
void await_change(const std::atomic<std::uint32_t>& counter, std::uint32_t seen,
                  std::chrono::steady_clock::time_point until);

}  // namespace zygos::lane
