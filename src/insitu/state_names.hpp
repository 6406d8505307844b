// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace zygos::insitu {

/// Names of the tensors that a surrogate's state holds beside its model and its reservoir.
inline constexpr const char* standards_name = "surrogate/standards";
inline constexpr const char* counters_name = "surrogate/counters";

}  // namespace zygos::insitu
