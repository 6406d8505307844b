/* SPDX-FileCopyrightText: 2026 The Zygos authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "zygos/zygos_insitu.h"

/* What its first lines promise of initialisers. */
const zygos_surrogate_options zygos_test_surrogate_defaults = {0};
