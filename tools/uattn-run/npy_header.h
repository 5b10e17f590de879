/* The header of a .npy file.
 * Layer: tools. Must not know: attention, devices, MLIR.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_NPY_HEADER_H
#define UATTN_RUN_NPY_HEADER_H

#include "npy.h"

/* The element types that are read. */
typedef enum {
  UATTN_NPY_FLOAT32,
  UATTN_NPY_FLOAT16,
  UATTN_NPY_INT32,
  UATTN_NPY_INT64
} uattn_npy_type_t;

typedef struct {
  uattn_npy_type_t type;
  bool is_big_endian;
  bool is_fortran_order;
  int rank;
  int64_t shape[UATTN_NPY_MAX_RANK];
  size_t element_count; /* the product of the shape */
  size_t element_bytes;
  size_t data_offset; /* of the first element in the file */
} uattn_npy_header_t;

/* Reads the header of a file and checks that the file holds exactly the data
 * that it announces. On error `*out_header` is untouched. */
UATTN_NODISCARD uattn_error_t *
uattn_npy_header_parse(const char *bytes, size_t size,
                       uattn_npy_header_t *out_header);

#endif /* UATTN_RUN_NPY_HEADER_H */
