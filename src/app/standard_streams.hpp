// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The process's three streams. Nobody has to listen: a reader that has gone away costs its text and
// nothing else.
#pragma once

#include <cstdio>
#include <string_view>

namespace zygos::app {

/// Once, before anything opens a file. Descriptors 0 to 2 that the parent has closed become
/// /dev/null, so that no file of the run gets their numbers and with them the console's text; and
/// text for a reader that has gone away is an error of its write, not the end of the process.
void prepare_standard_streams() noexcept;

/// Whether people see the stream on a terminal. Launchers such as Open MPI give their processes
/// terminals of their own, whatever becomes of the text: then theirs counts.
bool is_terminal(std::FILE* stream) noexcept;

/// Writes and flushes. A stream that takes no more text is left alone. Returns errno, 0 if all is
/// written.
int put(std::FILE* stream, std::string_view text) noexcept;

}  // namespace zygos::app
