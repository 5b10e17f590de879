/* Loads artifacts and launches their functions on the caller's stream.
 * Layer: runtime (public). Must not know: MLIR, how kernels are made.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUNTIME_H
#define UATTN_RUNTIME_H

#include "uattn/artifact.h"
#include "uattn/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A GPU and the CUDA context in which everything happens. The driver is opened
 * by name at run time: nothing is linked. May be shared between threads. */
typedef struct uattn_device uattn_device_t;

/* An artifact whose kernels are loaded on a device. Immutable; may be launched
 * from several threads at once. */
typedef struct uattn_program uattn_program_t;

typedef enum {
  UATTN_CONTEXT_PRIMARY = 0, /* the device's, which frameworks use too */
  UATTN_CONTEXT_CURRENT = 1  /* the calling thread's; it must outlive the
                                uattn_device_t */
} uattn_context_choice_t;

/* All zero, with struct_size set, is the default. */
typedef struct {
  size_t struct_size; /* sizeof(uattn_device_options_t) */
  uattn_context_choice_t context;
  int32_t ordinal;         /* of the GPU, from 0; with the primary context */
  const char *driver_path; /* NULL: "libcuda.so.1" */
} uattn_device_options_t;

/* `options` may be NULL. No driver, no such GPU and the like give
 * UATTN_ERROR_DEVICE. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_device_open(const uattn_device_options_t *options,
                  uattn_device_t **out_device);
/* Accepts NULL. Programs of the device must be destroyed before. */
UATTN_EXPORT void uattn_device_close(uattn_device_t *device);

/* "NVIDIA H200"; borrowed from the device. */
UATTN_EXPORT const char *uattn_device_name(const uattn_device_t *device);
/* 90 for 9.0. */
UATTN_EXPORT int uattn_device_compute_capability(const uattn_device_t *device);

/* Device memory for programs that use no framework. Copies and fills are done
 * when the call returns. Memory that runs out gives UATTN_ERROR_DEVICE and says
 * how much was wanted and is free. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_device_allocate(const uattn_device_t *device, size_t bytes,
                      void **out_data);
/* Accepts NULL. */
UATTN_EXPORT void uattn_device_free(const uattn_device_t *device, void *data);
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_device_upload(const uattn_device_t *device, void *device_data,
                    const void *host_data, size_t bytes);
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_device_download(const uattn_device_t *device, void *host_data,
                      const void *device_data, size_t bytes);
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_device_fill(const uattn_device_t *device, void *device_data, uint8_t byte,
                  size_t bytes);
/* Waits for all work of the context; reports what a kernel did wrong. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_device_synchronize(const uattn_device_t *device);

/* Loads every kernel: the cubin where the artifact has one, else, or where the
 * driver refuses it, the PTX. A GPU of another kind than the artifact was
 * compiled for gives UATTN_ERROR_DEVICE. `device` and `artifact` are borrowed
 * until the program is destroyed. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_program_create(const uattn_device_t *device,
                     const uattn_artifact_t *artifact,
                     uattn_program_t **out_program);
/* Accepts NULL. No launch of the program may still run. */
UATTN_EXPORT void uattn_program_destroy(uattn_program_t *program);

/* The results that a launch with these arguments wants: dense, data NULL.
 * `out_results` has room for all results of the function. Of the arguments
 * only rank, shape and dtype are read. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_function_results(const uattn_program_t *program, size_t function,
                       const uattn_tensor_t *arguments, size_t argument_count,
                       uattn_tensor_t *out_results);

/* Memory that a launch with these arguments wants for what flows between ops
 * and between the kernels of one; 0 where there is none. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_function_workspace_bytes(const uattn_program_t *program, size_t function,
                               const uattn_tensor_t *arguments,
                               size_t argument_count, size_t *out_bytes);

typedef struct {
  size_t struct_size; /* sizeof(uattn_launch_t) */
  const uattn_tensor_t *arguments;
  size_t argument_count;
  const uattn_tensor_t *results; /* their memory is written */
  size_t result_count;
  void *workspace; /* 16-byte aligned; NULL where none is wanted */
  size_t workspace_bytes;
  void *stream; /* CUstream of the device's context; NULL: the default one */
  /* Replace what the ops say, in every op of the function; NULL: as compiled.
   * The cap's method must be the compiled one. */
  const double *sm_scale;
  const uattn_cap_t *cap;
  /* The caller vouches that all memory is the device's: the driver is not asked
   * about each tensor. False: it is asked. */
  bool is_place_known;
} uattn_launch_t;

/* Checks everything, then enqueues the function's kernels on the stream and
 * returns. Allocates nothing and does not wait, so it may be captured into a
 * graph. Tensors that kernels read by TMA need 16-byte aligned data, an inner
 * stride of 1 and other strides that are multiples of 16 bytes; all others
 * must be dense. On an error of the arguments nothing was enqueued. An op
 * without a kernel gives UATTN_ERROR_UNSUPPORTED. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_function_launch(const uattn_program_t *program, size_t function,
                      const uattn_launch_t *launch);

#ifdef __cplusplus
}
#endif

#endif /* UATTN_RUNTIME_H */
