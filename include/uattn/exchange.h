/* Launches on the tensors of a framework of Python's that has DLPack's C
 * exchange interface, at the cost of one call from Python.
 * Layer: runtime (public). Must not know: MLIR, any framework, Python's
 * headers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A binding prepares a launch once for tensors of one layout, and from then on
 * hands over Python objects alone. */
#ifndef UATTN_EXCHANGE_H
#define UATTN_EXCHANGE_H

#include "uattn/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is called of the framework and of Python; borrowed. */
typedef struct {
  size_t struct_size; /* sizeof(uattn_framework_t) */
  /* DLPackExchangeAPI, version 1: what the capsule
   * `__dlpack_c_exchange_api__` of the framework's tensor type holds, with its
   * dltensor_from_py_object_no_sync, which DLPack leaves optional. */
  const void *exchange_api;
  void *(*tuple_item)(void *tuple, ptrdiff_t index); /* PyTuple_GetItem */
  const void *none;                                  /* Python's None */
  /* PyEval_SaveThread and PyEval_RestoreThread: what is launched may have to
   * wait for room behind work that another thread of Python has to let go on.
   */
  void *(*release_lock)(void);
  void (*take_lock)(void *released);
  void (*clear_exception)(void); /* PyErr_Clear, of the framework's */
} uattn_framework_t;

/* What a launch wants of its objects; borrowed, and never written: several
 * threads may launch by it. */
typedef struct {
  size_t struct_size; /* sizeof(uattn_exchange_launch_t) */
  const uattn_framework_t *framework;
  const uattn_program_t *program;
  size_t function;
  /* DLPack's words for the memory, (2, ordinal) for a GPU. */
  int32_t device_type;
  int32_t device_ordinal;
  /* Of each object, arguments before results; data is not read. Rank -1 stands
   * for an argument that the function does not have: the object is None. */
  const uattn_tensor_t *tensors;
  size_t argument_count; /* absent ones too */
  size_t result_count;
  size_t workspace_bytes; /* of uattn_function_workspace_bytes */
} uattn_exchange_launch_t;

#define UATTN_EXCHANGE_TENSOR_LIMIT 64

/* Launches as uattn_function_launch does, on the framework's current stream of
 * the device. `objects` is a tuple of argument_count + result_count tensors or
 * None; the results' memory is written. The workspace comes from the framework
 * and goes back to it at once, as is right in the order of the stream. An
 * object that is not as the launch wants it gives UATTN_ERROR_INVALID_ARGUMENT,
 * and nothing was enqueued. Python's global lock must be held; it is released
 * while the driver is at work. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_exchange_launch(const uattn_exchange_launch_t *launch, void *objects);

#ifdef __cplusplus
}
#endif

#endif /* UATTN_EXCHANGE_H */
