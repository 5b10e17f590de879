/* Warpgroup products: descriptors, the instruction, waiting.
 * Layer: emit. Must not know: plans, the dialect's ops, passes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <mlir-c/Dialect/LLVM.h>
#include <stdlib.h>

#include "emit/thread_builder.h"

/* Elements that one instruction multiplies along k, and how far one such step
 * moves in a K-major and in an MN-major tile. */
enum {
  K_STEP = 16,
  K_STEPS_PER_PANEL = UATTN_PANEL_COLUMNS / K_STEP,
  K_MAJOR_STEP_BYTES = K_STEP * 2,
  MN_MAJOR_STEP_BYTES = K_STEP * UATTN_PANEL_ROW_BYTES,
  SWIZZLE_ATOM_BYTES = 8 * UATTN_PANEL_ROW_BYTES
};

/* Matrix descriptor (PTX ISA, "Shared Memory Matrix Layout"): address >> 4 in
 * bits 0-13, leading offset >> 4 in 16-29, stride offset >> 4 in 32-45,
 * swizzle mode in 62-63 (1: 128 bytes). */
static MlirValue descriptor(const uattn_builder_t *b, MlirValue address,
                            int64_t leading_bytes) {
  int64_t fields = (leading_bytes >> 4) << 16 |
                   (int64_t)(SWIZZLE_ATOM_BYTES >> 4) << 32 | (int64_t)1 << 62;
  MlirValue low = uattn_binary(
      b, "arith.shrui",
      uattn_binary(b, "arith.andi", address, uattn_constant_i32(b, 0x3FFFF)),
      uattn_constant_i32(b, 4));
  return uattn_binary(b, "arith.ori",
                      uattn_cast(b, "arith.extui", low, uattn_type_i64(b)),
                      uattn_constant_i64(b, fields));
}

/* K-major tiles ignore the leading offset. */
static MlirValue k_major(const uattn_builder_t *b, uattn_smem_tile_t tile) {
  return descriptor(b, tile.address, 16);
}

static MlirValue mn_major(const uattn_builder_t *b, uattn_smem_tile_t tile) {
  return descriptor(b, tile.address, tile.panel_bytes);
}

/* Descriptor units (16 bytes) from the tile's start to k step `step`. */
static long long k_step_units(uattn_smem_tile_t tile, bool is_k_major,
                              int64_t step) {
  int64_t bytes = step * MN_MAJOR_STEP_BYTES;
  if (is_k_major)
    bytes = step / K_STEPS_PER_PANEL * tile.panel_bytes +
            step % K_STEPS_PER_PANEL * K_MAJOR_STEP_BYTES;
  return bytes >> 4;
}

/* Operand numbers of the inline PTX: results, tied accumulators, A, B. */
typedef struct {
  int64_t accumulators;
  int64_t first_a;
  int64_t b;
} numbering_t;

static void append_step(uattn_string_t *text, const uattn_wgmma_t *wgmma,
                        numbering_t numbers, int64_t step) {
  const char *type = uattn_dtype_name(wgmma->dtype);
  bool a_is_smem = mlirValueIsNull(wgmma->a_fragment);
  if (a_is_smem)
    uattn_string_appendf(text, "add.s64 da, $%lld, %lld;\n",
                         (long long)numbers.first_a,
                         k_step_units(wgmma->a_tile, true, step));
  uattn_string_appendf(
      text, "add.s64 db, $%lld, %lld;\n", (long long)numbers.b,
      k_step_units(wgmma->b_tile, wgmma->b_is_transposed, step));
  uattn_string_appendf(text,
                       "wgmma.mma_async.sync.aligned.m64n%lldk16.f32.%s.%s\n{",
                       (long long)wgmma->n, type, type);
  for (int64_t i = 0; i < numbers.accumulators; ++i)
    uattn_string_appendf(text, "%s$%lld", i ? ", " : "", (long long)i);
  uattn_string_append(text, "},\n");
  if (a_is_smem) {
    uattn_string_append(text, "da, ");
  } else {
    long long a = numbers.first_a + 4 * step;
    uattn_string_appendf(text, "{$%lld, $%lld, $%lld, $%lld}, ", a, a + 1,
                         a + 2, a + 3);
  }
  bool starts_at_zero = step == 0 && mlirValueIsNull(wgmma->accumulator);
  uattn_string_appendf(text, "db, %s, %d, 1, %s%d;\n",
                       starts_at_zero ? "zero" : "one",
                       wgmma->negates_a ? -1 : 1, a_is_smem ? "0, " : "",
                       wgmma->b_is_transposed ? 0 : 1);
}

static void append_group(uattn_string_t *text, const uattn_wgmma_t *wgmma,
                         numbering_t numbers) {
  uattn_string_append(text,
                      "{\n.reg .pred zero, one;\n.reg .b32 none;\n"
                      ".reg .b64 da, db;\nmov.b32 none, 0;\n"
                      "setp.ne.b32 zero, none, 0;\nsetp.eq.b32 one, none, 0;\n"
                      "wgmma.fence.sync.aligned;\n");
  for (int64_t step = 0; step < wgmma->k / K_STEP; ++step)
    append_step(text, wgmma, numbers, step);
  uattn_string_append(text, "wgmma.commit_group.sync.aligned;\n}");
}

