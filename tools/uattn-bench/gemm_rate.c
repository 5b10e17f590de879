/* The rate of cuBLAS: what a GPU's tensor cores sustain.
 * Layer: tools. Must not know: attention.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gemm_rate.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"
#include "tools/uattn-run/random_stream.h"
#include "tools/uattn-run/run_pack.h"

/* Values of cublas_api.h and library_types.h. */
enum {
  CUBLAS_OP_N = 0,
  CUBLAS_OP_T = 1,
  CUBLAS_GEMM_DEFAULT = -1,
  CUBLAS_COMPUTE_32F = 68,
  CUDA_R_16F = 2,
  CUDA_R_16BF = 14
};

enum {
  MATRIX_COUNT = 3,     /* two factors and the product */
  DRAWN_COUNT = 1048573 /* numbers, then they repeat: drawing takes long. A
                           prime, so that no two rows are the same */
};

typedef int (*gemm_t)(void *handle, int transpose_a, int transpose_b, int rows,
                      int columns, int depth, const void *alpha, const void *a,
                      int a_type, int a_stride, const void *b, int b_type,
                      int b_stride, const void *beta, void *c, int c_type,
                      int c_stride, int compute_type, int algorithm);

typedef struct {
  void *library;
  void *handle;
  int (*create)(void **handle);
  int (*destroy)(void *handle);
  gemm_t gemm;
  int type;
  void *matrices[MATRIX_COUNT];
} cublas_t;

static uattn_error_t *find(void *library, const char *name,
                           void *out_function) {
  void *symbol = dlsym(library, name);
  if (!symbol)
    return uattn_error_create(UATTN_ERROR_DEVICE, "cuBLAS lacks %s", name);
  memcpy(out_function, &symbol, sizeof symbol);
  return NULL;
}

static uattn_error_t *check_status(int status, const char *what) {
  return status == 0
             ? NULL
             : uattn_error_create(UATTN_ERROR_DEVICE,
                                  "%s failed with status %d", what, status);
}

static uattn_error_t *open_library(cublas_t *cublas) {
  const char *wanted = getenv("UATTN_CUBLAS");
  const char *const names[] = {wanted ? wanted : "libcublas.so.13",
                               wanted ? wanted : "libcublas.so.12"};
  for (int i = 0; i < 2 && !cublas->library; ++i)
    cublas->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  if (!cublas->library)
    return uattn_error_create(UATTN_ERROR_DEVICE, "no cuBLAS: %s", dlerror());
  uattn_error_t *error =
      find(cublas->library, "cublasCreate_v2", &cublas->create);
  if (!error)
    error = find(cublas->library, "cublasDestroy_v2", &cublas->destroy);
  if (!error)
    error = find(cublas->library, "cublasGemmEx", &cublas->gemm);
  return error ? error
               : check_status(cublas->create(&cublas->handle), "cublasCreate");
}

static uattn_error_t *make_matrices(const uattn_device_t *device,
                                    uattn_dtype_t dtype, cublas_t *cublas) {
  size_t count = (size_t)BENCH_GEMM_SIZE * BENCH_GEMM_SIZE;
  size_t bytes = count * uattn_dtype_bytes(dtype);
  float *numbers = uattn_allocate(count * sizeof *numbers);
  void *packed = uattn_allocate(bytes);
  uint64_t key = uattn_random_key(0, 0, 0);
  for (size_t i = 0; i < count; ++i)
    numbers[i] = i < DRAWN_COUNT ? (float)uattn_random_normal(key, i)
                                 : numbers[i - DRAWN_COUNT];
  run_pack(numbers, dtype, count, packed);
  uattn_error_t *error = NULL;
  for (int i = 0; i < MATRIX_COUNT && !error; ++i) {
    error = uattn_device_allocate(device, bytes, &cublas->matrices[i]);
    if (!error)
      error = uattn_device_upload(device, cublas->matrices[i], packed, bytes);
  }
  free(numbers);
  free(packed);
  return error;
}

static uattn_error_t *enqueue(const void *work) {
  const cublas_t *cublas = work;
  const float one = 1;
  const float zero = 0;
  const int size = BENCH_GEMM_SIZE;
  return check_status(cublas->gemm(cublas->handle, CUBLAS_OP_T, CUBLAS_OP_N,
                                   size, size, size, &one, cublas->matrices[0],
                                   cublas->type, size, cublas->matrices[1],
                                   cublas->type, size, &zero,
                                   cublas->matrices[2], cublas->type, size,
                                   CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                      "cublasGemmEx");
}

uattn_error_t *bench_time_gemm(const uattn_device_t *device,
                               uattn_dtype_t dtype, run_times_t *out_times) {
  cublas_t cublas = {.type =
                         dtype == UATTN_DTYPE_F16 ? CUDA_R_16F : CUDA_R_16BF};
  uattn_error_t *error = open_library(&cublas);
  if (!error)
    error = make_matrices(device, dtype, &cublas);
  if (!error)
    error = run_time(device, enqueue, &cublas, out_times);
  for (int i = 0; i < MATRIX_COUNT; ++i)
    uattn_device_free(device, cublas.matrices[i]);
  if (cublas.handle)
    (void)cublas.destroy(cublas.handle);
  if (cublas.library)
    dlclose(cublas.library);
  return error;
}

double bench_gemm_tflops(double ms) {
  const double size = BENCH_GEMM_SIZE;
  return 2 * size * size * size / ms * 1e-9;
}
