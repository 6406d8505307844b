// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace zygos::lane {

/// Of a thread that moves messages: it works for microseconds. Woken on a core where a lane
/// computes, it would wait for the end of that lane's turn, 3 to 4 ms, while another lane waits for
/// the message.
inline constexpr std::chrono::microseconds message_turn{100};
/// Of a thread that computes: the longer its turns, the sooner a shorter one comes before it.
inline constexpr std::chrono::microseconds lane_turn{20'000};

/// Asks the system to run the calling thread, and those that it starts, in turns of this length.
/// Its share of the time stays what it was. Linux 6.12 and later; others ignore it.
void ask_for_turns(std::chrono::nanoseconds length) noexcept;

}  // namespace zygos::lane
