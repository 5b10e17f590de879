/* Values as text: numbers, rows of a warp, matrices.
 * Layer: emulator. Must not know: instructions, where values come from.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "emulator/half_floats.h"
#include "emulator/trace_parts.h"

/* Integers from here on are easier to read in hexadecimal. */
#define LARGE_INTEGER (INT64_C(1) << 20)
/* Decimal digits that tell all values of a float apart. */
enum { DIGITS_16 = 6, DIGITS_32 = 9, DIGITS_64 = 17 };

/* ---- Numbers ---------------------------------------------------------------
 */

static int64_t signed_value(ptx_type_t type, uint64_t bits) {
  size_t bytes = ptx_type_bytes(type);
  int shift = bytes < 8 ? (int)(64 - 8 * bytes) : 0;
  return ptx_type_is_signed(type) ? (int64_t)(bits << shift) >> shift
                                  : (int64_t)(bits << shift >> shift);
}

static void format_pair(bool is_bf16, uint32_t word, char *out_text) {
  (void)snprintf(out_text, EMU_TRACE_VALUE_CHARS, "(%.*g, %.*g)", DIGITS_16,
                 (double)emu_low_half(word, is_bf16), DIGITS_16,
                 (double)emu_high_half(word, is_bf16));
}

static void format_double(double value, int digits, char *out_text) {
  (void)snprintf(out_text, EMU_TRACE_VALUE_CHARS, "%.*g", digits, value);
}

static void format_integer(ptx_type_t type, uint64_t bits, char *out_text) {
  bool is_signed = ptx_type_is_signed(type);
  int64_t value = signed_value(type, bits);
  (void)snprintf(out_text, EMU_TRACE_VALUE_CHARS,
                 is_signed ? "%" PRId64 : "%" PRIu64, value);
}

void emu_trace_format(ptx_type_t type, uint64_t bits,
                      char out_text[EMU_TRACE_VALUE_CHARS]) {
  switch (type) {
  case PTX_TYPE_F16X2:
  case PTX_TYPE_BF16X2:
    format_pair(type == PTX_TYPE_BF16X2, (uint32_t)bits, out_text);
    break;
  case PTX_TYPE_F16:
  case PTX_TYPE_BF16:
    format_double((double)emu_low_half((uint32_t)bits, type == PTX_TYPE_BF16),
                  DIGITS_16, out_text);
    break;
  case PTX_TYPE_F32:
  case PTX_TYPE_TF32:
    format_double((double)emu_float((uint32_t)bits), DIGITS_32, out_text);
    break;
  case PTX_TYPE_F64:
    format_double(emu_double(bits), DIGITS_64, out_text);
    break;
  default:
    format_integer(type, bits, out_text);
  }
}

/* ---- Rows of a warp --------------------------------------------------------
 */

typedef struct {
  ptx_type_t type;
  uint32_t lanes;
  uint32_t first; /* of the lanes */
  uint64_t bits[EMU_LANES];
} values_t;

static values_t read_values(const emu_warp_t *warp, emu_row_t row,
                            ptx_type_t type, uint32_t lanes) {
  values_t values = {
      .type = type, .lanes = lanes, .first = (uint32_t)__builtin_ctz(lanes)};
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
    values.bits[lane] = row.kind == EMU_ROW_LONG ? emu_longs(warp, row)[lane]
                                                 : emu_words(warp, row)[lane];
  return values;
}

static bool are_same(const values_t *values) {
  EMU_FOR_LANES(lane, values->lanes) {
    if (values->bits[lane] != values->bits[values->first])
      return false;
  }
  return true;
}

static bool is_large(ptx_type_t type, uint64_t bits) {
  int64_t value = signed_value(type, bits);
  return !ptx_type_is_float(type) &&
         (value >= LARGE_INTEGER || value <= -LARGE_INTEGER);
}

static void append_hexadecimal(uattn_string_t *text, ptx_type_t type,
                               uint64_t bits) {
  size_t bytes = ptx_type_bytes(type);
  uint64_t mask = bytes < 8 ? (UINT64_C(1) << 8 * bytes) - 1 : UINT64_MAX;
  uattn_string_appendf(text, "0x%0*" PRIx64, (int)(2 * bytes), bits & mask);
}

/* One value that all lanes have. Floats and large integers have their bits
 * beside them; large bits may well be a float, or else an address. */
static void append_same(uattn_string_t *text, const values_t *values) {
  ptx_type_t type = values->type;
  uint64_t bits = values->bits[values->first];
  bool is_wide = is_large(type, bits);
  char number[EMU_TRACE_VALUE_CHARS];
  emu_trace_format(type == PTX_TYPE_B32 && is_wide ? PTX_TYPE_F32 : type, bits,
                   number);
  if (is_wide) {
    append_hexadecimal(text, type, bits);
    if (type == PTX_TYPE_B32)
      uattn_string_appendf(text, " (%s as f32)", number);
    else if (ptx_type_bytes(type) < 8)
      uattn_string_appendf(text, " (%s)", number);
  } else {
    uattn_string_append(text, number);
  }
  if (ptx_type_is_float(type)) {
    uattn_string_append(text, " (");
    append_hexadecimal(text, type, bits);
    uattn_string_append(text, ")");
  }
  uattn_string_append(text, "\n");
}

/* True where lane l has base + step * l: `*out_base` may lie below zero only
 * where the values are signed or wrap around. */
