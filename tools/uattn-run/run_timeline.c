/* The picture of an emulated run, from the options to the file.
 * Layer: tools. Must not know: how it is made.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_timeline.h"

uattn_error_t *run_timeline_create(const run_command_t *command,
                                   uattn_emulator_timeline_t **out_timeline) {
  *out_timeline = NULL;
  if (!command->timeline)
    return NULL;
  const uattn_emulator_timeline_options_t options = {
      .struct_size = sizeof options,
      .cta = (uint64_t)command->timeline_cta,
      .begin_cycle = (uint64_t)command->timeline_begin,
      .end_cycle = (uint64_t)command->timeline_end};
  return uattn_emulator_timeline_create(&options, out_timeline);
}

uattn_error_t *run_timeline_write(const run_command_t *command,
                                  uattn_emulator_timeline_t *timeline) {
  if (!timeline)
    return NULL;
  size_t size = 0;
  const char *svg = uattn_emulator_timeline_svg(timeline, &size);
  return uattn_file_write(command->timeline, svg, size);
}
