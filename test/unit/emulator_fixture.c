/* Runs the body of a kernel on the emulator.
 * Layer: test. Must not know: how the emulator works.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator_fixture.h"

#include "support/support.h"

enum { SEEDS = 12, MAP_BYTES = 128 };

static const char before[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n"
    ".extern .shared .align 1024 .b8 smem[];\n"
    ".visible .entry kern(.param .u64 out, .param .u64 in,\n"
    "  .param .align 64 .b8 map[128])\n{\n"
    ".reg .pred %p<16>;\n.reg .b16 %h<16>;\n.reg .b32 %r<256>;\n"
    ".reg .b64 %d<64>;\n.reg .f32 %f<256>;\n"
    ".reg .b64 %out, %in, %map, %mine;\n.reg .b32 %thread;\n"
    "ld.param.u64 %out, [out];\nld.param.u64 %in, [in];\n"
    "mov.b64 %map, map;\ncvta.param.u64 %map, %map;\n"
    "mov.u32 %thread, %tid.x;\nmul.wide.u32 %mine, %thread, 4;\n"
    "add.s64 %mine, %out, %mine;\n";

static uattn_error_t *create(const char *body,
                             uattn_emulator_t **out_emulator) {
  uattn_string_t text = {0};
  uattn_string_append(&text, before);
  uattn_string_append(&text, body);
  uattn_string_append(&text, "ret;\n}\n");
  uattn_error_t *error =
      uattn_emulator_create("kern.ptx", text.data, text.size, out_emulator);
  uattn_string_release(&text);
  return error;
}

static uattn_error_t *launch(const uattn_emulator_t *emulator,
                             const emulated_t *emulated, const uint8_t *map) {
  uint64_t out = (uint64_t)(uintptr_t)emulated->out;
  uint64_t in = (uint64_t)(uintptr_t)emulated->in;
  const void *params[] = {&out, &in, map};
  const size_t param_bytes[] = {sizeof out, sizeof in, MAP_BYTES};
  const uattn_emulator_memory_t memories[] = {
      {.name = "out", .data = emulated->out, .bytes = emulated->out_bytes},
      {.name = "in", .data = emulated->in, .bytes = emulated->in_bytes}};
  uattn_emulator_launch_t options = {
      .struct_size = sizeof options,
      .grid = {emulated->ctas ? emulated->ctas : 1, 1, 1},
      .block = {emulated->threads ? emulated->threads : 32, 1, 1},
      .dynamic_shared_bytes = emulated->shared_bytes,
      .params = params,
      .param_bytes = param_bytes,
      .param_count = COUNT_OF(params),
      .memories = memories,
      .memory_count = COUNT_OF(memories),
      .seed = emulated->seed,
      .ignores_hazards = emulated->ignores_hazards,
      .thread_count = 1};
  return uattn_emulator_run(emulator, 0, &options, NULL);
}

uattn_error_t *emulated_run(const emulated_t *emulated) {
  uint8_t map[MAP_BYTES] = {0};
  uattn_emulator_t *emulator = NULL;
  uattn_error_t *error =
      emulated->map ? uattn_emulator_encode_tensor_map(emulated->map, map)
                    : NULL;
  if (!error)
    error = create(emulated->body, &emulator);
  if (!error)
    error = launch(emulator, emulated, map);
  uattn_emulator_destroy(emulator);
  return error;
}

void emulated_run_seeds(emulated_t *emulated, void (*check)(void *data),
                        void *data) {
  for (uint64_t seed = 0; seed < SEEDS; ++seed) {
    emulated->seed = seed;
    memset(emulated->out, 0xEE, emulated->out_bytes);
    assert_ok(emulated_run(emulated));
    check(data);
  }
}

void assert_emulated_fault(const emulated_t *emulated, const char *part) {
  uattn_error_t *error = emulated_run(emulated);
  assert_non_null(error);
  if (!strstr(uattn_error_message(error), part))
    fail_msg("'%s' is not in: %s", part, uattn_error_message(error));
  assert_int_equal(uattn_error_code(error), UATTN_ERROR_FAULT);
  uattn_error_destroy(error);
}

void assert_refused(const char *instruction, const char *part) {
  uattn_emulator_t *emulator = NULL;
  uattn_error_t *error = create(instruction, &emulator);
  if (!error)
    fail_msg("accepted: %s", instruction);
  const char *message = uattn_error_message(error);
  if (!strstr(message, instruction) || !strstr(message, part))
    fail_msg("'%s' and '%s' are not both in: %s", instruction, part, message);
  assert_int_equal(uattn_error_code(error), UATTN_ERROR_UNSUPPORTED);
  uattn_error_destroy(error);
}

void assert_accepted(const char *instruction) {
  uattn_emulator_t *emulator = NULL;
  assert_ok(create(instruction, &emulator));
  uattn_emulator_destroy(emulator);
}
