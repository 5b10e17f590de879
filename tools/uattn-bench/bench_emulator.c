/* What an emulated instruction costs, class by class.
 * Layer: tools. Must not know: artifacts, attention.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each class is a kernel of one CTA: a loop whose body repeats the instructions
 * so often that the loop's own do not count. */
#include "bench_emulator.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/support.h"
#include "uattn/emulator.h"

enum { TILE_ROWS = 64, TILE_COLUMNS = 64, TILE_BYTES = 8192 };

typedef struct {
  const char *name;
  const char *unit;
  double units; /* of a repetition */
  int repetitions;
  uint32_t threads;
  const char *before; /* the loop */
  const char *body;   /* repeated */
  const char *after;  /* all repetitions, in the loop */
} class_t;

static const class_t classes[] = {
    {"integer, mad.lo.s32", "warp instruction", 1, 64, 32, "",
     "mad.lo.s32 %r1, %r1, %r2, %r3;\n", ""},
    {"f32, fma.rn.f32", "warp instruction", 1, 64, 32, "",
     "fma.rn.f32 %f1, %f1, %f2, %f3;\n", ""},
    {"f32, ex2.approx.ftz.f32", "warp instruction", 1, 64, 32, "",
     "ex2.approx.ftz.f32 %f1, %f2;\n", ""},
    {"conversion, cvt.rn.bf16x2.f32", "warp instruction", 1, 64, 32, "",
     "cvt.rn.bf16x2.f32 %r1, %f1, %f2;\n", ""},
    {"shared load, ld.shared.f32", "warp instruction", 1, 64, 32, "",
     "ld.shared.f32 %f1, [%r8];\n", ""},
    {"global load, ld.global.f32", "warp instruction", 1, 64, 32, "",
     "ld.global.f32 %f1, [%rd2];\n", ""},
    {"mbarrier wait, try_wait.parity", "warp instruction", 1, 64, 32,
     "@%p3 mbarrier.init.shared.b64 [%r9], 1;\n",
     "mbarrier.try_wait.parity.shared.b64 %p2, [%r9], 1;\n", ""},
    {"wgmma, m64n64k16 bf16", "1e6 products", 64 * 64 * 16 * 1e-6, 16, 128, "",
     "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {ACCUMULATORS}, "
     "%rd3, %rd3, 1, 1, 1, 0, 0;\n",
     "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"},
    {"tensor copy, 64 x 64 bf16", "KiB", TILE_BYTES / 1024.0, 4, 32,
     "@%p3 mbarrier.init.shared.b64 [%r9], 1;\n",
     "@%p3 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 8192;\n"
     "@%p3 cp.async.bulk.tensor.2d.shared::cluster.global.tile"
     ".mbarrier::complete_tx::bytes [%r10], [map, {%r11, %r11}], [%r9];\n"
     "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r9], %r12;\n"
     "@!%p2 bra WAIT;\nxor.b32 %r12, %r12, 1;\n",
     ""},
};

/* The text of a body whose words in capitals have been filled in. */
static void append_body(uattn_string_t *text, const char *body, int number) {
  while (*body) {
    if (strncmp(body, "ACCUMULATORS", 12) == 0) {
      for (int i = 0; i < 32; ++i)
        uattn_string_appendf(text, "%s%%f%d", i > 0 ? ", " : "", 16 + i);
      body += 12;
    } else if (strncmp(body, "WAIT", 4) == 0) {
      uattn_string_appendf(text, "wait%d", number);
      body += 4;
    } else {
      uattn_string_append_bytes(text, body++, 1);
    }
  }
}

