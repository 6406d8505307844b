// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/schedule/schedule.hpp"

#include <memory>

namespace zygos::schedule {

/// Which task has certainly ended before which starts, in a schedule whose list of tasks is an
/// order they could run in (as builders make them).
class HappensBefore {
 public:
  explicit HappensBefore(const Schedule& schedule);
  ~HappensBefore();
  HappensBefore(HappensBefore&&) noexcept;
  HappensBefore& operator=(HappensBefore&&) noexcept;

  bool operator()(TaskId first, TaskId second) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace zygos::schedule
