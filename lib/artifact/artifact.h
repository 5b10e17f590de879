/* The file between compiler and runtime, as plain data.
 * Layer: artifact. Must not know: MLIR, CUDA, how kernels are made or launched.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_ARTIFACT_ARTIFACT_H
#define UATTN_ARTIFACT_ARTIFACT_H

#include "uattn/artifact.h"
#include "uattn/kernels.h"
#include "uattn/problem.h"

/* Static facts of one value that flows through a function. */
typedef struct {
  char *name; /* "q", or "arg0" where the function does not say; owned */
  uattn_dtype_t dtype;
  int32_t rank;     /* at most 4 */
  int64_t shape[4]; /* UATTN_DIM_DYNAMIC where free */
} uattn_artifact_value_t;

/* Run-time scalars. The f32 ones are the softmax constants of
 * lib/spec/spec.h (uattn_softmax_constants_t), and what is said beside them. */
typedef enum {
  UATTN_QUANTITY_NONE = 0,
  UATTN_QUANTITY_BATCH = 1,
  UATTN_QUANTITY_Q_TOKENS = 2,
  UATTN_QUANTITY_KV_TOKENS = 3,
  UATTN_QUANTITY_Q_HEADS = 4,
  UATTN_QUANTITY_KV_HEADS = 5,
  UATTN_QUANTITY_Q_TILES = 6, /* ceil(q_tokens / rows_per_cta) */
  UATTN_QUANTITY_Q_OFFSET = 7,
  /* min(window_tokens, q_offset + q_tokens): a longer one hides no key. */
  UATTN_QUANTITY_WINDOW_TOKENS = 8,
  UATTN_QUANTITY_KV_TILES = 9, /* ceil(kv_tokens / rows_per_cta) */
  UATTN_QUANTITY_PRE_SCALE = 32,
  UATTN_QUANTITY_PRE_BIAS = 33,
  UATTN_QUANTITY_POST_SCALE = 34,
  UATTN_QUANTITY_LSE_SHIFT = 35,
  UATTN_QUANTITY_Z_LOSS_WEIGHT = 36, /* the op's attribute */
  UATTN_QUANTITY_GRADIENT_SCALE = 37
} uattn_quantity_t;

/* Where the memory behind a tensor map or a pointer comes from. */
typedef enum {
  UATTN_PARAM_SOURCE_OPERAND = 0,
  UATTN_PARAM_SOURCE_RESULT = 1,
  UATTN_PARAM_SOURCE_SCRATCH = 2 /* pointers only */
} uattn_param_source_t;

typedef struct {
  uattn_param_kind_t kind;
  /* Tensor maps and pointers: which tensor of the op. */
  uattn_param_source_t source;
  /* uattn_operand_t, uattn_result_t or an index of the step's scratch. */
  int32_t tensor_index;
  /* Tensor maps, over a 4-d view (head_dim, heads, tokens, batch), innermost
   * first: box {box_columns, 1, box_rows, 1}, 128-byte swizzle. */
  int32_t box_columns;
  int32_t box_rows;
  uattn_quantity_t quantity; /* scalars */
} uattn_kernel_param_t;

/* How many CTAs a kernel takes. The grid is one-dimensional: tile fastest,
 * then head, then batch. */
typedef enum {
  /* ceil(q_tokens / rows_per_cta) * q_heads * batch */
  UATTN_GRID_Q_TILES = 0,
  /* ceil(kv_tokens / rows_per_cta) * kv_heads * batch */
  UATTN_GRID_KV_TILES = 1
} uattn_grid_rule_t;

typedef struct {
  char *entry; /* name in the image, owned */
  uint32_t image_index;
  uattn_grid_rule_t grid_rule;
  int32_t rows_per_cta;       /* of queries or keys, as the grid rule says */
  int32_t threads;            /* a CTA */
  int32_t dynamic_smem_bytes; /* to be allowed by the driver, and passed */
  int32_t entry_registers;    /* as ptxas reported; 0 where not assembled */
  /* The kernel was made for this sign of sm_scale: +1 (>= 0), -1 (< 0), 0 any.
   * A launch with another sign is refused. */
  int32_t sm_scale_sign;
  /* The kernel relies on a post_scale (uattn_softmax_constants_t) of at most
   * this; 0: any. A launch with a larger one is refused. */
  double largest_post_scale;
  uattn_kernel_param_t *params; /* in order, owned */
  uint32_t param_count;
} uattn_artifact_kernel_t;

/* Memory that the kernels of one op hand to each other: dense, undefined when
 * the first of them starts. */
typedef enum {
  UATTN_SCRATCH_Q_ROWS = 0, /* f32 [batch, q_heads, q_tokens] */
  /* f32 [batch, q_heads, 64 ceil(q_tokens / 64) + 64, 4] */
  UATTN_SCRATCH_Q_RECORDS = 1,
  UATTN_SCRATCH_Q_SUMS = 2 /* f32 [batch, q_heads, q_tokens, head_dim] */
} uattn_scratch_kind_t;
#define UATTN_STEP_SCRATCH_LIMIT 8

