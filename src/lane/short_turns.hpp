// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace zygos::lane {

/// Asks the system to run the calling thread in short turns, and soon after it is woken. A thread
/// that moves messages works for microseconds; woken on a core where a lane computes, it would wait
/// for the end of that lane's turn, 3 to 4 ms, while another lane waits for the message. Linux 6.12
/// and later; others ignore it.
void ask_for_short_turns() noexcept;

}  // namespace zygos::lane
