/* A function with its values on a GPU, to be launched and read back.
 * Layer: tools. Must not know: files, the reference.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_cuda.h"

#include <stdlib.h>

#include "run_pack.h"

/* NaN in every float type. */
enum { POISON = 0xff };

struct run_cuda {
  const uattn_device_t *device;
  const run_values_t *values;
  size_t function;
  uattn_program_t *program;
  uattn_tensor_t *arguments;
  uattn_tensor_t *results;
  void *workspace;
  size_t workspace_bytes;
};

uattn_error_t *run_cuda_open(bool wants_sm90, uattn_device_t **out_device) {
  uattn_device_options_t options = {.struct_size = sizeof options,
                                    .driver_path = getenv("UATTN_CUDA_DRIVER")};
  uattn_error_t *error = uattn_device_open(&options, out_device);
  if (error || !wants_sm90)
    return error;
  int found = uattn_device_compute_capability(*out_device);
  if (found == 90)
    return NULL;
  error = uattn_error_create(UATTN_ERROR_DEVICE,
                             "found %s with compute capability %d.%d, wanted "
                             "9.0",
                             uattn_device_name(*out_device), found / 10,
                             found % 10);
  uattn_device_close(*out_device);
  *out_device = NULL;
  return error;
}

static uattn_error_t *host_memory_error(size_t bytes) {
  return uattn_error_create(UATTN_ERROR_INTERNAL,
                            "out of host memory for %zu bytes", bytes);
}

/* Counts fit: run_values_create has checked them. */
static size_t value_bytes(const run_cuda_t *cuda, uint32_t value) {
  return cuda->values->element_counts[value] *
         uattn_dtype_bytes(cuda->values->function->values[value].dtype);
}

static uattn_error_t *make_argument(run_cuda_t *cuda, uint32_t index) {
  const uattn_artifact_value_t *value = &cuda->values->function->values[index];
  uattn_tensor_t *tensor = &cuda->arguments[index];
  size_t bytes = value_bytes(cuda, index);
  *tensor = uattn_tensor_dense(NULL, value->dtype, value->rank,
                               cuda->values->shapes[index]);
  uattn_error_t *error =
      uattn_device_allocate(cuda->device, bytes, &tensor->data);
  if (error)
    return uattn_error_annotate(error, "%s", value->name);
  void *packed = uattn_try_allocate(bytes);
  if (!packed)
    return host_memory_error(bytes);
  run_pack(cuda->values->data[index], value->dtype,
           cuda->values->element_counts[index], packed);
  error = uattn_device_upload(cuda->device, tensor->data, packed, bytes);
  free(packed);
  return error;
}

static uattn_error_t *make_poisoned(const run_cuda_t *cuda, size_t bytes,
                                    void **out_data) {
  uattn_error_t *error = uattn_device_allocate(cuda->device, bytes, out_data);
  return error ? error
               : uattn_device_fill(cuda->device, *out_data, POISON, bytes);
}

static uattn_error_t *make_results(run_cuda_t *cuda) {
  const uattn_artifact_function_t *function = cuda->values->function;
  uattn_error_t *error =
      uattn_function_results(cuda->program, cuda->function, cuda->arguments,
                             function->argument_count, cuda->results);
  for (uint32_t i = 0; i < function->result_count && !error; ++i) {
    uint32_t value = (uint32_t)function->result_values[i];
    error = uattn_error_annotate(
        make_poisoned(cuda, value_bytes(cuda, value), &cuda->results[i].data),
        "%s", function->values[value].name);
  }
  if (!error)
    error = uattn_function_workspace_bytes(
        cuda->program, cuda->function, cuda->arguments,
        function->argument_count, &cuda->workspace_bytes);
  if (!error && cuda->workspace_bytes > 0)
    error = uattn_error_annotate(
        make_poisoned(cuda, cuda->workspace_bytes, &cuda->workspace),
        "workspace");
  return error;
}

uattn_error_t *run_cuda_create(const uattn_device_t *device,
                               const uattn_artifact_t *artifact,
                               size_t function, const run_values_t *values,
                               run_cuda_t **out_cuda) {
  const uattn_artifact_function_t *facts = values->function;
  run_cuda_t *cuda = uattn_allocate(sizeof *cuda);
  cuda->device = device;
  cuda->values = values;
  cuda->function = function;
  cuda->arguments =
      uattn_allocate(facts->argument_count * sizeof *cuda->arguments);
  cuda->results = uattn_allocate(facts->result_count * sizeof *cuda->results);
  uattn_error_t *error = uattn_program_create(device, artifact, &cuda->program);
  for (uint32_t i = 0; i < facts->argument_count && !error; ++i)
    error = make_argument(cuda, i);
  if (!error)
    error = make_results(cuda);
  if (error)
    run_cuda_destroy(cuda);
  else
    *out_cuda = cuda;
  return error;
}

void run_cuda_destroy(run_cuda_t *cuda) {
  if (!cuda)
    return;
  const uattn_artifact_function_t *function = cuda->values->function;
  for (uint32_t i = 0; i < function->argument_count; ++i)
    uattn_device_free(cuda->device, cuda->arguments[i].data);
  for (uint32_t i = 0; i < function->result_count; ++i)
    uattn_device_free(cuda->device, cuda->results[i].data);
  uattn_device_free(cuda->device, cuda->workspace);
  uattn_program_destroy(cuda->program);
  free(cuda->arguments);
  free(cuda->results);
  free(cuda);
}

uattn_error_t *run_cuda_launch(const run_cuda_t *cuda) {
  const uattn_artifact_function_t *function = cuda->values->function;
  uattn_launch_t launch = {.struct_size = sizeof launch,
                           .arguments = cuda->arguments,
                           .argument_count = function->argument_count,
                           .results = cuda->results,
                           .result_count = function->result_count,
                           .workspace = cuda->workspace,
                           .workspace_bytes = cuda->workspace_bytes};
  return uattn_function_launch(cuda->program, cuda->function, &launch);
}

uattn_error_t *run_cuda_poison(const run_cuda_t *cuda) {
  const uattn_artifact_function_t *function = cuda->values->function;
  uattn_error_t *error = uattn_device_synchronize(cuda->device);
  for (uint32_t i = 0; i < function->result_count && !error; ++i)
    error = uattn_device_fill(
        cuda->device, cuda->results[i].data, POISON,
        value_bytes(cuda, (uint32_t)function->result_values[i]));
  if (!error && cuda->workspace_bytes > 0)
    error = uattn_device_fill(cuda->device, cuda->workspace, POISON,
                              cuda->workspace_bytes);
  return error;
}

uattn_error_t *run_cuda_results(const run_cuda_t *cuda, void **out_results) {
  const uattn_artifact_function_t *function = cuda->values->function;
  uattn_error_t *error = uattn_device_synchronize(cuda->device);
  for (uint32_t i = 0; i < function->result_count && !error; ++i) {
    uint32_t value = (uint32_t)function->result_values[i];
    size_t count = cuda->values->element_counts[value];
    out_results[i] = uattn_try_allocate(count * 4);
    if (!out_results[i]) {
      error = host_memory_error(count * 4);
      continue;
    }
    error =
        uattn_device_download(cuda->device, out_results[i],
                              cuda->results[i].data, value_bytes(cuda, value));
    run_unpack(out_results[i], function->values[value].dtype, count);
  }
  return error;
}
