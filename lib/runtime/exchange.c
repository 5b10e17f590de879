/* Launches on a framework's own tensors, by DLPack's C exchange interface.
 * Layer: runtime. Must not know: any framework, Python's headers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "uattn/exchange.h"

#include <inttypes.h>
#include <string.h>

#include "runtime/dlpack_abi.h"
#include "support/support.h"

#define REFUSE(...)                                                            \
  uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

static bool is_dtype(dlpack_dtype_t found, uattn_dtype_t wanted) {
  static const dlpack_dtype_t dtypes[] = {
      [UATTN_DTYPE_BF16] = {DLPACK_BFLOAT, 16, 1},
      [UATTN_DTYPE_F16] = {DLPACK_FLOAT, 16, 1},
      [UATTN_DTYPE_F32] = {DLPACK_FLOAT, 32, 1},
      [UATTN_DTYPE_I32] = {DLPACK_INT, 32, 1},
  };
  dlpack_dtype_t dtype = dtypes[wanted];
  return found.code == dtype.code && found.bits == dtype.bits &&
         found.lanes == dtype.lanes;
}

static bool is_alike(const dlpack_tensor_t *found, dlpack_device_t device,
                     const uattn_tensor_t *wanted) {
  if (found->device.type != device.type ||
      found->device.ordinal != device.ordinal || found->rank != wanted->rank ||
      !found->strides || !is_dtype(found->dtype, wanted->dtype))
    return false;
  size_t bytes = (size_t)wanted->rank * sizeof(int64_t);
  return memcmp(found->shape, wanted->shape, bytes) == 0 &&
         memcmp(found->strides, wanted->strides, bytes) == 0;
}

static dlpack_device_t device_of(const uattn_exchange_launch_t *launch) {
  return (dlpack_device_t){launch->device_type, launch->device_ordinal};
}

/* Borrowed; NULL where the tuple is shorter. */
static void *object_at(const uattn_exchange_launch_t *launch, void *objects,
                       size_t index) {
  void *object = launch->framework->tuple_item(objects, (ptrdiff_t)index);
  if (!object)
    launch->framework->clear_exception();
  return object;
}

/* An object's tensor, if it is as wanted. */
static uattn_error_t *read_object(const uattn_exchange_launch_t *launch,
                                  void *objects, size_t index,
                                  uattn_tensor_t *out_tensor) {
  const dlpack_exchange_t *exchange = launch->framework->exchange_api;
  void *object = object_at(launch, objects, index);
  dlpack_tensor_t found;
  if (!object || object == launch->framework->none)
    return REFUSE("object %zu is None: wanted a tensor", index);
  if (exchange->describe(object, &found) != 0) {
    launch->framework->clear_exception();
    return REFUSE("object %zu cannot be had by DLPack", index);
  }
  *out_tensor = launch->tensors[index];
  if (!is_alike(&found, device_of(launch), out_tensor))
    return REFUSE("object %zu has another device, type, shape or strides than "
                  "the launch was prepared for",
                  index);
  out_tensor->data = (char *)found.data + found.byte_offset;
  return NULL;
}

/* Objects from `first` on; those of absent arguments are left out. */
static uattn_error_t *read_objects(const uattn_exchange_launch_t *launch,
                                   void *objects, size_t first, size_t count,
                                   uattn_tensor_t *out_tensors,
                                   size_t *out_count) {
  uattn_error_t *error = NULL;
  *out_count = 0;
  for (size_t i = first; !error && i < first + count; ++i) {
    if (launch->tensors[i].rank >= 0)
      error = read_object(launch, objects, i, &out_tensors[(*out_count)++]);
    else if (object_at(launch, objects, i) != launch->framework->none)
      error = REFUSE("object %zu is given: wanted None, as the launch was "
                     "prepared without it",
                     i);
  }
  return error;
}