static bool find_steps(const values_t *values, int64_t *out_base,
                       int64_t *out_step) {
  enum { LEAST_LANES = 4 };
  size_t bytes = ptx_type_bytes(values->type);
  uint32_t second = values->first + 1;
  if (ptx_type_is_float(values->type) || bytes < 4 ||
      __builtin_popcount(values->lanes) < LEAST_LANES ||
      !(values->lanes >> second & 1))
    return false;
  int64_t first = signed_value(values->type, values->bits[values->first]);
  int64_t step =
      (int64_t)((uint64_t)signed_value(values->type, values->bits[second]) -
                (uint64_t)first);
  if (step > LARGE_INTEGER || step < -LARGE_INTEGER)
    return false;
  EMU_FOR_LANES(lane, values->lanes) {
    int64_t wanted =
        (int64_t)((uint64_t)first +
                  (uint64_t)(step * ((int64_t)lane - (int64_t)values->first)));
    if (signed_value(values->type, values->bits[lane]) != wanted)
      return false;
  }
  *out_step = step;
  *out_base = (int64_t)((uint64_t)first - (uint64_t)(step * values->first));
  return true;
}

/* "64 + 4 * lane" */
static void append_steps(uattn_string_t *text, ptx_type_t type, int64_t base,
                         int64_t step) {
  bool is_falling = step < 0;
  if (base != 0 || is_falling) {
    if (is_large(type, (uint64_t)base))
      append_hexadecimal(text, type, (uint64_t)base);
    else
      uattn_string_appendf(text, "%" PRId64, base);
    uattn_string_append(text, is_falling ? " - " : " + ");
  }
  if (is_falling)
    step = -step;
  if (step != 1)
    uattn_string_appendf(text, "%" PRId64 " * ", step);
  uattn_string_append(text, "lane\n");
}

static void format_lane(const values_t *values, uint32_t lane, bool is_hex,
                        char out_text[EMU_TRACE_VALUE_CHARS]) {
  if (!(values->lanes >> lane & 1)) {
    (void)snprintf(out_text, EMU_TRACE_VALUE_CHARS, "-");
  } else if (is_hex) {
    uattn_string_t text = {0};
    append_hexadecimal(&text, values->type, values->bits[lane]);
    (void)snprintf(out_text, EMU_TRACE_VALUE_CHARS, "%s",
                   uattn_string_get(&text));
    uattn_string_release(&text);
  } else {
    emu_trace_format(values->type, values->bits[lane], out_text);
  }
}

static void append_table(uattn_string_t *text, const values_t *values) {
  enum { LINE_LANES = 8 };
  char cells[EMU_LANES][EMU_TRACE_VALUE_CHARS];
  bool is_hex = false;
  int width = 0;
  EMU_FOR_LANES(lane, values->lanes) {
    is_hex |= is_large(values->type, values->bits[lane]);
  }
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane) {
    format_lane(values, lane, is_hex, cells[lane]);
    int size = (int)strlen(cells[lane]);
    width = size > width ? size : width;
  }
  uattn_string_append(text, "\n");
  for (uint32_t line = 0; line < EMU_LANES; line += LINE_LANES) {
    if (!(values->lanes >> line & ((1u << LINE_LANES) - 1)))
      continue;
    uattn_string_appendf(text, "      lane %2u:", line);
    for (uint32_t lane = line; lane < line + LINE_LANES; ++lane)
      uattn_string_appendf(text, " %*s", width, cells[lane]);
    uattn_string_append(text, "\n");
  }
}

void emu_trace_append_row(uattn_string_t *text, const char *name,
                          const emu_warp_t *warp, emu_row_t row,
                          ptx_type_t type, uint32_t lanes) {
  uattn_string_appendf(text, "%s =", name);
  if (row.kind == EMU_ROW_PREDICATE) {
    uint32_t bits = emu_predicate(warp, row) & lanes;
    if (bits == 0 || bits == lanes)
      uattn_string_append(text, bits ? " true\n" : " false\n");
    else
      uattn_string_appendf(text, " true in lanes 0x%08x\n", bits);
    return;
  }
  values_t values = read_values(warp, row, type, lanes);
  int64_t base = 0, step = 0;
  bool is_same = are_same(&values);
  if (!is_same && !find_steps(&values, &base, &step)) {
    append_table(text, &values);
    return;
  }
  uattn_string_append(text, " ");
  if (is_same)
    append_same(text, &values);
  else
    append_steps(text, type, base, step);
}

/* ---- Matrices --------------------------------------------------------------
 */

static uint64_t read_bits(const uint8_t *from, size_t bytes) {
  uint64_t bits = 0;
  memcpy(&bits, from, bytes); /* the host is little-endian, as the GPU is */
  return bits;
}

static int number_width(uint32_t number) {
  return snprintf(NULL, 0, "%u", number);
}

void emu_trace_append_matrix(uattn_string_t *text, ptx_type_t type,
                             uint32_t rows, uint32_t columns,
                             const uint8_t *data) {
  size_t bytes = ptx_type_bytes(type);
  size_t count = (size_t)rows * columns;
  char cell[EMU_TRACE_VALUE_CHARS];
  int width = number_width(columns - 1);
  int head = number_width(rows - 1) + 1; /* a '#' stands before the columns */
  for (size_t i = 0; i < count; ++i) {
    emu_trace_format(type, read_bits(data + i * bytes, bytes), cell);
    int size = (int)strlen(cell);
    width = size > width ? size : width;
  }
  uattn_string_appendf(text, "#%*s", head - 1, "");
  for (uint32_t column = 0; column < columns; ++column)
    uattn_string_appendf(text, " %*u", width, column);
  for (size_t i = 0; i < count; ++i) {
    if (i % columns == 0)
      uattn_string_appendf(text, "\n%*u", head, (uint32_t)(i / columns));
    emu_trace_format(type, read_bits(data + i * bytes, bytes), cell);
    uattn_string_appendf(text, " %*s", width, cell);
  }
  uattn_string_append(text, "\n");
}
