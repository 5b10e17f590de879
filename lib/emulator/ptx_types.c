/* The fundamental types of PTX: names, sizes, signs.
 * Layer: emulator. Must not know: syntax, how values are computed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/ptx_syntax.h"

#include <string.h>

static const struct {
  const char *name;
  ptx_type_t type;
  uint8_t bytes;
  bool is_signed;
  bool is_float;
} types[] = {
    {"pred", PTX_TYPE_PRED, 0, false, false},
    {"b8", PTX_TYPE_B8, 1, false, false},
    {"b16", PTX_TYPE_B16, 2, false, false},
    {"b32", PTX_TYPE_B32, 4, false, false},
    {"b64", PTX_TYPE_B64, 8, false, false},
    {"b128", PTX_TYPE_B128, 16, false, false},
    {"u8", PTX_TYPE_U8, 1, false, false},
    {"u16", PTX_TYPE_U16, 2, false, false},
    {"u32", PTX_TYPE_U32, 4, false, false},
    {"u64", PTX_TYPE_U64, 8, false, false},
    {"s8", PTX_TYPE_S8, 1, true, false},
    {"s16", PTX_TYPE_S16, 2, true, false},
    {"s32", PTX_TYPE_S32, 4, true, false},
    {"s64", PTX_TYPE_S64, 8, true, false},
    {"f16", PTX_TYPE_F16, 2, true, true},
    {"f16x2", PTX_TYPE_F16X2, 4, true, true},
    {"bf16", PTX_TYPE_BF16, 2, true, true},
    {"bf16x2", PTX_TYPE_BF16X2, 4, true, true},
    {"tf32", PTX_TYPE_TF32, 4, true, true},
    {"f32", PTX_TYPE_F32, 4, true, true},
    {"f64", PTX_TYPE_F64, 8, true, true},
};

enum { TYPE_COUNT = sizeof(types) / sizeof *types };

ptx_type_t ptx_type_parse(const char *text, size_t size) {
  for (size_t i = 0; i < TYPE_COUNT; ++i)
    if (strlen(types[i].name) == size && memcmp(types[i].name, text, size) == 0)
      return types[i].type;
  return PTX_TYPE_NONE;
}

size_t ptx_type_bytes(ptx_type_t type) {
  for (size_t i = 0; i < TYPE_COUNT; ++i)
    if (types[i].type == type)
      return types[i].bytes;
  return 0;
}

bool ptx_type_is_signed(ptx_type_t type) {
  for (size_t i = 0; i < TYPE_COUNT; ++i)
    if (types[i].type == type)
      return types[i].is_signed && !types[i].is_float;
  return false;
}

bool ptx_type_is_float(ptx_type_t type) {
  for (size_t i = 0; i < TYPE_COUNT; ++i)
    if (types[i].type == type)
      return types[i].is_float;
  return false;
}