static void note_message(void *user_data, const char *kind,
                         const char *message) {
  uattn_error_t **error = user_data;
  *error = uattn_error_create(UATTN_ERROR_DEVICE,
                              "the framework gives no workspace: %s: %s", kind,
                              message);
}

static uattn_error_t *allocate(const uattn_exchange_launch_t *launch,
                               dlpack_managed_t **out_workspace) {
  const dlpack_exchange_t *exchange = launch->framework->exchange_api;
  int64_t bytes = (int64_t)launch->workspace_bytes;
  int64_t stride = 1;
  dlpack_tensor_t prototype = {.device = device_of(launch),
                               .rank = 1,
                               .dtype = {DLPACK_UINT, 8, 1},
                               .shape = &bytes,
                               .strides = &stride};
  uattn_error_t *error = NULL;
  if (exchange->allocate(&prototype, out_workspace, &error, note_message) !=
          0 &&
      !error)
    error = uattn_error_create(
        UATTN_ERROR_DEVICE,
        "the framework gives no workspace of %" PRId64 " bytes", bytes);
  return error;
}

static uattn_error_t *current_stream(const uattn_exchange_launch_t *launch,
                                     void **out_stream) {
  const dlpack_exchange_t *exchange = launch->framework->exchange_api;
  if (launch->device_type == DLPACK_CPU ||
      exchange->current_stream(launch->device_type, launch->device_ordinal,
                               out_stream) == 0)
    return NULL;
  launch->framework->clear_exception();
  return uattn_error_create(UATTN_ERROR_DEVICE,
                            "the framework has no current stream of device "
                            "%" PRId32,
                            launch->device_ordinal);
}

static uattn_error_t *launch_unlocked(const uattn_exchange_launch_t *wanted,
                                      const uattn_launch_t *launch) {
  const uattn_framework_t *framework = wanted->framework;
  void *released = framework->release_lock();
  uattn_error_t *error =
      uattn_function_launch(wanted->program, wanted->function, launch);
  framework->take_lock(released);
  return error;
}

static uattn_error_t *launch_tensors(const uattn_exchange_launch_t *wanted,
                                     uattn_launch_t *launch) {
  dlpack_managed_t *workspace = NULL;
  uattn_error_t *error = current_stream(wanted, &launch->stream);
  if (!error && wanted->workspace_bytes > 0)
    error = allocate(wanted, &workspace);
  if (!error && workspace) {
    launch->workspace =
        (char *)workspace->tensor.data + workspace->tensor.byte_offset;
    launch->workspace_bytes = wanted->workspace_bytes;
  }
  if (!error)
    error = launch_unlocked(wanted, launch);
  if (workspace && workspace->destroy)
    workspace->destroy(workspace);
  return error;
}

uattn_error_t *uattn_exchange_launch(const uattn_exchange_launch_t *given,
                                     void *objects) {
  uattn_exchange_launch_t wanted = {0};
  memcpy(&wanted, given,
         given->struct_size < sizeof wanted ? given->struct_size
                                            : sizeof wanted);
  uattn_tensor_t tensors[UATTN_EXCHANGE_TENSOR_LIMIT];
  size_t arguments = wanted.argument_count;
  if (arguments > UATTN_EXCHANGE_TENSOR_LIMIT ||
      wanted.result_count > UATTN_EXCHANGE_TENSOR_LIMIT - arguments)
    return REFUSE("%zu arguments and %zu results: wanted at most %d together",
                  arguments, wanted.result_count, UATTN_EXCHANGE_TENSOR_LIMIT);
  uattn_launch_t launch = {.struct_size = sizeof launch,
                           .arguments = tensors,
                           .is_place_known = true};
  uattn_error_t *error = read_objects(&wanted, objects, 0, arguments, tensors,
                                      &launch.argument_count);
  uattn_tensor_t *results = tensors + launch.argument_count;
  launch.results = results;
  if (!error)
    error = read_objects(&wanted, objects, arguments, wanted.result_count,
                         results, &launch.result_count);
  return error ? error : launch_tensors(&wanted, &launch);
}
