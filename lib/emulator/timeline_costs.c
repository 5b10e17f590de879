/* The table of costs of the timeline, for one SM of an H200.
 * Layer: emulator. Must not know: what instructions do, who executes them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * "Guide" is the CUDA C++ Programming Guide, "Throughput of Native Arithmetic
 * Instructions", column 9.0: results a cycle and SM. A quarter of an SM
 * executes a warp's 32 in 128 / results cycles. README.md shows this table; a
 * test compares the two. */
#include "emulator/timeline_costs.h"

#include <stdlib.h>
#include <string.h>

const emu_cost_t emu_costs[EMU_COST_COUNT] = {
    [EMU_COST_MOVE] = {"moves", "mov, cvta", EMU_UNIT_ISSUE, 0, 0,
                       "ptxas names registers anew: most are gone"},
    [EMU_COST_FLOAT] = {"float",
                        "add, sub, mul, fma, neg, abs of f32, f16 and "
                        "bf16, packed too",
                        EMU_UNIT_FLOAT, 1, 0, "Guide: 128 f32 results"},
    [EMU_COST_DOUBLE] = {"double", "the same of f64", EMU_UNIT_FLOAT, 2, 0,
                         "Guide: 64"},
    [EMU_COST_INTEGER] = {"integer",
                          "integer and logic, min, max, setp, selp, cvt",
                          EMU_UNIT_INTEGER, 2, 0, "Guide: 64"},
    [EMU_COST_DIVISION] = {"division", "div and rem of integers",
                           EMU_UNIT_INTEGER, 40, 0,
                           "some 20 integer instructions"},
    [EMU_COST_SPECIAL] =
        {"special", "ex2, lg2, rcp, sqrt, rsqrt, sin, cos, tanh, div of floats",
         EMU_UNIT_SPECIAL, 8, 0, "Guide: 16"},
    [EMU_COST_EXCHANGE] = {"exchange", "shfl, vote, match, redux, elect",
                           EMU_UNIT_MEMORY, 4, 0, "Guide: 32 of shfl"},
    [EMU_COST_SHARED] = {"shared",
                         "ld, st, atom, ldmatrix, stmatrix of shared memory",
                         EMU_UNIT_MEMORY, 4, 30,
                         "128 bytes a cycle and SM: 4 cycles for each 4 bytes "
                         "a lane; latency of a load: an estimate"},
    [EMU_COST_GLOBAL] = {"global", "ld, st, atom, red of any other space",
                         EMU_UNIT_MEMORY, 4, 400,
                         "as of shared memory; a copy of 16 bytes from the L2 "
                         "cache was measured to take so long"},
    [EMU_COST_MMA] = {"mma", "mma.sync of m x n x k", EMU_UNIT_TENSOR, 0, 0,
                      "m n k / 512 cycles: a quarter of the rate of wgmma"},
    [EMU_COST_CONTROL] = {"control",
                          "branches, barriers, mbarriers, fences, the issue of "
                          "copies and of wgmma",
                          EMU_UNIT_ISSUE, 1, 0, "one instruction a cycle"},
};

/* ---- Classes ---------------------------------------------------------------
 */

static bool is_one_of(const char *text, const char *const *names) {
  for (; *names; ++names)
    if (strcmp(text, *names) == 0)
      return true;
  return false;
}

static bool has_part(const ptx_instruction_t *syntax, const char *part) {
  for (uint32_t i = 1; i < syntax->part_count; ++i)
    if (strcmp(syntax->parts[i], part) == 0)
      return true;
  return false;
}

static bool is_shared(const ptx_instruction_t *syntax) {
  for (uint32_t i = 1; i < syntax->part_count; ++i)
    if (strncmp(syntax->parts[i], "shared", 6) == 0)
      return true;
  return false;
}

static ptx_type_t type_of(const ptx_instruction_t *syntax) {
  for (uint32_t i = syntax->part_count; i-- > 1;) {
    const char *part = syntax->parts[i];
    ptx_type_t type = ptx_type_parse(part, strlen(part));
    if (type != PTX_TYPE_NONE)
      return type;
  }
  return PTX_TYPE_NONE;
}

