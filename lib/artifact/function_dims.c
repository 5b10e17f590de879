/* Which dimensions of a function's values are one, and what size they have.
 * Layer: artifact. Must not know: MLIR, CUDA, kernels.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every dimension of a value and of an op's problem is a node; nodes that an op
 * ties together are merged. A class then has a static size, or takes its size
 * from the first argument dimension in it: an op's q, k and v come, through
 * other ops, from arguments, so one is always there. */
#include "artifact/artifact.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static int64_t *problem_dim(uattn_problem_t *problem, int dim) {
  int64_t *dims[UATTN_PROBLEM_DIM_COUNT] = {
      &problem->batch,   &problem->q_tokens, &problem->kv_tokens,
      &problem->q_heads, &problem->kv_heads, &problem->head_dim};
  return dims[dim];
}

/* Nodes: four for each value, then UATTN_PROBLEM_DIM_COUNT for each op. */
typedef struct {
  const uattn_artifact_function_t *function;
  size_t *parents;
  int64_t *sizes; /* of a root: static size, or 0 */
  uattn_error_t *error;
} classes_t;

static size_t value_node(int32_t value, int axis) {
  return (size_t)value * 4 + (size_t)axis;
}

static size_t step_node(const classes_t *classes, uint32_t step, int dim) {
  return (size_t)classes->function->value_count * 4 +
         (size_t)step * UATTN_PROBLEM_DIM_COUNT + (size_t)dim;
}

static size_t find_root(classes_t *classes, size_t node) {
  while (classes->parents[node] != node) {
    classes->parents[node] = classes->parents[classes->parents[node]];
    node = classes->parents[node];
  }
  return node;
}

/* `name` and `axis` say where a contradiction was found. */
static void set_size(classes_t *classes, size_t node, int64_t size,
                     const char *name, int axis) {
  int64_t *known = &classes->sizes[find_root(classes, node)];
  if (size <= 0 || classes->error)
    return;
  if (*known > 0 && *known != size)
    classes->error =
        uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                           "%s has %" PRId64 " in dimension %d: wanted %" PRId64
                           ", as other values of the op have",
                           name, size, axis, *known);
  *known = size;
}

/* The smaller root wins, so that a class's root is its first member and an
 * argument's dimension where it has one. */
static void merge(classes_t *classes, size_t a, size_t b, const char *name,
                  int axis) {
  a = find_root(classes, a);
  b = find_root(classes, b);
  if (a == b)
    return;
  size_t kept = a < b ? a : b;
  size_t merged = a < b ? b : a;
  int64_t size = classes->sizes[merged];
  classes->parents[merged] = kept;
  set_size(classes, kept, size, name, axis);
}

/* A problem whose dimensions are told apart by their sizes: what
 * uattn_operand_shape gives for it says which dimension an axis is. */
enum { MARK = 1000000 };

static uattn_problem_t mark_problem(const uattn_problem_t *problem) {
  uattn_problem_t marked = *problem;
  for (int dim = 0; dim < UATTN_PROBLEM_DIM_COUNT; ++dim)
    *problem_dim(&marked, dim) = MARK + dim;
  return marked;
}

static void tie_tensor(classes_t *classes, uint32_t step, int32_t value,
                       const int64_t marks[4], int rank, const char *name) {
  if (value < 0)
    return;
  for (int axis = 0; axis < rank; ++axis) {
    size_t node = value_node(value, axis);
    if (marks[axis] >= MARK)
      merge(classes, node, step_node(classes, step, (int)(marks[axis] - MARK)),
            name, axis);
    else
      set_size(classes, node, marks[axis], name, axis);
  }
}

static void tie_step(classes_t *classes, uint32_t index) {
  const uattn_artifact_step_t *step = &classes->function->steps[index];
  uattn_problem_t marked = mark_problem(&step->problem);
  uattn_problem_t problem = step->problem;
  int64_t marks[4];
  for (int dim = 0; dim < UATTN_PROBLEM_DIM_COUNT; ++dim)
    set_size(classes, step_node(classes, index, dim),
             *problem_dim(&problem, dim), "the op", dim);
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i) {
    uattn_operand_t operand = (uattn_operand_t)i;
    int rank = uattn_operand_shape(&marked, operand, marks);
    tie_tensor(classes, index, step->operand_values[i], marks, rank,
               uattn_operand_name(operand));
  }
  for (int i = 0; i < uattn_result_count(problem.kind); ++i) {
    int rank = uattn_result_shape(&marked, i, marks);
    tie_tensor(classes, index, step->result_values[i], marks, rank,
               uattn_result_name(problem.kind, i));
  }
}

static void tie_all(classes_t *classes) {
  const uattn_artifact_function_t *function = classes->function;
  for (uint32_t i = 0; i < function->value_count; ++i) {
    const uattn_artifact_value_t *value = &function->values[i];
    for (int axis = 0; axis < value->rank; ++axis)
      set_size(classes, value_node((int32_t)i, axis), value->shape[axis],
               value->name, axis);
  }
  for (uint32_t i = 0; i < function->step_count; ++i)
    tie_step(classes, i);
}

static uattn_dim_source_t find_source(classes_t *classes, size_t node) {
  size_t root = find_root(classes, node);
  return (uattn_dim_source_t){.size = classes->sizes[root],
                              .argument = (int32_t)(root / 4),
                              .axis = (int32_t)(root % 4)};
}

