/* What a reducing bulk copy does to each element.
 * Layer: emulator. Must not know: instructions, addresses, tensor maps.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/bulk_reduce.h"

#include <math.h>
#include <string.h>

#include "emulator/decode.h"
#include "spec/spec.h"

const char *const emu_reduce_names[] = {"add", "min", "max", "inc", "dec",
                                        "and", "or",  "xor", NULL};

/* ---- What is valid ---------------------------------------------------------
 */

typedef struct {
  emu_reduce_t operation;
  ptx_type_t type;
  bool also_to_shared;
} pair_t;

static const pair_t pairs[] = {
    {EMU_REDUCE_ADD, PTX_TYPE_U32, true},
    {EMU_REDUCE_ADD, PTX_TYPE_S32, true},
    {EMU_REDUCE_ADD, PTX_TYPE_U64, true},
    {EMU_REDUCE_ADD, PTX_TYPE_F16, false},
    {EMU_REDUCE_ADD, PTX_TYPE_BF16, false},
    {EMU_REDUCE_ADD, PTX_TYPE_F32, false},
    {EMU_REDUCE_ADD, PTX_TYPE_F64, false},
    {EMU_REDUCE_MIN, PTX_TYPE_U32, true},
    {EMU_REDUCE_MIN, PTX_TYPE_S32, true},
    {EMU_REDUCE_MIN, PTX_TYPE_U64, false},
    {EMU_REDUCE_MIN, PTX_TYPE_S64, false},
    {EMU_REDUCE_MIN, PTX_TYPE_F16, false},
    {EMU_REDUCE_MIN, PTX_TYPE_BF16, false},
    {EMU_REDUCE_MAX, PTX_TYPE_U32, true},
    {EMU_REDUCE_MAX, PTX_TYPE_S32, true},
    {EMU_REDUCE_MAX, PTX_TYPE_U64, false},
    {EMU_REDUCE_MAX, PTX_TYPE_S64, false},
    {EMU_REDUCE_MAX, PTX_TYPE_F16, false},
    {EMU_REDUCE_MAX, PTX_TYPE_BF16, false},
    {EMU_REDUCE_INC, PTX_TYPE_U32, true},
    {EMU_REDUCE_DEC, PTX_TYPE_U32, true},
    {EMU_REDUCE_AND, PTX_TYPE_B32, true},
    {EMU_REDUCE_AND, PTX_TYPE_B64, false},
    {EMU_REDUCE_OR, PTX_TYPE_B32, true},
    {EMU_REDUCE_OR, PTX_TYPE_B64, false},
    {EMU_REDUCE_XOR, PTX_TYPE_B32, true},
    {EMU_REDUCE_XOR, PTX_TYPE_B64, false},
};

bool emu_reduce_is_valid(emu_reduce_t operation, ptx_type_t type,
                         bool is_to_global) {
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i)
    if (pairs[i].operation == operation && pairs[i].type == type)
      return is_to_global || pairs[i].also_to_shared;
  return false;
}

/* ---- One element -----------------------------------------------------------
 */

static uint64_t reduce_u64(emu_reduce_t operation, uint64_t a, uint64_t b) {
  switch (operation) {
  case EMU_REDUCE_ADD:
    return a + b;
  case EMU_REDUCE_MIN:
    return a < b ? a : b;
  case EMU_REDUCE_MAX:
    return a > b ? a : b;
  case EMU_REDUCE_INC:
    return a >= b ? 0 : a + 1;
  case EMU_REDUCE_DEC:
    return a == 0 || a > b ? b : a - 1;
  case EMU_REDUCE_AND:
    return a & b;
  case EMU_REDUCE_OR:
    return a | b;
  case EMU_REDUCE_XOR:
    return a ^ b;
  default:
    return b;
  }
}

