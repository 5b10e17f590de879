/* Runs whole modules on the emulator with launches of any kind.
 * Layer: test. Must not know: how the emulator works.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_LAUNCH_FIXTURE_H
#define UATTN_EMULATOR_LAUNCH_FIXTURE_H

#include "unit_test.h"

#include "uattn/emulator.h"

#define MODULE_HEADER ".version 8.6\n.target sm_90a\n.address_size 64\n"
/* An entry `kern` with a pointer, and registers %p, %r, %d (b64), %f. */
#define KERNEL_START                                                           \
  ".visible .entry kern(.param .u64 out)\n{\n.reg .pred %p<16>;\n"             \
  ".reg .b32 %r<64>;\n.reg .b64 %d<64>;\n.reg .f32 %f<64>;\n"                  \
  "ld.param.u64 %d0, [out];\n"
#define KERNEL_END "ret;\n}\n"

/* A launch of the first entry of `text`. Zeros: grid and block 1, threads 1. */
typedef struct {
  const char *text;
  uint32_t grid[3];
  uint32_t block[3];
  size_t shared_bytes;
  void *out;
  size_t out_bytes;
  bool is_read_only;
  uint64_t seed;
  int32_t thread_count;
  void (*progress)(double done, void *data);
  void *progress_data;
  const uattn_emulator_trace_t *trace;
  size_t struct_size;                     /* 0: all of it */
  uattn_emulator_statistics_t statistics; /* out */
} launched_t;

uattn_error_t *launched_run(launched_t *launched);

/* Fails with `part` in the message; `code`. */
void assert_launch_error(launched_t *launched, uattn_error_code_t code,
                         const char *part);

#endif /* UATTN_EMULATOR_LAUNCH_FIXTURE_H */
