// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The library prints nothing: it hands lines to a sink that its caller gave it.
#pragma once

#include <functional>
#include <string_view>

namespace zygos {

enum class LogLevel { debug, info, warning, error };

/// Receives one line without a newline. An empty sink swallows everything.
using LogSink = std::function<void(LogLevel, std::string_view)>;

/// Calls the sink if there is one.
inline void log(const LogSink& sink, LogLevel level, std::string_view line) {
  if (sink) {
    sink(level, line);
  }
}

}  // namespace zygos