/* 4 cycles of the quarter's share of the memory pipe move 4 bytes of a lane. */
static uint32_t access_cycles(const ptx_instruction_t *syntax) {
  uint32_t bytes = (uint32_t)ptx_type_bytes(type_of(syntax));
  const char *opcode = syntax->parts[0];
  if (strcmp(opcode, "ldmatrix") == 0 || strcmp(opcode, "stmatrix") == 0)
    bytes = 4;
  if (has_part(syntax, "v2") || has_part(syntax, "x2"))
    bytes *= 2;
  if (has_part(syntax, "v4") || has_part(syntax, "x4"))
    bytes *= 4;
  return bytes < 4 ? 4 : bytes;
}

/* "m16n8k16" */
static uint32_t mma_cycles(const ptx_instruction_t *syntax) {
  for (uint32_t i = 1; i < syntax->part_count; ++i) {
    unsigned m, n, k;
    if (sscanf(syntax->parts[i], "m%un%uk%u", &m, &n, &k) == 3)
      return (m * n * k + 511) / 512;
  }
  return 1;
}

static emu_cost_class_t class_of(const ptx_instruction_t *syntax) {
  static const char *const moves[] = {"mov", "cvta", NULL};
  static const char *const floats[] = {"add", "sub", "mul",      "fma", "mad",
                                       "neg", "abs", "copysign", NULL};
  static const char *const specials[] = {"ex2", "lg2", "rcp",  "sqrt", "rsqrt",
                                         "sin", "cos", "tanh", "div",  NULL};
  static const char *const divisions[] = {"div", "rem", NULL};
  static const char *const exchanges[] = {
      "shfl", "vote", "match", "redux", "activemask", "elect", NULL};
  static const char *const accesses[] = {"ld",       "ldu",      "st",
                                         "atom",     "red",      "ldmatrix",
                                         "stmatrix", "prefetch", NULL};
  static const char *const controls[] = {
      "bra",    "brx",  "bar",  "barrier",      "mbarrier",       "fence",
      "membar", "cp",   "ret",  "exit",         "nanosleep",      "setmaxnreg",
      "wgmma",  "trap", "call", "createpolicy", "griddepcontrol", NULL};
  const char *opcode = syntax->parts[0];
  ptx_type_t type = type_of(syntax);
  if (is_one_of(opcode, moves))
    return EMU_COST_MOVE;
  if (is_one_of(opcode, controls))
    return EMU_COST_CONTROL;
  if (is_one_of(opcode, accesses))
    return is_shared(syntax) || strstr(opcode, "matrix") ? EMU_COST_SHARED
                                                         : EMU_COST_GLOBAL;
  if (strcmp(opcode, "mma") == 0)
    return EMU_COST_MMA;
  if (is_one_of(opcode, exchanges))
    return EMU_COST_EXCHANGE;
  if (is_one_of(opcode, divisions) && !ptx_type_is_float(type))
    return EMU_COST_DIVISION;
  if (is_one_of(opcode, specials))
    return EMU_COST_SPECIAL;
  if (ptx_type_is_float(type) && is_one_of(opcode, floats))
    return type == PTX_TYPE_F64 ? EMU_COST_DOUBLE : EMU_COST_FLOAT;
  return EMU_COST_INTEGER;
}

/* Nobody waits for a store. */
static bool gives_value(const ptx_instruction_t *syntax) {
  const char *opcode = syntax->parts[0];
  return strncmp(opcode, "ld", 2) == 0 || strcmp(opcode, "atom") == 0;
}

emu_insn_cost_t emu_cost_of(const ptx_instruction_t *syntax) {
  emu_insn_cost_t cost = {.class = class_of(syntax)};
  cost.cycles = emu_costs[cost.class].cycles;
  cost.latency = gives_value(syntax) ? emu_costs[cost.class].latency : 0;
  if (cost.class == EMU_COST_SHARED || cost.class == EMU_COST_GLOBAL)
    cost.cycles = access_cycles(syntax);
  else if (cost.class == EMU_COST_MMA)
    cost.cycles = mma_cycles(syntax);
  if (has_part(syntax, "param")) /* the constant cache */
    cost = (emu_insn_cost_t){.class = EMU_COST_MOVE};
  return cost;
}

/* ---- Beside the warps ------------------------------------------------------
 */

double emu_cost_product(uint32_t n) { return 64.0 * n * 16 / EMU_PRODUCT_RATE; }

double emu_cost_copy(uint64_t bytes) { return (double)bytes / EMU_COPY_RATE; }