/* One op of a function: which values it reads and writes, and its kernels,
 * to be launched in order. No kernel: only the reference can run it. */
typedef struct {
  uattn_problem_t problem;
  int32_t operand_values[UATTN_OPERAND_COUNT]; /* value index, -1: absent */
  int32_t result_values[UATTN_RESULT_COUNT];
  uint32_t first_kernel;
  uint32_t kernel_count;
  char *plan_text; /* what --uattn-print-plan prints, "" without a plan */
  uattn_scratch_kind_t *scratch; /* owned */
  uint32_t scratch_count;        /* at most UATTN_STEP_SCRATCH_LIMIT */
} uattn_artifact_step_t;

/* A func.func: values [0, argument_count) are its arguments. */
typedef struct {
  char *name;
  uattn_artifact_value_t *values;
  uint32_t value_count;
  uint32_t argument_count;
  int32_t *result_values; /* which value each result is */
  uint32_t result_count;
  uattn_artifact_step_t *steps; /* in order of the text */
  uint32_t step_count;
} uattn_artifact_function_t;

typedef struct {
  char *chip;     /* "sm_90a" */
  char *ptx;      /* zero-terminated */
  uint8_t *cubin; /* NULL where the driver shall compile the PTX */
  size_t cubin_bytes;
} uattn_artifact_image_t;

struct uattn_artifact {
  int32_t format_major;
  int32_t format_minor;
  uattn_artifact_function_t *functions;
  uint32_t function_count;
  uattn_artifact_kernel_t *kernels;
  uint32_t kernel_count;
  uattn_artifact_image_t *images;
  uint32_t image_count;
};

/* All arrays and strings inside are allocated by malloc and owned by the
 * artifact; uattn_artifact_destroy frees them. The compiler fills one by hand
 * and serialises it; uattn_artifact_parse checks every count, index, enum and
 * size of a file once, so that what it returns may be trusted. */
uattn_artifact_t *uattn_artifact_create(void);

/* The file's bytes (free with free()). The artifact must be consistent. */
void uattn_artifact_serialize(const uattn_artifact_t *artifact,
                              uint8_t **out_bytes, size_t *out_size);

/* Every rule of the file's contents; the message names the place, what was
 * found and what was wanted. A parsed artifact has passed it. */
UATTN_NODISCARD uattn_error_t *
uattn_artifact_validate(const uattn_artifact_t *artifact);

/* Of one kernel: its parameters take at most so many bytes. */
#define UATTN_KERNEL_PARAM_BYTES_LIMIT 4096

/* Size and alignment of a parameter in the kernel's parameter space. */
size_t uattn_param_bytes(uattn_param_kind_t kind);
size_t uattn_param_alignment(uattn_param_kind_t kind);

/* Where a dimension of a value or op gets its size from. */
typedef struct {
  int64_t size; /* where it is static, else 0: read from the argument's shape */
  int32_t argument;
  int32_t axis;
} uattn_dim_source_t;

/* batch, q_tokens, kv_tokens, q_heads, kv_heads, head_dim, in this order. */
#define UATTN_PROBLEM_DIM_COUNT 6

/* Which dimensions of a function are one, through all of its ops. */
typedef struct {
  uattn_dim_source_t (*values)[4];                      /* of each value */
  uattn_dim_source_t (*steps)[UATTN_PROBLEM_DIM_COUNT]; /* of each op */
} uattn_function_dims_t;

/* Fails where static sizes contradict each other. */
UATTN_NODISCARD uattn_error_t *
uattn_function_dims_create(const uattn_artifact_function_t *function,
                           uattn_function_dims_t *out_dims);
void uattn_function_dims_release(uattn_function_dims_t *dims);

/* Shapes of a function's arguments wherever the caller keeps them: the first
 * int64_t[4], and the distance in bytes from each to the next. */
typedef struct {
  const int64_t *first;
  size_t stride_bytes;
} uattn_shape_view_t;

/* Checks the arguments' shapes: in range, as the static sizes say, consistent
 * with each other, valid for every op. Dimensions past a rank are not read. */
UATTN_NODISCARD uattn_error_t *
uattn_function_check_shapes(const uattn_artifact_function_t *function,
                            const uattn_function_dims_t *dims,
                            uattn_shape_view_t argument_shapes);

/* These need shapes that uattn_function_check_shapes took. None allocates. */
void uattn_function_value_shape(const uattn_artifact_function_t *function,
                                const uattn_function_dims_t *dims,
                                uattn_shape_view_t argument_shapes,
                                uint32_t value, int64_t out_shape[4]);
/* The op's problem with every dimension known. */
uattn_problem_t
uattn_function_step_problem(const uattn_artifact_function_t *function,
                            const uattn_function_dims_t *dims,
                            uattn_shape_view_t argument_shapes, uint32_t step);

#endif /* UATTN_ARTIFACT_ARTIFACT_H */
