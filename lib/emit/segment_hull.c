/* The search for keys of the rows' segments, by all threads of a CTA.
 * Layer: emit. Must not know: plans, the dialect's ops, passes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit/thread_builder.h"

/* The words of shared memory that the threads reduce into. */
enum { WORD_LEAST, WORD_LARGEST, WORD_FIRST, WORD_AFTER, WORD_COUNT, WORDS };

static MlirValue word_address(const uattn_builder_t *b, MlirValue scratch,
                              int word) {
  return uattn_binary(b, "arith.addi", scratch,
                      uattn_constant_i32(b, 4 * word));
}

static void reduce(const uattn_builder_t *b, const char *kind,
                   MlirValue scratch, int word, MlirValue value) {
  const MlirType no_result = {NULL};
  MlirValue operands[2] = {word_address(b, scratch, word), value};
  uattn_string_t text = {0};
  uattn_string_appendf(&text, "red.shared.%s [$0], $1;", kind);
  uattn_inline_ptx(b, uattn_string_get(&text), "r,r", operands, 2, no_result);
  uattn_string_release(&text);
}

static MlirValue read_word(const uattn_builder_t *b, MlirValue scratch,
                           int word) {
  MlirValue address = word_address(b, scratch, word);
  return mlirOperationGetResult(uattn_inline_ptx(b, "ld.shared.b32 $0, [$1];",
                                                 "=r,r", &address, 1,
                                                 uattn_type_i32(b)),
                                0);
}

/* Thread 0 sets the words to what leaves a reduction as it is. */
static void initialise(const uattn_builder_t *b, MlirValue thread,
                       MlirValue scratch) {
  static const int32_t initial[WORDS] = {INT32_MAX, INT32_MIN, INT32_MAX, 0, 0};
  const MlirType no_result = {NULL};
  uattn_builder_t then;
  MlirRegion region = uattn_region_create(b, NULL, 0, &then);
  for (int word = 0; word < WORDS; ++word) {
    MlirValue operands[2] = {word_address(&then, scratch, word),
                             uattn_constant_i32(&then, initial[word])};
    uattn_inline_ptx(&then, "st.shared.b32 [$0], $1;", "r,r", operands, 2,
                     no_result);
  }
  uattn_yield(&then, NULL, 0);
  uattn_if_append(
      b, uattn_compare_i(b, UATTN_CMPI_EQ, thread, uattn_constant_i32(b, 0)),
      region);
  uattn_emit_cta_barrier(b);
}

/* Least and largest id of the rows. */
static void search_rows(const uattn_builder_t *b, MlirValue thread,
                        MlirValue scratch, const uattn_segment_scan_t *scan) {
  MlirValue after =
      uattn_binary(b, "arith.minsi", scan->q_tokens,
                   uattn_binary(b, "arith.addi", scan->first_row,
                                uattn_constant_i32(b, (int32_t)scan->rows)));
  MlirType index_type = uattn_type_i32(b);
  uattn_builder_t body;
  MlirRegion region = uattn_region_create(b, &index_type, 1, &body);
  MlirValue id = uattn_emit_global_load(&body, scan->q_ids, scan->q_offset,
                                        mlirBlockGetArgument(body.block, 0),
                                        uattn_type_i32(b));
  reduce(&body, "min.s32", scratch, WORD_LEAST, id);
  reduce(&body, "max.s32", scratch, WORD_LARGEST, id);
  uattn_yield(&body, NULL, 0);
  uattn_for_append(b, uattn_binary(b, "arith.addi", scan->first_row, thread),
                   after, uattn_constant_i32(b, (int32_t)scan->threads), NULL,
                   0, region);
  uattn_emit_cta_barrier(b);
}

/* First, last and number of the thread's keys between the two ids. */
static void search_keys(const uattn_builder_t *b, MlirValue thread,
                        MlirValue scratch, MlirValue least, MlirValue largest,
                        const uattn_segment_scan_t *scan) {
  MlirType i32 = uattn_type_i32(b);
  MlirType types[4] = {i32, i32, i32, i32};
  MlirValue initial[3] = {uattn_constant_i32(b, INT32_MAX),
                          uattn_constant_i32(b, 0), uattn_constant_i32(b, 0)};
  uattn_builder_t body;
  MlirRegion region = uattn_region_create(b, types, 4, &body);
  MlirValue key = mlirBlockGetArgument(body.block, 0);
  MlirValue first = mlirBlockGetArgument(body.block, 1);
  MlirValue after = mlirBlockGetArgument(body.block, 2);
  MlirValue count = mlirBlockGetArgument(body.block, 3);
  MlirValue id =
      uattn_emit_global_load(&body, scan->kv_ids, scan->kv_offset, key, i32);
  MlirValue is_inside = uattn_binary(
      &body, "arith.andi", uattn_compare_i(&body, UATTN_CMPI_SLE, least, id),
      uattn_compare_i(&body, UATTN_CMPI_SLE, id, largest));
  MlirValue one = uattn_constant_i32(&body, 1);
  MlirValue next[3] = {
      uattn_select(&body, is_inside,
                   uattn_binary(&body, "arith.minsi", first, key), first),
      uattn_select(&body, is_inside,
                   uattn_binary(&body, "arith.addi", key, one), after),
      uattn_select(&body, is_inside,
                   uattn_binary(&body, "arith.addi", count, one), count)};
  uattn_yield(&body, next, 3);
  MlirOperation loop = uattn_for_append(
      b, uattn_binary(b, "arith.addi", scan->begin, thread), scan->end,
      uattn_constant_i32(b, (int32_t)scan->threads), initial, 3, region);
  reduce(b, "min.s32", scratch, WORD_FIRST, mlirOperationGetResult(loop, 0));
  reduce(b, "max.s32", scratch, WORD_AFTER, mlirOperationGetResult(loop, 1));
  reduce(b, "add.s32", scratch, WORD_COUNT, mlirOperationGetResult(loop, 2));
  uattn_emit_cta_barrier(b);
}

void uattn_emit_segment_search(const uattn_builder_t *b, MlirValue thread,
                               const uattn_segment_scan_t *scan,
                               MlirValue *out_first, MlirValue *out_after,
                               MlirValue *out_is_uniform) {
  MlirValue scratch = scan->scratch;
  initialise(b, thread, scratch);
  search_rows(b, thread, scratch, scan);
  MlirValue least = read_word(b, scratch, WORD_LEAST);
  MlirValue largest = read_word(b, scratch, WORD_LARGEST);
  search_keys(b, thread, scratch, least, largest, scan);
  *out_first = read_word(b, scratch, WORD_FIRST);
  *out_after = read_word(b, scratch, WORD_AFTER);
  MlirValue enclosed = uattn_binary(b, "arith.subi", *out_after, *out_first);
  *out_is_uniform = uattn_binary(
      b, "arith.andi", uattn_compare_i(b, UATTN_CMPI_EQ, least, largest),
      uattn_compare_i(b, UATTN_CMPI_EQ, enclosed,
                      read_word(b, scratch, WORD_COUNT)));
}
