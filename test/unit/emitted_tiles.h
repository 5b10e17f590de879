/* Launches of emitted kernels that work on tiles of 16-bit floats in shared
 * memory: matrices that come by tensor copies, numbers, and what comes back.
 * Layer: test. Must not know: what the kernels do.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMITTED_TILES_H
#define UATTN_EMITTED_TILES_H

#include "emitted_kernel.h"

#include "spec/spec.h"

enum {
  MAX_ROWS = 256,
  MAX_COLUMNS = 256,
  PANEL_COLUMNS = 64,
  PART_ROWS = 64, /* what one warpgroup holds */
  SEEDS = 2       /* orders of the warps */
};

/* A kernel and the tile that it works on. */
typedef struct {
  const char *name; /* test/Inputs/emit/NAME.mlir */
  uattn_dtype_t dtype;
  int32_t rows;
  int32_t columns;
  int32_t part_rows;   /* of what the op takes of the tile */
  int32_t out_columns; /* out has as many times 64 elements */
  int32_t slot_rows;   /* of the ring: those of the tile or more */
} shape_t;

typedef struct {
  uattn_dtype_t dtype;
  int32_t rows;
  int32_t columns;
  uint16_t bits[MAX_ROWS][MAX_COLUMNS];
} matrix_t;

/* One launch; parameters are added in the kernel's order. */
typedef struct {
  shape_t shape;
  call_t call;
  uint8_t maps[2][128];
  int32_t map_count;
  int32_t numbers[8];
  int32_t number_count;
  float *out;
} launch_t;

/* The program behind the shape's types and `more_types`; the caller destroys
 * it. */
uattn_emulator_t *tile_program(const shape_t *shape, const char *more_types);

float matrix_value(const matrix_t *matrix, int32_t row, int32_t column);
/* No two elements are equal: normal numbers of both types, enough for
 * 40000 elements. */
matrix_t different_values(uattn_dtype_t dtype, int32_t rows, int32_t columns);
/* Whole numbers whose products and sums f32 holds. */
matrix_t small_numbers(uattn_dtype_t dtype, int32_t rows, int32_t columns,
                       uint64_t *random);
matrix_t unit_matrix(uattn_dtype_t dtype, int32_t size);

launch_t launch_begin(const shape_t *shape, uint64_t seed);
/* The next parameter: the matrix's map. */
void launch_add_matrix(launch_t *launch, const matrix_t *matrix,
                       int32_t box_rows);
void launch_add_number(launch_t *launch, int32_t number);
/* The parameters that all kernels end with, and the run of `entry`. */
void launch_run(launch_t *launch, const uattn_emulator_t *program,
                const char *entry);
/* Element `inner` of the 64 that came back for `outer`. */
void launch_assert_out(const launch_t *launch, int32_t outer, int32_t inner,
                       float wanted);
void launch_release(launch_t *launch);

#endif /* UATTN_EMITTED_TILES_H */
