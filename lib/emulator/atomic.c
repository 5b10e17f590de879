/* Executes atomic operations, lane after lane.
 * Layer: emulator. Must not know: how instructions are decoded.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/atomic.h"

#include "emulator/float_format.h"
#include "spec/spec.h"

/* ---- Floats ----------------------------------------------------------------
 */

static uint32_t flush_if(uint32_t bits, bool flushes) {
  return flushes ? emu_flush_f32(bits) : bits;
}

static uint32_t add_f32(uint32_t a, uint32_t b, bool flushes) {
  float sum = emu_float(flush_if(a, flushes)) + emu_float(flush_if(b, flushes));
  uint32_t bits = flush_if(emu_float_bits(sum), flushes);
  return emu_is_nan_f32(bits) ? EMU_NAN_F32 : bits;
}

static double widen(uint32_t bits, bool is_bf16) {
  return is_bf16 ? uattn_bf16_to_float((uint16_t)bits)
                 : uattn_f16_to_float((uint16_t)bits);
}

static uint32_t combine_half(emu_atomic_operation_t operation, uint32_t a,
                             uint32_t b, bool is_bf16) {
  double x = widen(a, is_bf16);
  double y = widen(b, is_bf16);
  double result = operation == EMU_ATOMIC_ADD   ? emu_sum_to_odd(x, y)
                  : operation == EMU_ATOMIC_MIN ? fmin(x, y)
                                                : fmax(x, y);
  return emu_format_round(result, is_bf16 ? &emu_format_bf16 : &emu_format_f16,
                          EMU_ROUND_NEAREST);
}

static uint64_t combine_halves(const emu_atomic_t *atomic, uint32_t a,
                               uint32_t b) {
  bool is_bf16 =
      atomic->type == PTX_TYPE_BF16 || atomic->type == PTX_TYPE_BF16X2;
  uint32_t low =
      combine_half(atomic->operation, a & 0xFFFF, b & 0xFFFF, is_bf16);
  if (ptx_type_bytes(atomic->type) == 2)
    return low;
  return low | combine_half(atomic->operation, a >> 16, b >> 16, is_bf16) << 16;
}

static uint64_t add(const emu_atomic_t *atomic, uint64_t a, uint64_t b,
                    bool flushes) {
  switch (atomic->type) {
  case PTX_TYPE_F32:
    return add_f32((uint32_t)a, (uint32_t)b, flushes);
  case PTX_TYPE_F64:
    return emu_double_bits(emu_double(a) + emu_double(b));
  default:
    return a + b;
  }
}

/* ---- Operations ------------------------------------------------------------
 */

static bool is_less(ptx_type_t type, uint64_t a, uint64_t b) {
  if (type == PTX_TYPE_S32)
    return (int32_t)(uint32_t)a < (int32_t)(uint32_t)b;
  return type == PTX_TYPE_S64 ? (int64_t)a < (int64_t)b : a < b;
}

static uint64_t combine(const emu_atomic_t *atomic, uint64_t old,
                        uint64_t value, uint64_t replacement, bool flushes) {
  if (ptx_type_is_float(atomic->type) && ptx_type_bytes(atomic->type) <= 4 &&
      atomic->type != PTX_TYPE_F32)
    return combine_halves(atomic, (uint32_t)old, (uint32_t)value);
  switch (atomic->operation) {
  case EMU_ATOMIC_ADD:
    return add(atomic, old, value, flushes);
  case EMU_ATOMIC_MIN:
    return is_less(atomic->type, value, old) ? value : old;
  case EMU_ATOMIC_MAX:
    return is_less(atomic->type, old, value) ? value : old;
  case EMU_ATOMIC_AND:
    return old & value;
  case EMU_ATOMIC_OR:
    return old | value;
  case EMU_ATOMIC_XOR:
    return old ^ value;
  case EMU_ATOMIC_EXCHANGE:
    return value;
  case EMU_ATOMIC_COMPARE:
    return old == value ? replacement : old;
  case EMU_ATOMIC_INCREMENT:
    return old >= value ? 0 : old + 1;
  case EMU_ATOMIC_DECREMENT:
    return old == 0 || old > value ? value : old - 1;
  }
  return old;
}

static uint64_t read_row(const emu_warp_t *warp, emu_row_t row, uint32_t lane) {
  return row.kind == EMU_ROW_LONG ? emu_longs(warp, row)[lane]
                                  : emu_words(warp, row)[lane];
}

static void write_row(emu_warp_t *warp, emu_row_t row, uint32_t lane,
                      uint64_t value) {
  if (row.kind == EMU_ROW_LONG)
    emu_target_long(warp, row)[lane] = value;
  else if (row.kind == EMU_ROW_WORD)
    emu_target_word(warp, row)[lane] = (uint32_t)value;
}

/* One element of one lane; true where memory has changed. The host is little
 * endian, as the GPU. */
static bool execute_element(emu_warp_t *warp, const emu_atomic_t *atomic,
                            uint32_t index, uint32_t lane, uint8_t *memory,
                            bool flushes) {
  size_t bytes = ptx_type_bytes(atomic->type);
  uint64_t old = 0;
  memcpy(&old, memory, bytes);
  uint64_t replacement = atomic->operation == EMU_ATOMIC_COMPARE
                             ? read_row(warp, atomic->replacement, lane)
                             : 0;
  uint64_t value =
      combine(atomic, old, read_row(warp, atomic->values[index], lane),
              replacement, flushes);
  bool has_changed = memcmp(memory, &value, bytes) != 0;
  memcpy(memory, &value, bytes);
  if (atomic->has_result)
    write_row(warp, atomic->results[index], lane, old);
  return has_changed;
}

/* Sums of f32 in global memory flush subnormal numbers, those in shared memory
 * keep them. */
static bool flushes_at(const emu_atomic_t *atomic, uint64_t address) {
  return atomic->space == PTX_SPACE_GLOBAL ||
         (atomic->space == PTX_SPACE_GENERIC &&
          address - EMU_SHARED_WINDOW >= EMU_WINDOW_BYTES);
}

emu_outcome_t emu_execute_atomic(emu_warp_t *warp, const emu_insn_t *insn,
                                 uint32_t lanes) {
  const emu_atomic_t *atomic = insn->detail;
  size_t bytes = ptx_type_bytes(atomic->type);
  size_t all_bytes = bytes * atomic->element_count;
  uint64_t addresses[EMU_LANES];
  bool has_changed = false;
  emu_addresses(warp, atomic->base, atomic->offset, addresses);
  EMU_FOR_LANES(lane, lanes) {
    uint8_t *memory = emu_memory(warp, insn, lane, atomic->space,
                                 addresses[lane], all_bytes, all_bytes, true);
    if (!memory)
      return EMU_FAULT;
    bool flushes = flushes_at(atomic, addresses[lane]);
    for (uint32_t i = 0; i < atomic->element_count; ++i)
      has_changed |=
          execute_element(warp, atomic, i, lane, memory + i * bytes, flushes);
  }
  if (has_changed)
    *warp->cta->progress = (emu_progress_t){0};
  else
    ++warp->cta->progress->idle_polls;
  return EMU_NEXT;
}
