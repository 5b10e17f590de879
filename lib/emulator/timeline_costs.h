/* What a warp's instruction costs on the timeline's clock.
 * Layer: emulator. Must not know: what instructions do, who executes them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_TIMELINE_COSTS_H
#define UATTN_EMULATOR_TIMELINE_COSTS_H

#include "emulator/ptx_syntax.h"

/* What the warps of one quarter of an SM compete for. */
typedef enum {
  EMU_UNIT_ISSUE, /* one instruction a cycle */
  EMU_UNIT_FLOAT,
  EMU_UNIT_INTEGER,
  EMU_UNIT_SPECIAL,
  EMU_UNIT_MEMORY,
  EMU_UNIT_TENSOR, /* of mma.sync; wgmma has a lane of its own */
  EMU_UNIT_COUNT
} emu_unit_t;

typedef enum {
  EMU_COST_MOVE,
  EMU_COST_FLOAT,
  EMU_COST_DOUBLE,
  EMU_COST_INTEGER,
  EMU_COST_DIVISION,
  EMU_COST_SPECIAL,
  EMU_COST_EXCHANGE,
  EMU_COST_SHARED,
  EMU_COST_GLOBAL,
  EMU_COST_MMA,
  EMU_COST_CONTROL,
  EMU_COST_COUNT
} emu_cost_class_t;

typedef struct {
  const char *name; /* in tooltips: "12 special" */
  const char *members;
  emu_unit_t unit;
  uint32_t cycles;  /* that a warp's instruction keeps its unit busy */
  uint32_t latency; /* that a stretch of work with such an instruction waits */
  const char *source;
} emu_cost_t;

/* The published table. */
extern const emu_cost_t emu_costs[EMU_COST_COUNT];

enum {
  /* Multiply-adds of wgmma a cycle: an H100 has 989 TFLOP/s of dense bf16 at
   * 132 SMs and 1830 MHz, 4096 FLOP or 2048 multiply-adds a cycle and SM. */
  EMU_PRODUCT_RATE = 2048,
  /* Bulk copies: bytes a cycle and SM, and cycles from a copy's start to its
   * first byte. Measured on one H200, cp.async.bulk from the L2 cache, from
   * the copy to the end of the wait for its mbarrier: 16 bytes take 396 cycles
   * (419 where all 132 SMs copy), 64 KB go at 103 bytes a cycle where one SM
   * copies and at 30 where all do. */
  EMU_COPY_RATE = 32,
  EMU_COPY_LATENCY = 370,
  /* From the last arrival, or from the wait's begin where that is later, to
   * the waiting warp's next instruction: an estimate, the latency of shared
   * memory. */
  EMU_HAND_OVER = 30
};

/* Of one instruction. `cycles` is the class's but for wide accesses and shapes
 * of mma.sync, `latency` but for what gives no value. */
typedef struct {
  emu_cost_class_t class;
  uint32_t cycles;
  uint32_t latency;
} emu_insn_cost_t;
emu_insn_cost_t emu_cost_of(const ptx_instruction_t *syntax);

/* Of a wgmma of 64 x n x 16, and of `bytes` on the copy engine. */
double emu_cost_product(uint32_t n);
double emu_cost_copy(uint64_t bytes);

#endif /* UATTN_EMULATOR_TIMELINE_COSTS_H */
