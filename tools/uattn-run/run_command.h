/* The command line of uattn-run as plain data.
 * Layer: tools. Must not know: artifacts, devices, how the work is done.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_COMMAND_H
#define UATTN_RUN_COMMAND_H

#include "run_trace.h"

typedef enum {
  RUN_DEVICE_AUTO,
  RUN_DEVICE_CUDA,
  RUN_DEVICE_EMULATOR,
  RUN_DEVICE_REFERENCE
} run_device_t;

/* --shape=ARG:2x16x4x64 */
typedef struct {
  char *argument; /* name, argN or N; owned */
  int rank;
  int64_t shape[4];
} run_shape_option_t;

/* Texts are borrowed from the arguments. */
typedef struct {
  const char *file;     /* .mlir, .uattn or .ptx */
  const char *function; /* NULL: the only one */
  run_device_t device;
  const char **inputs; /* of the first arguments */
  size_t input_count;
  const char **outputs; /* of the first results */
  size_t output_count;
  run_shape_option_t *shapes;
  size_t shape_count;
  uint64_t seed;
  uint64_t schedule_seed;
  int64_t schedule_count;
  int64_t launch_count;
  run_trace_t trace;
  const char *launch;   /* the description of a .ptx's launch; else NULL */
  const char *timeline; /* the picture's file; else NULL */
  int64_t timeline_cta;
  int64_t timeline_begin; /* cycles; both 0: what fits */
  int64_t timeline_end;
  bool is_checked;
  bool is_timed;
  bool asks_help;
  bool asks_version;
} run_command_t;

/* Release it in any case. */
UATTN_NODISCARD uattn_error_t *run_command_parse(int argument_count,
                                                 char **arguments,
                                                 run_command_t *out_command);
void run_command_release(run_command_t *command);

void run_command_append_help(uattn_string_t *text);

#endif /* UATTN_RUN_COMMAND_H */
