/* Loads test programs, hands them memory and runs them.
 * Layer: test. Must not know: what the programs compute.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator_call.h"

#include "support/support.h"

uattn_emulator_t *load_program(const char *name) {
  uattn_string_t path = {0};
  char *text = NULL;
  size_t size = 0;
  uattn_emulator_t *program = NULL;
  uattn_string_appendf(&path, "%s/%s.ptx", EMULATOR_INPUTS, name);
  assert_ok(uattn_file_read(path.data, &text, &size));
  assert_ok(uattn_emulator_create(name, text, size, &program));
  free(text);
  uattn_string_release(&path);
  return program;
}

void *call_add_memory(call_t *call, const char *name, size_t bytes,
                      bool is_read_only) {
  assert_true(call->memory_count < CALL_PARAMS);
  /* As far aligned as tensor maps want it. */
  void *data = aligned_alloc(128, (bytes + 127) / 128 * 128);
  assert_non_null(data);
  memset(data, 0, bytes);
  call->memories[call->memory_count++] = (uattn_emulator_memory_t){
      .name = name, .data = data, .bytes = bytes, .is_read_only = is_read_only};
  return data;
}

void *call_add_buffer(call_t *call, const char *name, size_t bytes,
                      bool is_read_only) {
  void *data = call_add_memory(call, name, bytes, is_read_only);
  void **pointer = &call->pointers[call->param_count];
  *pointer = data;
  call_add_value(call, pointer, sizeof *pointer);
  return data;
}

void call_add_value(call_t *call, const void *value, size_t bytes) {
  assert_true(call->param_count < CALL_PARAMS);
  call->params[call->param_count] = value;
  call->param_bytes[call->param_count++] = bytes;
}

void call_add_map(call_t *call, uint8_t bytes[128],
                  const uattn_tensor_map_t *map) {
  assert_ok(uattn_emulator_encode_tensor_map(map, bytes));
  call_add_value(call, bytes, 128);
}

static size_t find_entry(const uattn_emulator_t *program, const char *entry) {
  size_t count = uattn_emulator_entry_count(program);
  for (size_t i = 0; i < count; ++i)
    if (strcmp(uattn_emulator_entry_name(program, i), entry) == 0)
      return i;
  fail_msg("no entry %s", entry);
  return count;
}

uattn_error_t *call_run(call_t *call, const uattn_emulator_t *program,
                        const char *entry) {
  uattn_emulator_launch_t launch = {
      .struct_size = sizeof launch,
      .dynamic_shared_bytes = call->dynamic_shared_bytes,
      .params = call->params,
      .param_bytes = call->param_bytes,
      .param_count = call->param_count,
      .memories = call->memories,
      .memory_count = call->memory_count,
      .seed = call->seed,
      .thread_count = call->thread_count,
  };
  for (int i = 0; i < 3; ++i) {
    launch.grid[i] = call->grid[i] ? call->grid[i] : 1;
    launch.block[i] = call->block[i] ? call->block[i] : 1;
  }
  return uattn_emulator_run(program, find_entry(program, entry), &launch, NULL);
}

void call_release(call_t *call) {
  for (size_t i = 0; i < call->memory_count; ++i)
    free(call->memories[i].data);
  *call = (call_t){0};
}

uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}
