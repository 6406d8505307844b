/* SPDX-FileCopyrightText: 2026 The Zygos authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * From a Fortran array of any rank to an array of the C interface, without a copy: axes in reverse
 * order, so that Fortran's last dimension counts samples. In C because the layout of descriptors is
 * that of the Fortran compiler's own ISO_Fortran_binding.h. */
#include "zygos/zygos.h"

#include <ISO_Fortran_binding.h>
#include <stddef.h>
#include <stdio.h>

static int refuse(zygos_error* error, const char* what) {
  if (error != NULL) {
    error->code = ZYGOS_ERROR_USAGE;
    snprintf(error->message, sizeof error->message, "%s", what);
  }
  return ZYGOS_ERROR_USAGE;
}

/* Arrays of assumed size, x(*), have no last dimension. */
static int has_dimensions(const CFI_cdesc_t* x) {
  for (CFI_rank_t axis = 0; axis < x->rank; ++axis) {
    if (x->dim[axis].extent < 0) {
      return 0;
    }
  }
  return 1;
}

static int32_t type_of(const CFI_cdesc_t* x) {
  switch (x->type) {
    case CFI_type_float:
      return ZYGOS_FLOAT32;
    case CFI_type_double:
      return ZYGOS_FLOAT64;
    default:
      return ZYGOS_TYPE_NONE;
  }
}

int zygos_fortran_array(const CFI_cdesc_t* x, zygos_array* array, zygos_error* error);

/* Called by zygos.f90 alone. */
int zygos_fortran_array(const CFI_cdesc_t* x, zygos_array* array, zygos_error* error) {
  if (x->rank < 1 || x->rank > ZYGOS_MAX_RANK) {
    return refuse(error, "an array must have 1 to 7 dimensions, the last one counts samples");
  }
  if (!has_dimensions(x)) {
    return refuse(error, "the size of an array x(*) is not known; pass x(1:m, 1:n)");
  }
  const zygos_array empty = {NULL, ZYGOS_TYPE_NONE, 0, {0}, {0}};
  *array = empty;
  array->data = x->base_addr;
  array->type = type_of(x);
  array->rank = x->rank;
  for (CFI_rank_t axis = 0; axis < x->rank; ++axis) {
    const CFI_dim_t* dim = &x->dim[x->rank - 1 - axis];
    const CFI_index_t element = (CFI_index_t)x->elem_len;
    if (dim->sm % element != 0) {
      return refuse(error, "the stride of an array is not a multiple of its elements' size");
    }
    array->dimensions[axis] = dim->extent;
    array->strides[axis] = dim->sm / element;
  }
  return ZYGOS_OK;
}
