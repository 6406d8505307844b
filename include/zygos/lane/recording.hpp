// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace zygos::lane {

/// Work that a line of a lane was given once, kept to be launched as often as wanted: on a device a
/// graph of kernels and copies, whose arguments are those of the recording. See Lane::record().
class Recording {
 public:
  virtual ~Recording() = default;

  /// Gives the line the work again; ended as any other: see Lane::fence(). On the driver thread
  /// that recorded it. On a device, throws InternalError if the runtime refuses the launch; on an
  /// emulated lane, what the work throws.
  virtual void launch() = 0;
};

}  // namespace zygos::lane
