/* Finds the sizes of a function's arguments from files and options.
 * Layer: tools. Must not know: devices, what the arguments hold.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_shapes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define USAGE_ERROR(...)                                                       \
  uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

/* By name, then as argN or N; -1 where there is none. */
static int64_t find_argument(const uattn_artifact_function_t *function,
                             const char *text) {
  for (uint32_t i = 0; i < function->argument_count; ++i)
    if (strcmp(function->values[i].name, text) == 0)
      return i;
  int64_t index = -1;
  const char *digits = strncmp(text, "arg", 3) == 0 ? text + 3 : text;
  if (uattn_parse_int64(digits, &index) && index >= 0 &&
      index < function->argument_count)
    return index;
  return -1;
}

/* Takes over a size where none is known; another one is left, for the check
 * of all shapes to name. */
static void note_size(int64_t *known, int64_t size) {
  if (*known <= 0)
    *known = size;
}

static uattn_error_t *note_option(const uattn_artifact_function_t *function,
                                  const run_shape_option_t *option,
                                  bool *was_given, int64_t (*shapes)[4]) {
  int64_t index = find_argument(function, option->argument);
  if (index < 0)
    return USAGE_ERROR(
        "--shape names the argument '%s': function %s has %" PRIu32
        " arguments, %s first",
        option->argument, function->name, function->argument_count,
        function->argument_count > 0 ? function->values[0].name : "none");
  const uattn_artifact_value_t *value = &function->values[index];
  if (was_given[index])
    return USAGE_ERROR("--shape is given twice for argument %" PRId64
                       " (%s): expected it once",
                       index, value->name);
  was_given[index] = true;
  if (option->rank != value->rank)
    return USAGE_ERROR("--shape gives argument %" PRId64 " (%s) %d sizes: "
                       "expected %" PRId32,
                       index, value->name, option->rank, value->rank);
  for (int axis = 0; axis < value->rank; ++axis) {
    int64_t size = option->shape[axis];
    int64_t *known = &shapes[index][axis];
    note_size(known, size);
    if (*known != size)
      return USAGE_ERROR("--shape gives argument %" PRId64 " (%s) %" PRId64
                         " in dimension %d: its file or type has %" PRId64,
                         index, value->name, size, axis, *known);
  }
  return NULL;
}

static uattn_error_t *note_options(const uattn_artifact_function_t *function,
                                   const run_command_t *command,
                                   int64_t (*shapes)[4]) {
  bool *was_given = uattn_allocate(function->argument_count);
  uattn_error_t *error = NULL;
  for (size_t i = 0; !error && i < command->shape_count; ++i)
    error = note_option(function, &command->shapes[i], was_given, shapes);
  free(was_given);
  return error;
}

/* Static sizes of all arguments, and what the files have. */
static void note_known(const uattn_artifact_function_t *function,
                       const uattn_function_dims_t *dims,
                       const uattn_npy_array_t *arrays, size_t array_count,
                       int64_t (*shapes)[4]) {
  for (uint32_t i = 0; i < function->argument_count; ++i)
    for (int axis = 0; axis < function->values[i].rank; ++axis)
      shapes[i][axis] =
          i < array_count ? arrays[i].shape[axis] : dims->values[i][axis].size;
}

/* Carries a size that any argument of a class knows to all others. */
static void spread_sizes(const uattn_artifact_function_t *function,
                         const uattn_function_dims_t *dims,
                         int64_t (*shapes)[4]) {
  for (int round = 0; round < 2; ++round)
    for (uint32_t i = 0; i < function->argument_count; ++i)
      for (int axis = 0; axis < function->values[i].rank; ++axis) {
        const uattn_dim_source_t *source = &dims->values[i][axis];
        int64_t *first = &shapes[source->argument][source->axis];
        if (source->size > 0)
          continue;
        note_size(first, shapes[i][axis]);
        note_size(&shapes[i][axis], *first);
      }
}

static uattn_error_t *check_all_known(const uattn_artifact_function_t *function,
                                      int64_t (*shapes)[4]) {
  for (uint32_t i = 0; i < function->argument_count; ++i)
    for (int axis = 0; axis < function->values[i].rank; ++axis)
      if (shapes[i][axis] == 0)
        return USAGE_ERROR("argument %" PRIu32 " (%s) has no size in dimension "
                           "%d, which is dynamic: expected "
                           "--shape=%s:... or an --input",
                           i, function->values[i].name, axis,
                           function->values[i].name);
  return NULL;
}

uattn_error_t *run_find_shapes(const uattn_artifact_function_t *function,
                               const uattn_function_dims_t *dims,
                               const uattn_npy_array_t *arrays,
                               const run_command_t *command,
                               int64_t (*out_shapes)[4]) {
  note_known(function, dims, arrays, command->input_count, out_shapes);
  uattn_error_t *error = note_options(function, command, out_shapes);
  if (error)
    return error;
  spread_sizes(function, dims, out_shapes);
  error = check_all_known(function, out_shapes);
  if (error || function->argument_count == 0)
    return error;
  return uattn_function_check_shapes(
      function, dims,
      (uattn_shape_view_t){.first = out_shapes[0],
                           .stride_bytes = sizeof *out_shapes});
}
