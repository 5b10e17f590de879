/* Runs whole modules on the emulator with launches of any kind.
 * Layer: test. Must not know: how the emulator works.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator_launch_fixture.h"

uattn_error_t *launched_run(launched_t *launched) {
  uattn_emulator_t *emulator = NULL;
  uattn_error_t *error = uattn_emulator_create(
      "module.ptx", launched->text, strlen(launched->text), &emulator);
  if (error)
    return error;
  uint64_t out = (uint64_t)(uintptr_t)launched->out;
  const void *params[] = {&out};
  const size_t param_bytes[] = {sizeof out};
  const uattn_emulator_memory_t memory = {.name = "out",
                                          .data = launched->out,
                                          .bytes = launched->out_bytes,
                                          .is_read_only =
                                              launched->is_read_only};
  uattn_emulator_launch_t options = {
      .struct_size =
          launched->struct_size ? launched->struct_size : sizeof options,
      .dynamic_shared_bytes = launched->shared_bytes,
      .params = params,
      .param_bytes = param_bytes,
      .param_count = 1,
      .memories = &memory,
      .memory_count = 1,
      .seed = launched->seed,
      .thread_count = launched->thread_count ? launched->thread_count : 1,
      .progress = launched->progress,
      .progress_data = launched->progress_data,
      .trace = launched->trace};
  for (int axis = 0; axis < 3; ++axis) {
    options.grid[axis] = launched->grid[axis] ? launched->grid[axis] : 1;
    options.block[axis] = launched->block[axis] ? launched->block[axis] : 1;
  }
  error = uattn_emulator_run(emulator, 0, &options, &launched->statistics);
  uattn_emulator_destroy(emulator);
  return error;
}

void assert_launch_error(launched_t *launched, uattn_error_code_t code,
                         const char *part) {
  uattn_error_t *error = launched_run(launched);
  assert_non_null(error);
  if (!strstr(uattn_error_message(error), part))
    fail_msg("'%s' is not in: %s", part, uattn_error_message(error));
  assert_int_equal(uattn_error_code(error), code);
  uattn_error_destroy(error);
}
