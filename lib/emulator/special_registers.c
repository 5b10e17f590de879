/* Special registers: %tid, %ctaid, %laneid, %clock and the like.
 * Layer: emulator. Must not know: instructions.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "emulator/decode.h"
#include "emulator/decode_program.h"
#include "emulator/run_launch.h"

/* An H200; its clock ticks faster than its timer by about this. */
enum { SM_COUNT = 132, NANOSECONDS_A_CLOCK = 1 };

typedef enum {
  TID,
  NTID,
  CTAID,
  NCTAID,
  LANEID,
  WARPID,
  NWARPID,
  CLUSTER_CTAID,
  CLUSTER_RANK,
  CLUSTER_NCTA,
  ONE,
  MASK_EQ,
  MASK_LE,
  MASK_LT,
  MASK_GE,
  MASK_GT,
  DYNAMIC_SMEM,
  TOTAL_SMEM,
  SMID,
  NSMID,
  GRIDID,
  CLOCK,
  CLOCK_HIGH,
  TIMER
} meaning_t;

typedef struct {
  const char *name;
  ptx_type_t type;
  meaning_t meaning;
  int axis;
} special_t;

#define AXES(name, meaning)                                                    \
  {name ".x", PTX_TYPE_U32, meaning, 0},                                       \
      {name ".y", PTX_TYPE_U32, meaning, 1}, {                                 \
    name ".z", PTX_TYPE_U32, meaning, 2                                        \
  }

/* Clusters are of one CTA. */
static const special_t specials[] = {
    AXES("%tid", TID),
    AXES("%ntid", NTID),
    AXES("%ctaid", CTAID),
    AXES("%nctaid", NCTAID),
    AXES("%clusterid", CTAID),
    AXES("%nclusterid", NCTAID),
    AXES("%cluster_ctaid", CLUSTER_CTAID),
    AXES("%cluster_nctaid", ONE),
    {"%laneid", PTX_TYPE_U32, LANEID, 0},
    {"%warpid", PTX_TYPE_U32, WARPID, 0},
    {"%nwarpid", PTX_TYPE_U32, NWARPID, 0},
    {"%cluster_ctarank", PTX_TYPE_U32, CLUSTER_RANK, 0},
    {"%cluster_nctarank", PTX_TYPE_U32, CLUSTER_NCTA, 0},
    {"%lanemask_eq", PTX_TYPE_U32, MASK_EQ, 0},
    {"%lanemask_le", PTX_TYPE_U32, MASK_LE, 0},
    {"%lanemask_lt", PTX_TYPE_U32, MASK_LT, 0},
    {"%lanemask_ge", PTX_TYPE_U32, MASK_GE, 0},
    {"%lanemask_gt", PTX_TYPE_U32, MASK_GT, 0},
    {"%dynamic_smem_size", PTX_TYPE_U32, DYNAMIC_SMEM, 0},
    {"%total_smem_size", PTX_TYPE_U32, TOTAL_SMEM, 0},
    {"%smid", PTX_TYPE_U32, SMID, 0},
    {"%nsmid", PTX_TYPE_U32, NSMID, 0},
    {"%gridid", PTX_TYPE_U64, GRIDID, 0},
    {"%clock", PTX_TYPE_U32, CLOCK, 0},
    {"%clock_hi", PTX_TYPE_U32, CLOCK_HIGH, 0},
    {"%clock64", PTX_TYPE_U64, CLOCK, 0},
    {"%globaltimer", PTX_TYPE_U64, TIMER, 0},
    {"%globaltimer_lo", PTX_TYPE_U32, TIMER, 0},
};
enum { SPECIAL_COUNT = (int)(sizeof specials / sizeof *specials) };

int emu_special_find(const char *name) {
  for (int i = 0; i < SPECIAL_COUNT; ++i)
    if (strcmp(specials[i].name, name) == 0)
      return i;
  return -1;
}

ptx_type_t emu_special_type(int special) { return specials[special].type; }

bool emu_special_is_dynamic(int special) {
  return specials[special].meaning >= CLOCK;
}

emu_row_t emu_special_row(emu_decoder_t *decoder, int special) {
  emu_program_t *program = decoder->program;
  for (uint32_t i = 0; i < program->special_count; ++i)
    if (program->specials[i].special == (uint32_t)special)
      return program->specials[i].row;
  if (!program->specials)
    program->specials = uattn_arena_allocate(
        decoder->arena, SPECIAL_COUNT * sizeof *program->specials);
  emu_row_t row = emu_new_row(decoder, emu_row_kind(specials[special].type));
  program->specials[program->special_count++] =
      (emu_special_t){.special = (uint32_t)special, .row = row};
  return row;
}

static uint32_t thread_index(const emu_warp_t *warp, uint32_t lane, int axis) {
  const uint32_t *block = warp->cta->launch->block;
  uint32_t linear = warp->index * EMU_LANES + lane;
  if (axis == 0)
    return linear % block[0];
  linear /= block[0];
  return axis == 1 ? linear % block[1] : linear / block[1];
}

static uint32_t value_of(const emu_warp_t *warp, const special_t *special,
                         uint32_t lane) {
  const emu_cta_t *cta = warp->cta;
  const emu_launch_t *launch = cta->launch;
  switch (special->meaning) {
  case TID:
    return thread_index(warp, lane, special->axis);
  case NTID:
    return launch->block[special->axis];
  case CTAID:
    return cta->index[special->axis];
  case NCTAID:
    return launch->grid[special->axis];
  case LANEID:
    return lane;
  case WARPID:
    return warp->index;
  case NWARPID:
    return cta->warp_count;
  case ONE:
  case CLUSTER_NCTA:
    return 1;
  case MASK_EQ:
    return 1u << lane;
  case MASK_LE:
    return (2u << lane) - 1;
  case MASK_LT:
    return (1u << lane) - 1;
  case MASK_GE:
    return ~((1u << lane) - 1);
  case MASK_GT:
    return ~((2u << lane) - 1);
  case DYNAMIC_SMEM:
    return (uint32_t)(cta->shared_bytes - launch->program->static_shared_bytes);
  case TOTAL_SMEM:
    return (uint32_t)cta->shared_bytes;
  case SMID:
    return (uint32_t)(cta->linear_index % SM_COUNT);
  case NSMID:
    return SM_COUNT;
  default: /* CLUSTER_CTAID, CLUSTER_RANK, GRIDID */
    return 0;
  }
}

void emu_special_fill(emu_warp_t *warp) {
  const emu_program_t *program = warp->cta->launch->program;
  for (uint32_t i = 0; i < program->special_count; ++i) {
    const special_t *special = &specials[program->specials[i].special];
    emu_row_t row = program->specials[i].row;
    for (uint32_t lane = 0; lane < EMU_LANES; ++lane) {
      uint32_t value = value_of(warp, special, lane);
      if (row.kind == EMU_ROW_LONG)
        emu_target_long(warp, row)[lane] = value;
      else
        emu_target_word(warp, row)[lane] = value;
    }
  }
}

uint64_t emu_special_read(const emu_warp_t *warp, int special) {
  uint64_t clock = warp->cta->clock;
  uint64_t value = specials[special].meaning == TIMER
                       ? clock * NANOSECONDS_A_CLOCK
                   : specials[special].meaning == CLOCK_HIGH ? clock >> 32
                                                             : clock;
  return specials[special].type == PTX_TYPE_U64 ? value : (uint32_t)value;
}
