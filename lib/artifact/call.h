/* A call of a function, wherever its kernels run: tensors checked, parameters
 * of each kernel as plain data.
 * Layer: artifact. Must not know: MLIR, CUDA, the emulator, how kernels run.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nothing here allocates but uattn_function_facts_create, so that a call may
 * come from several threads and under stream capture. */
#ifndef UATTN_ARTIFACT_CALL_H
#define UATTN_ARTIFACT_CALL_H

#include "artifact/artifact.h"
#include "uattn/tensor.h"

/* ---- Tensors (tensor.c) ----------------------------------------------------
 */

/* What a call demands of a tensor's memory. */
typedef struct {
  const char *role; /* "argument", "result" or "buffer", for messages */
  size_t index;
  const char *name;
  bool is_mapped;
  bool is_pointed;
  bool is_written;
} uattn_tensor_demand_t;

/* Address, alignment and strides; the shape is right already. */
UATTN_NODISCARD uattn_error_t *
uattn_tensor_check_layout(const uattn_tensor_t *tensor,
                          const uattn_tensor_demand_t *demand);

/* False where it is more than a size can say. */
UATTN_NODISCARD bool uattn_tensor_bytes(const uattn_tensor_t *tensor,
                                        size_t *out_bytes);

/* ---- Functions (function_facts.c) ------------------------------------------
 */

/* How kernels reach a value: what its layout must allow. */
typedef struct {
  bool is_mapped;  /* through a tensor map */
  bool is_pointed; /* through its address, as a dense array */
  bool is_written;
  int32_t result; /* the first function result that it is, or -1 */
} uattn_value_use_t;

/* What calls need to know of a function; release it in any case. */
typedef struct {
  uattn_function_dims_t dims;
  uattn_value_use_t *uses; /* of each value */
} uattn_function_facts_t;

UATTN_NODISCARD uattn_error_t *
uattn_function_facts_create(const uattn_artifact_t *artifact,
                            uint32_t function_index,
                            uattn_function_facts_t *out_facts);
void uattn_function_facts_release(uattn_function_facts_t *facts);

/* Those of every function of an artifact. On error there are none. */
UATTN_NODISCARD uattn_error_t *
uattn_artifact_facts_create(const uattn_artifact_t *artifact,
                            uattn_function_facts_t **out_facts);
/* Accepts NULL for facts. */
void uattn_artifact_facts_destroy(const uattn_artifact_t *artifact,
                                  uattn_function_facts_t *facts);

/* ---- Calls (call.c, check_call.c) ------------------------------------------
 */

typedef struct {
  /* The caller's; of uattn_launch_t's meaning. */
  const uattn_tensor_t *arguments;
  size_t argument_count;
  const uattn_tensor_t *results;
  size_t result_count;
  void *workspace;
  size_t workspace_bytes;
  const double *sm_scale;
  const uattn_cap_t *cap;
  /* Refuses memory that the kernels could not reach; NULL: any will do. */
  uattn_error_t *(*check_place)(void *user_data, const void *data,
                                const uattn_tensor_demand_t *demand);
  void *user_data;
  /* Set by uattn_call_begin. */
  const uattn_artifact_t *artifact;
  const uattn_artifact_function_t *function;
  const uattn_function_facts_t *facts;
  uattn_shape_view_t shapes;
} uattn_call_t;

/* Checks the function's index, the arguments' count, ranks, types and shapes,
 * and reads nothing else of the call. `facts` are those of all functions. */
UATTN_NODISCARD uattn_error_t *
uattn_call_begin(const uattn_artifact_t *artifact,
                 const uattn_function_facts_t *facts, size_t function,
                 uattn_call_t *call);

/* These want a call that has begun. */

/* The results that the function gives: dense tensors, data NULL. */
void uattn_call_describe_results(const uattn_call_t *call,
                                 uattn_tensor_t *out_results);
/* A value's tensor: an argument, a result, or a place in the workspace that
 * uattn_call_workspace_bytes lays out. */
uattn_tensor_t uattn_call_tensor(const uattn_call_t *call, uint32_t value);
/* A scratch's tensor, in the workspace. Ops are launched one after the other
 * and take the same memory for theirs, so that each undoes that of the one
 * before. */
uattn_tensor_t uattn_call_scratch(const uattn_call_t *call, uint32_t step,
                                  uint32_t scratch);
/* Memory for what flows between ops, then for the scratch of the op that wants
 * most of it; every tensor begins at a multiple of 256 bytes. */
UATTN_NODISCARD uattn_error_t *
uattn_call_workspace_bytes(const uattn_call_t *call, size_t *out_bytes);
/* How much of it flows between ops: scratch begins there. Wants a call whose
 * workspace has a size. */
size_t uattn_call_values_bytes(const uattn_call_t *call);
/* The op as this call wants it: sizes known, scale and cap replaced. */
uattn_problem_t uattn_call_problem(const uattn_call_t *call, uint32_t step);
/* All rules of a call: ops, scale and cap, results, workspace, layouts. */
UATTN_NODISCARD uattn_error_t *uattn_call_check(const uattn_call_t *call);

/* ---- Launches (call_launch.c) ----------------------------------------------
 */

typedef struct {
  const uattn_artifact_kernel_t *kernel;
  uint32_t kernel_index;
  uint32_t step_index;
  uint32_t cta_count; /* on the first axis of the grid */
  /* As many as the kernel takes; the others say nothing. */
  uattn_param_value_t params[UATTN_KERNEL_PARAM_LIMIT];
} uattn_kernel_launch_t;

/* CTAs of a kernel of an op with these sizes; false where a grid's axis cannot
 * have so many. */
UATTN_NODISCARD bool
uattn_kernel_cta_count(const uattn_artifact_kernel_t *kernel,
                       const uattn_problem_t *problem, uint32_t *out_count);

/* What a device does of a call, in this order. */
typedef struct {
  uattn_error_t *(*launch)(void *user_data,
                           const uattn_kernel_launch_t *launch);
  /* A result that no kernel writes: an argument, or another result again. */
  uattn_error_t *(*copy)(void *user_data, void *target, const void *source,
                         size_t bytes);
  void *user_data;
} uattn_call_device_t;

/* Hands over every kernel and copy of a call that was checked. */
UATTN_NODISCARD uattn_error_t *
uattn_call_enqueue(const uattn_call_t *call, const uattn_call_device_t *device);

#endif /* UATTN_ARTIFACT_CALL_H */