static void append_results(uattn_string_t *constraints, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    uattn_string_appendf(constraints, "%s=f", i ? "," : "");
}

static void append_tied(uattn_string_t *constraints, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    uattn_string_appendf(constraints, ",%lld", (long long)i);
}

/* A struct of `count` f32, as an inline_asm with several results returns. */
static MlirType f32_struct(const uattn_builder_t *b, int64_t count) {
  MlirType *types = uattn_allocate((size_t)count * sizeof *types);
  for (int64_t i = 0; i < count; ++i)
    types[i] = uattn_type_f32(b);
  MlirType result =
      mlirLLVMStructTypeLiteralGet(b->context, count, types, false);
  free(types);
  return result;
}

/* Fields [first, first + count) of a struct of f32 as a vector. */
static MlirValue struct_to_vector(const uattn_builder_t *b, MlirValue fields,
                                  int64_t first, int64_t count) {
  MlirValue *elements = uattn_allocate((size_t)count * sizeof *elements);
  for (int64_t i = 0; i < count; ++i)
    elements[i] = uattn_extract_value(b, fields, first + i, uattn_type_f32(b));
  MlirValue vector = uattn_vector_from_elements(b, elements, (int)count);
  free(elements);
  return vector;
}

/* Operands, constraints and numbers of A and B behind the accumulators. */
static int64_t add_inputs(const uattn_builder_t *b, const uattn_wgmma_t *wgmma,
                          MlirValue *operands, int64_t count,
                          uattn_string_t *constraints) {
  if (mlirValueIsNull(wgmma->a_fragment)) {
    operands[count++] = k_major(b, wgmma->a_tile);
    uattn_string_append(constraints, ",l");
  } else {
    uattn_vector_elements(b, wgmma->a_fragment, operands + count);
    count += wgmma->k / 4;
    for (int64_t i = 0; i < wgmma->k / 4; ++i)
      uattn_string_append(constraints, ",r");
  }
  operands[count++] = wgmma->b_is_transposed ? k_major(b, wgmma->b_tile)
                                             : mn_major(b, wgmma->b_tile);
  uattn_string_append(constraints, ",l");
  return count;
}

MlirValue uattn_emit_wgmma_group(const uattn_builder_t *b,
                                 const uattn_wgmma_t *wgmma) {
  int64_t accumulators = wgmma->n / 2;
  MlirValue *operands = uattn_allocate(
      (size_t)(accumulators + wgmma->k / 4 + 2) * sizeof *operands);
  uattn_string_t constraints = {0}, text = {0};
  numbering_t numbers = {.accumulators = accumulators};
  int64_t count = 0;
  append_results(&constraints, accumulators);
  if (!mlirValueIsNull(wgmma->accumulator)) {
    uattn_vector_elements(b, wgmma->accumulator, operands);
    append_tied(&constraints, accumulators);
    count = accumulators;
  }
  numbers.first_a = accumulators + count;
  count = add_inputs(b, wgmma, operands, count, &constraints);
  numbers.b = accumulators + count - 1;
  append_group(&text, wgmma, numbers);
  MlirOperation made = uattn_inline_ptx(
      b, uattn_string_get(&text), uattn_string_get(&constraints), operands,
      (int)count, f32_struct(b, accumulators));
  uattn_string_release(&text);
  uattn_string_release(&constraints);
  free(operands);
  return struct_to_vector(b, mlirOperationGetResult(made, 0), 0, accumulators);
}

/* Tying the values to the wait keeps LLVM from moving their uses above it: it
 * knows nothing of products in flight. */
void uattn_emit_wgmma_wait_group(const uattn_builder_t *b, int64_t pending,
                                 MlirValue *io_values, int value_count) {
  int64_t total = 0, done = 0;
  for (int i = 0; i < value_count; ++i)
    total += uattn_type_dim(mlirValueGetType(io_values[i]), 0);
  MlirValue *operands = uattn_allocate((size_t)total * sizeof *operands);
  uattn_string_t constraints = {0}, text = {0};
  append_results(&constraints, total);
  append_tied(&constraints, total);
  uattn_string_appendf(&text, "wgmma.wait_group.sync.aligned %lld;",
                       (long long)pending);
  for (int i = 0; i < value_count; ++i) {
    uattn_vector_elements(b, io_values[i], operands + done);
    done += uattn_type_dim(mlirValueGetType(io_values[i]), 0);
  }
  MlirOperation made = uattn_inline_ptx(
      b, uattn_string_get(&text), uattn_string_get(&constraints), operands,
      (int)total, f32_struct(b, total));
  done = 0;
  for (int i = 0; i < value_count; ++i) {
    int64_t count = uattn_type_dim(mlirValueGetType(io_values[i]), 0);
    io_values[i] =
        struct_to_vector(b, mlirOperationGetResult(made, 0), done, count);
    done += count;
  }
  uattn_string_release(&text);
  uattn_string_release(&constraints);
  free(operands);
}
