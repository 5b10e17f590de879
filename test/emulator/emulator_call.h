/* Loads test programs, hands them memory and runs them.
 * Layer: test. Must not know: what the programs compute.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_CALL_H
#define UATTN_EMULATOR_CALL_H

#include "unit_test.h"

#include "uattn/emulator.h"

enum { CALL_PARAMS = 16 };

/* One launch. Zero-initialise; grid and block entries of 0 are 1. */
typedef struct {
  uint32_t grid[3];
  uint32_t block[3];
  size_t dynamic_shared_bytes;
  const void *params[CALL_PARAMS];
  size_t param_bytes[CALL_PARAMS];
  size_t param_count;
  void *pointers[CALL_PARAMS]; /* the values of the pointer parameters */
  uattn_emulator_memory_t memories[CALL_PARAMS];
  size_t memory_count;
  uint64_t seed;
  int32_t thread_count;
} call_t;

/* The program NAME.ptx of test/Inputs/emulator. */
uattn_emulator_t *load_program(const char *name);

/* Zeroed memory that the launch may touch, until call_release. */
void *call_add_memory(call_t *call, const char *name, size_t bytes,
                      bool is_read_only);
/* The same, and its address as the next parameter. */
void *call_add_buffer(call_t *call, const char *name, size_t bytes,
                      bool is_read_only);
/* The next parameter, by value: borrowed until the launch. */
void call_add_value(call_t *call, const void *value, size_t bytes);
/* A tensor map by value: `bytes` of 128, filled here. */
void call_add_map(call_t *call, uint8_t bytes[128],
                  const uattn_tensor_map_t *map);

UATTN_NODISCARD uattn_error_t *
call_run(call_t *call, const uattn_emulator_t *program, const char *entry);
void call_release(call_t *call);

/* Numbers that look random and are the same in every run. */
uint64_t next_random(uint64_t *state);

#endif /* UATTN_EMULATOR_CALL_H */
