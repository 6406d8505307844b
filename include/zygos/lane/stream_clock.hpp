// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace zygos::lane {

/// When the work on a device's stream begins and ends, without waiting for it: a mark is an event
/// in the stream. Of the driver thread whose stream it is.
class StreamClock {
 public:
  virtual ~StreamClock() = default;

  /// The stream is idle, and it is `now_s` on the caller's clock. Earlier marks are void.
  virtual void start(double now_s) = 0;
  /// Passed when all that the stream has been given so far has ended.
  virtual std::size_t mark() = 0;
  /// In work that is being recorded (Lane::record()): a mark that every launch of the recording
  /// passes anew. start() leaves it valid.
  virtual std::size_t recorded_mark() = 0;
  /// When the mark was passed last, on the caller's clock, to about a microsecond. The stream must
  /// have been fenced since.
  virtual double seconds_at(std::size_t mark) const = 0;
};

}  // namespace zygos::lane
