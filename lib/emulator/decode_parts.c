/* The dotted parts of an opcode: taken one by one, refused where left over.
 * Layer: emulator. Must not know: what the parts mean.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/decode.h"

uattn_error_t *emu_unsupported(const emu_decoder_t *decoder,
                               const ptx_instruction_t *syntax,
                               const char *format, ...) {
  uattn_string_t what = {0};
  va_list arguments;
  va_start(arguments, format);
  uattn_string_appendv(&what, format, arguments);
  va_end(arguments);
  uattn_error_t *error = uattn_error_create(
      UATTN_ERROR_UNSUPPORTED, "%s:%d: '%s': %s", decoder->module->name,
      syntax->line, syntax->text, uattn_string_get(&what));
  uattn_string_release(&what);
  return error;
}

emu_parts_t emu_parts(emu_decoder_t *decoder, const ptx_instruction_t *syntax) {
  return (emu_parts_t){.decoder = decoder, .syntax = syntax, .taken = 1};
}

static bool is_free(const emu_parts_t *parts, uint32_t index) {
  return index >= 64 || !(parts->taken >> index & 1);
}

bool emu_take(emu_parts_t *parts, const char *part) {
  for (uint32_t i = 1; i < parts->syntax->part_count && i < 64; ++i)
    if (is_free(parts, i) && strcmp(parts->syntax->parts[i], part) == 0) {
      parts->taken |= UINT64_C(1) << i;
      return true;
    }
  return false;
}

ptx_type_t emu_take_type(emu_parts_t *parts) {
  for (uint32_t i = 1; i < parts->syntax->part_count && i < 64; ++i) {
    const char *part = parts->syntax->parts[i];
    ptx_type_t type =
        is_free(parts, i) ? ptx_type_parse(part, strlen(part)) : PTX_TYPE_NONE;
    if (type != PTX_TYPE_NONE) {
      parts->taken |= UINT64_C(1) << i;
      return type;
    }
  }
  return PTX_TYPE_NONE;
}

int emu_take_one(emu_parts_t *parts, const char *const *names) {
  for (int i = 0; names[i]; ++i)
    if (emu_take(parts, names[i]))
      return i;
  return -1;
}

uattn_error_t *emu_parts_end(const emu_parts_t *parts) {
  for (uint32_t i = 1; i < parts->syntax->part_count; ++i)
    if (is_free(parts, i))
      return emu_unsupported(parts->decoder, parts->syntax,
                             ".%s is not supported here",
                             parts->syntax->parts[i]);
  return NULL;
}

uattn_error_t *emu_expect_operands(const emu_decoder_t *decoder,
                                   const ptx_instruction_t *syntax,
                                   uint32_t least, uint32_t most) {
  uint32_t count = syntax->operand_count;
  if (count >= least && count <= most)
    return NULL;
  if (least == most)
    return emu_unsupported(decoder, syntax, "%u operands: expected %u", count,
                           least);
  return emu_unsupported(decoder, syntax, "%u operands: expected %u to %u",
                         count, least, most);
}