static void store_sources(classes_t *classes, uattn_function_dims_t *dims) {
  const uattn_artifact_function_t *function = classes->function;
  for (uint32_t i = 0; i < function->value_count; ++i)
    for (int axis = 0; axis < 4; ++axis)
      dims->values[i][axis] =
          find_source(classes, value_node((int32_t)i, axis));
  for (uint32_t i = 0; i < function->step_count; ++i)
    for (int dim = 0; dim < UATTN_PROBLEM_DIM_COUNT; ++dim)
      dims->steps[i][dim] = find_source(classes, step_node(classes, i, dim));
}

uattn_error_t *
uattn_function_dims_create(const uattn_artifact_function_t *function,
                           uattn_function_dims_t *out_dims) {
  size_t values = function->value_count;
  size_t steps = function->step_count;
  size_t nodes = values * 4 + steps * UATTN_PROBLEM_DIM_COUNT;
  classes_t classes = {.function = function,
                       .parents = uattn_try_allocate(nodes * sizeof(size_t)),
                       .sizes = uattn_try_allocate(nodes * sizeof(int64_t))};
  uattn_function_dims_t dims = {
      .values = uattn_try_allocate(values * sizeof *dims.values),
      .steps = uattn_try_allocate(steps * sizeof *dims.steps)};
  if (!classes.parents || !classes.sizes || !dims.values || !dims.steps) {
    classes.error =
        uattn_error_create(UATTN_ERROR_INTERNAL, "out of host memory");
  } else {
    for (size_t i = 0; i < nodes; ++i)
      classes.parents[i] = i;
    tie_all(&classes);
  }
  if (classes.error) {
    uattn_function_dims_release(&dims);
  } else {
    store_sources(&classes, &dims);
    *out_dims = dims;
  }
  free(classes.parents);
  free(classes.sizes);
  return classes.error;
}

void uattn_function_dims_release(uattn_function_dims_t *dims) {
  free(dims->values);
  free(dims->steps);
  *dims = (uattn_function_dims_t){0};
}

static const int64_t *view_shape(uattn_shape_view_t view, uint32_t argument) {
  const char *first = (const char *)view.first;
  return (const int64_t *)(const void *)(first + argument * view.stride_bytes);
}

static int64_t source_size(const uattn_dim_source_t *source,
                           uattn_shape_view_t view) {
  if (source->size > 0)
    return source->size;
  return view_shape(view, (uint32_t)source->argument)[source->axis];
}

static uattn_error_t *check_argument(const uattn_artifact_function_t *function,
                                     const uattn_function_dims_t *dims,
                                     uattn_shape_view_t view,
                                     uint32_t argument) {
  const uattn_artifact_value_t *value = &function->values[argument];
  for (int axis = 0; axis < value->rank; ++axis) {
    const uattn_dim_source_t *source = &dims->values[argument][axis];
    int64_t found = view_shape(view, argument)[axis];
    int64_t wanted = source_size(source, view);
    if (found < 1 || found > INT32_MAX)
      return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                                "argument %" PRIu32 " (%s) has %" PRId64
                                " in dimension %d: wanted 1 to %d",
                                argument, value->name, found, axis, INT32_MAX);
    if (found != wanted && source->size > 0)
      return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                                "argument %" PRIu32 " (%s) has %" PRId64
                                " in dimension %d: wanted %" PRId64,
                                argument, value->name, found, axis, wanted);
    if (found != wanted)
      return uattn_error_create(
          UATTN_ERROR_INVALID_ARGUMENT,
          "argument %" PRIu32 " (%s) has %" PRId64
          " in dimension %d: wanted %" PRId64 ", as argument %" PRId32
          " (%s) has in dimension %" PRId32,
          argument, value->name, found, axis, wanted, source->argument,
          function->values[source->argument].name, source->axis);
  }
  return NULL;
}

uattn_error_t *
uattn_function_check_shapes(const uattn_artifact_function_t *function,
                            const uattn_function_dims_t *dims,
                            uattn_shape_view_t argument_shapes) {
  for (uint32_t i = 0; i < function->argument_count; ++i) {
    uattn_error_t *error = check_argument(function, dims, argument_shapes, i);
    if (error)
      return error;
  }
  for (uint32_t i = 0; i < function->step_count; ++i) {
    uattn_problem_t problem =
        uattn_function_step_problem(function, dims, argument_shapes, i);
    uattn_error_t *error = uattn_problem_validate(&problem);
    if (error)
      return uattn_error_annotate(error, "op %" PRIu32, i);
  }
  return NULL;
}

void uattn_function_value_shape(const uattn_artifact_function_t *function,
                                const uattn_function_dims_t *dims,
                                uattn_shape_view_t argument_shapes,
                                uint32_t value, int64_t out_shape[4]) {
  memset(out_shape, 0, 4 * sizeof *out_shape);
  for (int axis = 0; axis < function->values[value].rank; ++axis)
    out_shape[axis] = source_size(&dims->values[value][axis], argument_shapes);
}

uattn_problem_t
uattn_function_step_problem(const uattn_artifact_function_t *function,
                            const uattn_function_dims_t *dims,
                            uattn_shape_view_t argument_shapes, uint32_t step) {
  uattn_problem_t problem = function->steps[step].problem;
  for (int dim = 0; dim < UATTN_PROBLEM_DIM_COUNT; ++dim)
    *problem_dim(&problem, dim) =
        source_size(&dims->steps[step][dim], argument_shapes);
  return problem;
}
