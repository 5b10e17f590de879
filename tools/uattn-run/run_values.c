/* The values of a function on the host: read, sized, drawn.
 * Layer: tools. Must not know: devices, where results go.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "draw_inputs.h"
#include "npy.h"
#include "run_reference.h"
#include "run_shapes.h"
#include "spec/spec.h"

#define USAGE_ERROR(...)                                                       \
  uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

static uattn_shape_view_t shape_view(const run_values_t *values) {
  return (uattn_shape_view_t){.first = values->shapes[0],
                              .stride_bytes = sizeof *values->shapes};
}

static uattn_error_t *check_input(const uattn_artifact_value_t *value,
                                  size_t index, const char *path,
                                  const uattn_npy_array_t *array) {
  bool wants_integers = value->dtype == UATTN_DTYPE_I32;
  if (wants_integers != (array->dtype == UATTN_DTYPE_I32))
    return USAGE_ERROR("`%s` holds %s: argument %zu (%s) expects %s", path,
                       wants_integers ? "floats" : "integers", index,
                       value->name,
                       wants_integers ? "int32" : "float32 or float16");
  if (array->rank != value->rank)
    return USAGE_ERROR("`%s` has rank %d: argument %zu (%s) expects %" PRId32,
                       path, array->rank, index, value->name, value->rank);
  if (array->element_count == 0)
    return USAGE_ERROR("`%s` is empty: argument %zu (%s) expects numbers", path,
                       index, value->name);
  return NULL;
}

static uattn_error_t *read_inputs(const uattn_artifact_function_t *function,
                                  const run_command_t *command,
                                  uattn_npy_array_t *arrays) {
  uattn_error_t *error = NULL;
  for (size_t i = 0; !error && i < command->input_count; ++i) {
    error = uattn_npy_read(command->inputs[i], &arrays[i]);
    if (!error)
      error =
          check_input(&function->values[i], i, command->inputs[i], &arrays[i]);
  }
  return error;
}

/* The arrays' data become the first arguments'. */
static void take_inputs(run_values_t *values, size_t input_count,
                        uattn_npy_array_t *arrays) {
  for (size_t i = 0; i < input_count; ++i) {
    uattn_dtype_t dtype = values->function->values[i].dtype;
    values->data[i] = arrays[i].data;
    arrays[i].data = NULL;
    if (dtype == UATTN_DTYPE_I32)
      continue;
    float *numbers = values->data[i];
    for (size_t n = 0; n < arrays[i].element_count; ++n)
      numbers[n] = uattn_round_to_dtype(numbers[n], dtype);
  }
}

static uattn_error_t *size_values(run_values_t *values) {
  const uattn_artifact_function_t *function = values->function;
  for (uint32_t i = 0; i < function->value_count; ++i) {
    const uattn_artifact_value_t *value = &function->values[i];
    if (i >= function->argument_count) /* those of the arguments are known */
      uattn_function_value_shape(function, &values->dims, shape_view(values), i,
                                 values->shapes[i]);
    size_t count = 1;
    size_t bytes = 0;
    bool fits = true;
    for (int axis = 0; axis < value->rank; ++axis)
      fits = fits && uattn_size_multiply(count, (size_t)values->shapes[i][axis],
                                         &count);
    if (!fits || !uattn_size_multiply(count, sizeof(double), &bytes))
      return USAGE_ERROR("value %s has more elements than memory can hold",
                         value->name);
    values->element_counts[i] = count;
  }
  return NULL;
}

static void note_operands(run_values_t *values) {
  for (uint32_t step = 0; step < values->function->step_count; ++step)
    for (int i = 0; i < UATTN_OPERAND_COUNT; ++i) {
      int32_t value = values->function->steps[step].operand_values[i];
      if (value >= 0)
        values->is_operand[value] = true;
    }
}

static bool is_forward_result(int operand) {
  return operand == UATTN_OPERAND_OUT || operand == UATTN_OPERAND_LSE;
}

/* A backward's missing out and lse are the forward of its other operands. */
static bool draws_forward(const run_values_t *values, uint32_t step) {
  const uattn_artifact_step_t *op = &values->function->steps[step];
  static const uattn_operand_t made[] = {UATTN_OPERAND_OUT, UATTN_OPERAND_LSE};
  for (size_t i = 0; i < sizeof made / sizeof *made; ++i) {
    int32_t value = op->operand_values[made[i]];
    if (value >= 0 && (uint32_t)value < values->function->argument_count &&
        !values->data[value])
      return true;
  }
  return false;
}

static uattn_error_t *allocate_argument(run_values_t *values, int32_t value) {
  size_t count = values->element_counts[value];
  values->data[value] = uattn_try_allocate(count * sizeof(float));
  if (values->data[value])
    return NULL;
  return uattn_error_create(UATTN_ERROR_INTERNAL,
                            "out of host memory for %zu numbers of %s", count,
                            values->function->values[value].name);
}

