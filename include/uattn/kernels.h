/* A function's kernels, and what each is launched with, as plain data: for
 * callers that load and launch code themselves.
 * Layer: artifact (public). Must not know: MLIR, CUDA, who launches.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A launch of a function is the launch of its kernels in order on one stream,
 * and nothing beside: no memory is cleared or copied before, between or after.
 * A function with a result that would have to be copied is refused. */
#ifndef UATTN_KERNELS_H
#define UATTN_KERNELS_H

#include "uattn/artifact.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a kernel takes a parameter. */
typedef enum {
  UATTN_PARAM_TENSOR_MAP = 0, /* CUtensorMap by value, 128 bytes, align 64 */
  UATTN_PARAM_POINTER = 1,    /* device address, 8 bytes */
  UATTN_PARAM_I32 = 2,
  UATTN_PARAM_F32 = 3
} uattn_param_kind_t;

/* Of one kernel: at most so many parameters. */
#define UATTN_KERNEL_PARAM_LIMIT 64

/* A tensor map over the 4-d view (head_dim, heads, tokens, batch), innermost
 * first, for cuTensorMapEncodeTiled: element strides of 1, no interleave,
 * 128-byte swizzle, zeros outside; any L2 promotion will do. Never grows. */
typedef struct {
  const char *name; /* of the value, for messages; borrowed from the artifact */
  void *data;
  uattn_dtype_t dtype;
  uint64_t sizes[4];
  uint64_t stride_bytes[3]; /* of dimensions 1 to 3 */
  uint32_t box[4];
} uattn_map_description_t;

/* One parameter; which member, its kind says. Never grows. */
typedef union {
  uattn_map_description_t map;
  void *address;
  int32_t i32;
  float f32;
} uattn_param_value_t;

/* The kernels of an artifact's functions, ready to be described. Immutable;
 * may be shared between threads. */
typedef struct uattn_kernels uattn_kernels_t;

/* Borrows the artifact, which only uattn_kernels_destroy may outlive. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_kernels_create(const uattn_artifact_t *artifact,
                     uattn_kernels_t **out_kernels);
/* Accepts NULL. */
UATTN_EXPORT void uattn_kernels_destroy(uattn_kernels_t *kernels);

/* Kernels of a function; 0 where only the reference can run its ops. */
UATTN_EXPORT size_t uattn_kernels_count(const uattn_kernels_t *kernels,
                                        size_t function);

/* Strings and images are borrowed from the artifact; several kernels may have
 * one image. Never grows. */
typedef struct {
  const char *entry; /* its name in the image */
  const char *chip;  /* that the image was made for: "sm_90a" */
  const void *cubin; /* NULL where the driver shall compile the PTX */
  size_t cubin_bytes;
  const char *ptx;            /* zero-terminated */
  int32_t threads;            /* a CTA, on its first axis; whole warps */
  int32_t dynamic_smem_bytes; /* to be allowed by the driver, and passed */
  uint32_t param_count;
} uattn_kernel_info_t;

/* Indices, here and below, must be less than the counts. */
UATTN_EXPORT uattn_kernel_info_t uattn_kernels_get(
    const uattn_kernels_t *kernels, size_t function, size_t kernel);

/* A parameter that a kernel lists. Never grows. */
typedef struct {
  uattn_param_kind_t kind;
  uattn_dtype_t dtype; /* of what lies behind a map or pointer */
  const char *name;    /* "q", "scratch0", "kv_tokens"; a kernel may list a
                          tensor more than once; static */
} uattn_param_info_t;

UATTN_EXPORT uattn_param_info_t
uattn_kernels_param(const uattn_kernels_t *kernels, size_t function,
                    size_t kernel, size_t param);

/* What uattn_launch_t says of a launch, without the stream. */
typedef struct {
  size_t struct_size; /* sizeof(uattn_kernels_call_t) */
  const uattn_tensor_t *arguments;
  size_t argument_count;
  const uattn_tensor_t *results;
  size_t result_count;
  void *workspace; /* 16-byte aligned; NULL where none is wanted */
  size_t workspace_bytes;
  const double *sm_scale; /* these two replace what the ops say, or are NULL */
  const uattn_cap_t *cap;
} uattn_kernels_call_t;

/* One launch of the kernel with the same index. Never grows. */
typedef struct {
  uint32_t cta_count; /* on the first axis of the grid; 1 on the others */
  uint32_t param_count;
  uattn_param_value_t params[UATTN_KERNEL_PARAM_LIMIT];
} uattn_kernel_arguments_t;

/* Checks a call as uattn_function_launch does, but for whose memory it is, and
 * writes uattn_kernels_count(function) elements of `out_arguments`. Allocates
 * nothing. On an error their contents mean nothing: UATTN_ERROR_UNSUPPORTED
 * where an op has no kernel or a result would have to be copied. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_kernels_describe(const uattn_kernels_t *kernels, size_t function,
                       const uattn_kernels_call_t *call,
                       uattn_kernel_arguments_t *out_arguments);

#ifdef __cplusplus
}
#endif

#endif /* UATTN_KERNELS_H */
