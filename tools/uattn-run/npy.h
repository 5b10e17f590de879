/* Reader and writer of NumPy's .npy files.
 * Layer: tools. Must not know: attention, devices, MLIR.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_NPY_H
#define UATTN_RUN_NPY_H

#include "uattn/problem.h"

#define UATTN_NPY_MAX_RANK 8

/* A dense array in C order that owns its data. Zero-initialise; release when
 * done. */
typedef struct {
  uattn_dtype_t
      dtype; /* UATTN_DTYPE_F32 (float) or UATTN_DTYPE_I32 (int32_t) */
  int rank;  /* 0 for a scalar */
  int64_t shape[UATTN_NPY_MAX_RANK];
  size_t element_count;
  void *data; /* never NULL after a successful read */
} uattn_npy_array_t;

/* Reads versions 1 to 3 of the format, C or Fortran order, either byte order:
 * float32 and float16 become float, int32 and int64 become int32_t (an int64
 * out of that range is an error). Anything else, and any malformed or short
 * file, gives an error that names what was found and wanted. On error
 * `*out_array` is untouched. `path` "-" is stdin. */
UATTN_NODISCARD uattn_error_t *uattn_npy_read(const char *path,
                                              uattn_npy_array_t *out_array);

/* The same from a file's bytes, which need not outlive the call. */
UATTN_NODISCARD uattn_error_t *uattn_npy_parse(const void *bytes, size_t size,
                                               uattn_npy_array_t *out_array);

/* Frees the data and leaves a zero array. Accepts a zero array. */
void uattn_npy_array_release(uattn_npy_array_t *array);

/* Writes a dense C-order array of float or int32_t, version 1.0, little
 * endian. A failure leaves no partial file. */
UATTN_NODISCARD uattn_error_t *uattn_npy_write(const char *path,
                                               const uattn_npy_array_t *array);

#endif /* UATTN_RUN_NPY_H */