/* What the missing out and lse follow from is known, or computed here. */
static uattn_error_t *draw_forward(run_values_t *values, uint32_t step,
                                   const uattn_problem_t *problem,
                                   const uattn_draw_options_t *options) {
  const int32_t *read = values->function->steps[step].operand_values;
  void *operands[UATTN_OPERAND_COUNT];
  uattn_error_t *error = NULL;
  for (int i = 0; i < UATTN_OPERAND_COUNT && !error; ++i)
    if (read[i] >= (int32_t)values->function->argument_count)
      error = run_reference_value(values, (uint32_t)read[i]);
  if (error)
    return error;
  run_values_operands(values, step, operands);
  error = uattn_draw_missing_inputs(problem, options, operands);
  for (int i = 0; i < UATTN_OPERAND_COUNT && !error; ++i)
    if (read[i] >= 0)
      values->data[read[i]] = operands[i];
  return error;
}

/* Draws the missing arguments that one op reads. */
static uattn_error_t *draw_for_step(run_values_t *values, uint32_t step) {
  const int32_t *read = values->function->steps[step].operand_values;
  uattn_problem_t problem = run_values_problem(values, step);
  uattn_draw_options_t options = {.seed = values->seed, .op_index = step};
  uattn_error_t *error = NULL;
  for (int i = 0; i < UATTN_OPERAND_COUNT && !error; ++i) {
    if (read[i] < 0 || read[i] >= (int32_t)values->function->argument_count ||
        values->data[read[i]] ||
        (is_forward_result(i) && !values->is_only_timed))
      continue;
    error = allocate_argument(values, read[i]);
    if (!error)
      uattn_draw_operand(&problem, (uattn_operand_t)i, &options,
                         values->data[read[i]]);
  }
  if (!error && draws_forward(values, step))
    error = draw_forward(values, step, &problem, &options);
  return error;
}

static uattn_error_t *draw_arguments(run_values_t *values) {
  uattn_error_t *error = NULL;
  for (uint32_t i = 0; i < values->function->step_count && !error; ++i)
    error = draw_for_step(values, i);
  /* What no op reads is zero. */
  for (uint32_t i = 0; i < values->function->argument_count && !error; ++i)
    if (!values->data[i])
      error = allocate_argument(values, (int32_t)i);
  return error;
}

static uattn_error_t *fill_values(run_values_t *values,
                                  const run_command_t *command,
                                  uattn_npy_array_t *arrays) {
  uattn_error_t *error = read_inputs(values->function, command, arrays);
  if (!error)
    error = run_find_shapes(values->function, &values->dims, arrays, command,
                            values->shapes);
  if (!error)
    error = size_values(values);
  if (error)
    return error;
  note_operands(values);
  take_inputs(values, command->input_count, arrays);
  return draw_arguments(values);
}

uattn_error_t *run_values_create(const uattn_artifact_function_t *function,
                                 const run_command_t *command,
                                 run_values_t *out_values) {
  size_t count = function->value_count;
  run_values_t values = {
      .function = function,
      .shapes = uattn_allocate(count * sizeof *values.shapes),
      .element_counts = uattn_allocate(count * sizeof *values.element_counts),
      .data = uattn_allocate(count * sizeof *values.data),
      .is_operand = uattn_allocate(count * sizeof *values.is_operand),
      .seed = command->seed,
      .is_only_timed = command->is_timed && !command->is_checked &&
                       command->output_count == 0,
  };
  uattn_error_t *error = NULL;
  if (command->input_count > function->argument_count)
    error = USAGE_ERROR(
        "%zu inputs are given: function %s has %" PRIu32 " arguments",
        command->input_count, function->name, function->argument_count);
  if (!error)
    error = uattn_function_dims_create(function, &values.dims);
  uattn_npy_array_t *arrays =
      uattn_allocate(command->input_count * sizeof *arrays);
  if (!error)
    error = fill_values(&values, command, arrays);
  for (size_t i = 0; i < command->input_count; ++i)
    uattn_npy_array_release(&arrays[i]);
  free(arrays);
  *out_values = values;
  return error;
}

void run_values_release(run_values_t *values) {
  for (uint32_t i = 0; values->data && i < values->function->value_count; ++i)
    free(values->data[i]);
  uattn_function_dims_release(&values->dims);
  free(values->shapes);
  free(values->element_counts);
  free(values->data);
  free(values->is_operand);
}

uattn_problem_t run_values_problem(const run_values_t *values, uint32_t step) {
  return uattn_function_step_problem(values->function, &values->dims,
                                     shape_view(values), step);
}

void run_values_operands(const run_values_t *values, uint32_t step,
                         void *out_operands[UATTN_OPERAND_COUNT]) {
  const int32_t *read = values->function->steps[step].operand_values;
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i)
    out_operands[i] = read[i] >= 0 ? values->data[read[i]] : NULL;
}
