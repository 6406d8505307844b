// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// From exceptions to codes and messages.
#pragma once

#include "zygos/core/error.hpp"
#include "zygos/zygos.h"

#include <string>

namespace zygos::c {

/// Describes the exception being handled in `error`, which may be null, and returns its code.
int report_current_exception(zygos_error* error) noexcept;

/// Runs `f` and returns the code of what it throws.
template <class F>
int guarded(zygos_error* error, const F& f) noexcept {
  try {
    f();
    return ZYGOS_OK;
  } catch (...) {
    return report_current_exception(error);
  }
}

/// What `pointer` points to; throws UsageError if it is null.
template <class T>
T& required(T* pointer, const char* what) {
  if (pointer == nullptr) {
    throw UsageError(std::string(what) + " is NULL");
  }
  return *pointer;
}

}  // namespace zygos::c
