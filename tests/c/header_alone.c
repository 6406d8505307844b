/* SPDX-FileCopyrightText: 2026 The Zygos authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "zygos/zygos.h"

/* What its first lines promise of initialisers. */
const zygos_array zygos_test_dense = {0, ZYGOS_FLOAT64, 2, {5, 6}, {0}};
const zygos_options zygos_test_defaults = {0};
