// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A caller's stream of device work. Two sources define it, of which CMake picks one:
// stream_cuda.cpp for a build with CUDA, stream_none.cpp for one without.
#pragma once

#include "zygos/lane/spaces.hpp"

namespace zygos::c {

/// An instance that enqueues on `stream`, a cudaStream_t; null: on a stream of its own. Throws
/// UsageError in a build without CUDA.
lane::Execution execution_on(void* stream);

}  // namespace zygos::c