static int64_t reduce_s64(emu_reduce_t operation, int64_t a, int64_t b) {
  if (operation == EMU_REDUCE_MIN)
    return a < b ? a : b;
  if (operation == EMU_REDUCE_MAX)
    return a > b ? a : b;
  return (int64_t)reduce_u64(operation, (uint64_t)a, (uint64_t)b);
}

/* A NaN loses against a number in min and max; a NaN that results is always
 * the same one, as on an H200. */
static float reduce_half(emu_reduce_t operation, float a, float b) {
  bool takes_b = operation == EMU_REDUCE_MIN ? b < a : b > a;
  if (operation == EMU_REDUCE_ADD)
    return a + b;
  return isnan(a) || takes_b ? b : a;
}

static uint16_t f16_from_float(float value) {
  return isnan(value) ? 0x7FFF : uattn_f16_from_float(value);
}

static uint16_t bf16_from_float(float value) {
  return isnan(value) ? 0x7FFF : uattn_bf16_from_float(value);
}

static float canonical(float value) {
  return isnan(value) ? emu_float(0x7FFFFFFF) : value;
}

/* Functions over elements of one type: `from` and `to` convert to what
 * `reduce` takes. */
#define DEFINE_LOOP(name, stored_t, computed_t, from, to, reduce)              \
  static void name(emu_reduce_t operation, uint8_t *target,                    \
                   const uint8_t *source, size_t bytes) {                      \
    for (size_t at = 0; at + sizeof(stored_t) <= bytes;                        \
         at += sizeof(stored_t)) {                                             \
      stored_t a, b;                                                           \
      memcpy(&a, target + at, sizeof a);                                       \
      memcpy(&b, source + at, sizeof b);                                       \
      computed_t result = reduce(operation, from(a), from(b));                 \
      a = (stored_t)to(result);                                                \
      memcpy(target + at, &a, sizeof a);                                       \
    }                                                                          \
  }
#define SAME(value) (value)
#define ADD(operation, a, b) ((void)(operation), (a) + (b))

DEFINE_LOOP(loop_u32, uint32_t, uint64_t, SAME, SAME, reduce_u64)
DEFINE_LOOP(loop_s32, int32_t, int64_t, SAME, SAME, reduce_s64)
DEFINE_LOOP(loop_u64, uint64_t, uint64_t, SAME, SAME, reduce_u64)
DEFINE_LOOP(loop_s64, int64_t, int64_t, SAME, SAME, reduce_s64)
DEFINE_LOOP(loop_f32, float, float, SAME, canonical, ADD)
DEFINE_LOOP(loop_f64, double, double, SAME, SAME, ADD)
DEFINE_LOOP(loop_f16, uint16_t, float, uattn_f16_to_float, f16_from_float,
            reduce_half)
DEFINE_LOOP(loop_bf16, uint16_t, float, uattn_bf16_to_float, bf16_from_float,
            reduce_half)

void emu_reduce(emu_reduce_t operation, ptx_type_t type, uint8_t *target,
                const uint8_t *source, size_t bytes) {
  switch (type) {
  case PTX_TYPE_B32:
  case PTX_TYPE_U32:
    loop_u32(operation, target, source, bytes);
    break;
  case PTX_TYPE_S32:
    loop_s32(operation, target, source, bytes);
    break;
  case PTX_TYPE_B64:
  case PTX_TYPE_U64:
    loop_u64(operation, target, source, bytes);
    break;
  case PTX_TYPE_S64:
    loop_s64(operation, target, source, bytes);
    break;
  case PTX_TYPE_F16:
    loop_f16(operation, target, source, bytes);
    break;
  case PTX_TYPE_BF16:
    loop_bf16(operation, target, source, bytes);
    break;
  case PTX_TYPE_F32:
    loop_f32(operation, target, source, bytes);
    break;
  case PTX_TYPE_F64:
    loop_f64(operation, target, source, bytes);
    break;
  default:
    UATTN_CHECK(!"a type that reduces");
  }
}