static char *make_kernel(const class_t *class) {
  uattn_string_t text = {0};
  uattn_string_append(
      &text,
      ".version 8.0\n.target sm_90a\n.address_size 64\n"
      ".extern .shared .align 1024 .b8 tile[];\n"
      ".visible .entry bench(.param .align 64 .b8 map[128],\n"
      "  .param .u64 data, .param .u32 count) {\n"
      ".reg .b32 %r<16>;\n.reg .f32 %f<64>;\n.reg .b64 %rd<4>;\n"
      ".reg .pred %p<4>;\n.shared .align 8 .b64 barrier;\n"
      "ld.param.u32 %r6, [count];\nld.param.u64 %rd1, [data];\n"
      "mov.u32 %r7, %tid.x;\nmov.u32 %r10, tile;\n"
      "mad.lo.u32 %r8, %r7, 4, %r10;\nmad.wide.u32 %rd2, %r7, 4, %rd1;\n"
      "mov.u32 %r9, barrier;\nmov.u32 %r11, 0;\nmov.u32 %r12, 0;\n"
      "setp.eq.u32 %p3, %r7, 0;\nmov.f32 %f1, 0f3F000000;\n"
      "mov.f32 %f2, %f1;\nmov.f32 %f3, %f1;\nmov.u32 %r3, 1;\n"
      /* of the tile: 128-byte swizzle, 1024 bytes between groups of rows */
      "cvt.u64.u32 %rd3, %r10;\nshr.u64 %rd3, %rd3, 4;\n"
      "or.b64 %rd3, %rd3, 0x4000004000010000;\n");
  for (int i = 0; i < 32; ++i)
    uattn_string_appendf(&text, "mov.f32 %%f%d, 0f00000000;\n", 16 + i);
  /* The tile holds ones. */
  uattn_string_append(&text, "mov.u32 %r1, 0x3F803F80;\n"
                             "mad.lo.u32 %r2, %r7, 64, %r10;\n");
  for (uint32_t i = 0; i < 16 * 128 / class->threads; ++i)
    uattn_string_appendf(&text, "st.shared.b32 [%%r2+%u], %%r1;\n",
                         i / 16 * 64 * class->threads + i % 16 * 4);
  uattn_string_append(&text, class->before);
  uattn_string_append(&text, "fence.proxy.async;\nbar.sync 0;\n");
  if (class->threads == 128)
    uattn_string_append(&text, "wgmma.fence.sync.aligned;\n");
  uattn_string_append(&text, "again:\n");
  for (int i = 0; i < class->repetitions; ++i)
    append_body(&text, class->body, i);
  uattn_string_append(&text, class->after);
  uattn_string_append(&text, "sub.u32 %r6, %r6, 1;\nsetp.ne.u32 %p1, %r6, 0;\n"
                             "@%p1 bra again;\nret;\n}\n");
  return uattn_string_take(&text);
}

/* Of this process, whatever else the machine does. */
static double cpu_seconds(void) {
  struct timespec now = {0};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uattn_error_t *time_loop(const uattn_emulator_t *emulator,
                                const class_t *class, uint32_t count,
                                double *out_seconds) {
  static _Alignas(256) uint16_t data[TILE_ROWS * TILE_COLUMNS];
  uint8_t map[128];
  const uattn_tensor_map_t description = {
      .element = UATTN_ELEMENT_BF16,
      .rank = 2,
      .data = data,
      .dims = {TILE_COLUMNS, TILE_ROWS},
      .strides = {TILE_COLUMNS * sizeof *data},
      .box = {TILE_COLUMNS, TILE_ROWS},
      .swizzle = UATTN_SWIZZLE_128B};
  uattn_error_t *error = uattn_emulator_encode_tensor_map(&description, map);
  if (error)
    return error;
  const uint64_t address = (uint64_t)(uintptr_t)data;
  const void *params[] = {map, &address, &count};
  const size_t param_bytes[] = {sizeof map, sizeof address, sizeof count};
  const uattn_emulator_memory_t memory = {"data", data, sizeof data, true};
  const uattn_emulator_launch_t launch = {.struct_size = sizeof launch,
                                          .grid = {1, 1, 1},
                                          .block = {class->threads, 1, 1},
                                          .dynamic_shared_bytes =
                                              2 * TILE_BYTES,
                                          .params = params,
                                          .param_bytes = param_bytes,
                                          .param_count = 3,
                                          .memories = &memory,
                                          .memory_count = 1,
                                          .thread_count = 1};
  double begin = cpu_seconds();
  error = uattn_emulator_run(emulator, 0, &launch, NULL);
  *out_seconds = cpu_seconds() - begin;
  return error;
}

/* Doubles the loop until it takes long enough; the last is the figure. */
static uattn_error_t *measure(const uattn_emulator_t *emulator,
                              const class_t *class, double seconds,
                              double *out_ns) {
  double taken = 0;
  uint32_t count = 16;
  uattn_error_t *error = NULL;
  while (!error && taken < seconds && count < UINT32_MAX / 2) {
    count *= 2;
    error = time_loop(emulator, class, count, &taken);
  }
  *out_ns = taken * 1e9 / ((double)count * class->repetitions * class->units);
  return error;
}

static uattn_error_t *bench_class(const class_t *class, double seconds) {
  char *text = make_kernel(class);
  uattn_emulator_t *emulator = NULL;
  double ns = 0;
  uattn_error_t *error =
      uattn_emulator_create(class->name, text, strlen(text), &emulator);
  if (!error)
    error = measure(emulator, class, seconds, &ns);
  if (!error)
    printf("%-32s %10.1f ns / %s\n", class->name, ns, class->unit);
  uattn_emulator_destroy(emulator);
  free(text);
  return error;
}

uattn_error_t *bench_emulator_instructions(double seconds) {
  uattn_error_t *error = NULL;
  for (size_t i = 0; i < sizeof classes / sizeof *classes && !error; ++i)
    error = bench_class(&classes[i], seconds);
  return error;
}
