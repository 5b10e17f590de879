/* How a kernel will do its work: decisions as data, chosen by a cost model.
 * Layer: plan. Must not know: MLIR, CUDA, how code is emitted.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_PLAN_PLAN_H
#define UATTN_PLAN_PLAN_H

#include "mask/mask.h"
#include "spec/spec.h"
#include "support/support.h"

/* Numbers of a GPU, with their sources in target_sm90.c. */
typedef struct {
  const char *chip;           /* "sm_90a" */
  int32_t smem_bytes_per_cta; /* dynamic, with the driver's opt-in */
  int32_t registers_per_sm;   /* 32 bits each */
  int32_t max_registers_per_thread;
  int32_t tensor_flops_per_cycle;     /* dense 16-bit, one SM */
  int32_t special_function_per_cycle; /* ex2, rcp, tanh: results of one SM */
  int32_t lanes_per_cycle;            /* issue: thread instructions, one SM */
} uattn_target_t;

/* NULL where `chip` is not supported. Static. */
const uattn_target_t *uattn_target_find(const char *chip);

/* Rows of a tile that one warpgroup's products cover (wgmma m64). */
#define UATTN_WARPGROUP_ROWS 64
#define UATTN_WARPGROUP_THREADS 128
/* Columns of 16-bit elements in one 128-byte swizzled shared-memory row. */
#define UATTN_PANEL_COLUMNS 64
/* Numbers of a record of a row, f32 each. */
#define UATTN_RECORD_NUMBERS 4
#define UATTN_PANEL_ROW_BYTES 128
/* Rows of a KV tile: wgmma takes n in steps of 8 and k in steps of 16, a TMA
 * box has at most 256 rows, and fewer than 64 are never the best choice. */
#define UATTN_KV_TILE_STEP 16
#define UATTN_MIN_KV_TILE_ROWS 64
#define UATTN_MAX_KV_TILE_ROWS 256

/* Which sign of sm_scale a kernel is made for. Without temp the scores'
 * maximum is taken before they are scaled, which needs a positive scale; a
 * negative one negates q in the product instead. */
typedef enum {
  UATTN_SCALE_SIGN_ANY = 0,
  UATTN_SCALE_SIGN_POSITIVE = 1, /* sm_scale >= 0 */
  UATTN_SCALE_SIGN_NEGATIVE = -1
} uattn_scale_sign_t;

/* The largest log2(e) temp cap with which 2^(log2(e) temp y), |y| <= cap, needs
 * no maximum: p stays within 2^-88 and 2^88, and sums of 2^31 of them, times
 * values of 2^8, below f32's 2^128. */
#define UATTN_FIXED_MAXIMUM_LIMIT 88.0

/* The forward kernel: one producer warpgroup, `consumer_warpgroups` consumers
 * of 64 query rows each, rings of K and V tiles, online softmax in base 2. */
typedef struct {
  /* What is computed: from the problem, not a choice. */
  uattn_dtype_t dtype;
  uattn_dtype_t temp_dtype;
  int32_t head_dim;
  uattn_cap_method_t cap_method;
  bool has_temp;
  bool has_lse;
  uattn_mask_kinds_t masks;
  uattn_scale_sign_t scale_sign;
  /* Decisions. */
  int32_t consumer_warpgroups;
  int32_t kv_tile_rows;
  int32_t stage_count; /* of the K ring and of the V ring */
  int32_t entry_registers;
  int32_t producer_registers;
  int32_t consumer_registers;
  bool is_ping_pong; /* consumers take turns at the tensor cores */
  /* Every so many groups of 8 columns, exponentials are a polynomial on the
   * FMA units; 0: none. */
  int32_t polynomial_period;
  /* The cap bounds the scores so tightly that no maximum is needed; with temp
   * the kernel looks at its rows and has both ways. */
  bool has_fixed_maximum;
} uattn_forward_plan_t;

/* Who makes machine code of a forward plan. Triton's tensors have powers of two
 * of rows, its kernels no polynomials, and with temp they always follow a
 * maximum. */
typedef enum {
  UATTN_PLAN_COMPILER_UATTN = 0,
  UATTN_PLAN_COMPILER_TRITON = 1
} uattn_plan_compiler_t;

/* Where things lie in a CTA's dynamic shared memory, in bytes from its start;
 * named barriers by id. Follows from the plan. */
typedef struct {
  int32_t q_offset; /* [panel][q_tile_rows][64]; out leaves through it */
  int32_t k_offset; /* stages of [panel][kv_tile_rows][64] */
  int32_t v_offset;
  int32_t q_barrier_offset; /* full and empty mbarrier a slot, 16 bytes */
  int32_t k_barrier_offset;
  int32_t v_barrier_offset;
  int32_t segment_offset; /* 32 bytes, with segments */
  int32_t total_bytes;
  int32_t q_tile_rows; /* of a CTA */
  int32_t threads;
  int32_t turn_barrier_id;  /* + consumer index: whose turn it is */
  int32_t store_barrier_id; /* + consumer index: its out tile is staged */
  int32_t clear_barrier_id; /* all consumers: dead rows of V are cleared */
} uattn_forward_layout_t;

uattn_forward_layout_t uattn_forward_layout(const uattn_forward_plan_t *plan);

/* Why a candidate costs what it costs. All per CTA and KV tile, in cycles. */
typedef struct {
  double tensor_cycles;
  double special_function_cycles;
  double issue_cycles;
  double step_overhead_cycles;
  double cycles_per_pair; /* what the choice minimises, per query and key */
  int32_t consumer_registers_needed;
  int32_t smem_bytes;
} uattn_forward_cost_t;

uattn_forward_cost_t uattn_forward_cost(const uattn_forward_plan_t *plan,
                                        const uattn_target_t *target,
                                        uattn_plan_compiler_t compiler);

/* Chooses tiles, stages and registers for a problem of the forward op. Pure:
 * the same problem, target and compiler give the same plan on any machine. On
 * error `*out_plan` is untouched. */
UATTN_NODISCARD uattn_error_t *
uattn_plan_forward(const uattn_problem_t *problem, const uattn_target_t *target,
                   uattn_plan_compiler_t compiler,
                   uattn_forward_plan_t *out_plan);

/* A plan that came from a text rather than from uattn_plan_forward: does it
 * fit the target and the kernel's structure? */
UATTN_NODISCARD uattn_error_t *
uattn_forward_plan_validate(const uattn_forward_plan_t *plan,
                            const uattn_target_t *target);

/* The plan, its layout, its cost as uattn's own kernel and the candidates that
 * it was chosen from, for people. */
void uattn_forward_plan_print(const uattn_forward_plan_t *plan,
                              const uattn_target_t *target,
                              uattn_string_t *out_text);

/* The kernel's name: the same plan gives the same name. */
void uattn_forward_kernel_name(const uattn_forward_plan_t *plan,
                               uattn_string_t *out_name);

/* The kernel's parameters, in order. */
typedef enum {
  UATTN_PLAN_PARAM_TENSOR_MAP,
  UATTN_PLAN_PARAM_POINTER,
  UATTN_PLAN_PARAM_I32,
  UATTN_PLAN_PARAM_F32
} uattn_plan_param_kind_t;

typedef enum {
  UATTN_FORWARD_PARAM_Q,
  UATTN_FORWARD_PARAM_K,
  UATTN_FORWARD_PARAM_V,
  UATTN_FORWARD_PARAM_OUT,
  UATTN_FORWARD_PARAM_K_DIAGONAL, /* K and V in boxes of 64 rows */
  UATTN_FORWARD_PARAM_V_DIAGONAL,
  UATTN_FORWARD_PARAM_LSE,
  UATTN_FORWARD_PARAM_TEMP,
  UATTN_FORWARD_PARAM_BOUNDS,
  UATTN_FORWARD_PARAM_Q_SEGMENT_IDS,
  UATTN_FORWARD_PARAM_KV_SEGMENT_IDS,
  UATTN_FORWARD_PARAM_Q_TOKENS,
  UATTN_FORWARD_PARAM_KV_TOKENS,
  UATTN_FORWARD_PARAM_Q_HEADS,
  UATTN_FORWARD_PARAM_KV_HEADS,
  UATTN_FORWARD_PARAM_Q_TILES, /* ceil(q_tokens / q_tile_rows) */
  UATTN_FORWARD_PARAM_Q_OFFSET,
  UATTN_FORWARD_PARAM_WINDOW_TOKENS,
  UATTN_FORWARD_PARAM_PRE_SCALE, /* uattn_softmax_constants_t */
  UATTN_FORWARD_PARAM_PRE_BIAS,
  UATTN_FORWARD_PARAM_POST_SCALE,
  UATTN_FORWARD_PARAM_LSE_SHIFT,
  UATTN_FORWARD_PARAM_COUNT
} uattn_forward_param_t;

typedef struct {
  int32_t what; /* uattn_forward_param_t or uattn_backward_param_t */
  uattn_plan_param_kind_t kind;
  int32_t box_rows; /* tensor maps: TMA box {64, 1, box_rows, 1} */
} uattn_plan_param_t;

/* Writes at most UATTN_FORWARD_PARAM_COUNT entries, returns how many. */
int uattn_forward_params(const uattn_forward_plan_t *plan,
                         uattn_plan_param_t *out_params);

/* ---- Backward --------------------------------------------------------------
 * Kernels, one after the other: what every row of q brings to the others
 * (delta, and lse in base 2), then one of
 *
 *   fused      dK, dV and dQ, a CTA a KV tile that walks all rows of q of its
 *              heads; dQ is added up in global memory as CTAs come, so that
 *              its last bits change from run to run; then a kernel that turns
 *              the sums into dQ;
 *   separate   dK and dV likewise, then dQ and each head's share of dtemp, a
 *              CTA a query tile that walks all keys, then, where it is wanted,
 *              dtemp. No sum depends on the order in which CTAs run. */

typedef enum {
  UATTN_BACKWARD_ROWS,
  UATTN_BACKWARD_DKV,
  UATTN_BACKWARD_DK, /* and DV: where one kernel cannot hold both */
  UATTN_BACKWARD_DV,
  UATTN_BACKWARD_DQ,
  UATTN_BACKWARD_DTEMP,  /* sums dq's share of every head */
  UATTN_BACKWARD_FUSED,  /* DKV, which adds to sums of dQ */
  UATTN_BACKWARD_FINISH, /* dQ from its sums, and candidates' own keys */
  UATTN_BACKWARD_KERNEL_COUNT
} uattn_backward_kernel_kind_t;

/* A kernel of products: one producer warpgroup; consumers of 64 rows each that
 * stay (of K and V, or of Q and dout); rings of the tiles that move past. */
typedef struct {
  /* What is computed: from the problem, not a choice. */
  uattn_dtype_t dtype;
  uattn_dtype_t temp_dtype;
  int32_t head_dim;
  uattn_cap_method_t cap_method;
  bool has_temp;
  bool has_dlse;
  bool has_dtemp;
  bool is_deterministic;
  uattn_mask_kinds_t masks;
  /* Decisions. */
  bool fuses_dq;
  int32_t consumer_warpgroups;
  int32_t moving_tile_rows;
  int32_t stage_count; /* of each of the two rings, and of the records' */
  int32_t entry_registers;
  int32_t producer_registers;
  int32_t consumer_registers;
} uattn_backward_plan_t;

/* Fused: a consumer writes dS while the other still multiplies the last. */
enum { UATTN_BACKWARD_DS_TILES = 2 };

/* As uattn_forward_layout_t. */
typedef struct {
  int32_t first_offset; /* K or Q (rows: out); its gradient leaves through it */
  int32_t second_offset;      /* V or dout; likewise */
  int32_t first_ring_offset;  /* Q or K */
  int32_t second_ring_offset; /* dout or V */
  int32_t first_barrier_offset;
  int32_t second_barrier_offset;
  int32_t first_ring_barrier_offset;
  int32_t second_ring_barrier_offset;
  /* Where keys stay: a ring of the rows' records. Fused: two tiles of dS,
   * [moving rows, rows that stay]; a tile of f32 a consumer to add from,
   * [64, 64]. */
  int32_t records_offset;
  int32_t records_barrier_offset;
  int32_t ds_offset;
  int32_t staging_offset;
  int32_t segment_offset; /* 32 bytes, with segments where products are */
  int32_t total_bytes;
  int32_t stage_count; /* of each ring; 0: the kernel has none */
  int32_t consumer_warpgroups;
  int32_t rows_per_cta; /* that stay */
  int32_t threads;
  int32_t entry_registers;
  int32_t producer_registers;
  int32_t consumer_registers;
  int32_t store_barrier_id; /* + consumer index */
  int32_t clear_barrier_id; /* all consumers: dead rows are cleared */
  int32_t ds_barrier_id;    /* all consumers: dS is there */
} uattn_backward_layout_t;
uattn_backward_layout_t
uattn_backward_layout(const uattn_backward_plan_t *plan,
                      uattn_backward_kernel_kind_t kind);

/* The kernels of a plan in the order of their launches; returns how many. */
int32_t uattn_backward_kernels(
    const uattn_backward_plan_t *plan,
    uattn_backward_kernel_kind_t out_kinds[UATTN_BACKWARD_KERNEL_COUNT]);
/* K and V stay, and rows of q move past. */
static inline bool uattn_backward_keys_stay(uattn_backward_kernel_kind_t kind) {
  return kind == UATTN_BACKWARD_DKV || kind == UATTN_BACKWARD_DK ||
         kind == UATTN_BACKWARD_DV || kind == UATTN_BACKWARD_FUSED;
}

/* As the forward's functions of the same names. */
UATTN_NODISCARD uattn_error_t *
uattn_plan_backward(const uattn_problem_t *problem,
                    const uattn_target_t *target,
                    uattn_backward_plan_t *out_plan);
UATTN_NODISCARD uattn_error_t *
uattn_backward_plan_validate(const uattn_backward_plan_t *plan,
                             const uattn_target_t *target);
void uattn_backward_plan_print(const uattn_backward_plan_t *plan,
                               const uattn_target_t *target,
                               uattn_string_t *out_text);
void uattn_backward_kernel_name(const uattn_backward_plan_t *plan,
                                uattn_backward_kernel_kind_t kind,
                                uattn_string_t *out_name);

typedef enum {
  UATTN_BACKWARD_PARAM_Q,
  UATTN_BACKWARD_PARAM_K,
  UATTN_BACKWARD_PARAM_V,
  UATTN_BACKWARD_PARAM_OUT,
  UATTN_BACKWARD_PARAM_DOUT,
  UATTN_BACKWARD_PARAM_DQ,
  UATTN_BACKWARD_PARAM_DK,
  UATTN_BACKWARD_PARAM_DV,
  UATTN_BACKWARD_PARAM_LSE,
  UATTN_BACKWARD_PARAM_DLSE,
  UATTN_BACKWARD_PARAM_TEMP,
  UATTN_BACKWARD_PARAM_BOUNDS,
  UATTN_BACKWARD_PARAM_Q_SEGMENT_IDS,
  UATTN_BACKWARD_PARAM_KV_SEGMENT_IDS,
  /* f32 [batch, q_heads, q_tokens] between the kernels: what is added to
   * exponents of base 2, -inf in rows without a key; and to dP. */
  UATTN_BACKWARD_PARAM_EXPONENT_SHIFT,
  UATTN_BACKWARD_PARAM_GRADIENT_SHIFT,
  UATTN_BACKWARD_PARAM_DTEMP_SHARE, /* the same shape, of each head */
  /* f32 [batch, q_heads, 64 ceil(q_tokens / 64) + 64, 4]: of each row both
   * shifts, temp (1 without) and the bits of its segment id (0 without). Rows
   * without a key, and behind q_tokens, have the exponent shift -inf, and
   * zeros. */
  UATTN_BACKWARD_PARAM_RECORDS,
  /* Fused, f32 [batch, q_heads, head_dim / 64, q_tokens, 64]: sums of dQ. */
  UATTN_BACKWARD_PARAM_DQ_SUMS,
  UATTN_BACKWARD_PARAM_DTEMP,
  UATTN_BACKWARD_PARAM_Q_TOKENS,
  UATTN_BACKWARD_PARAM_KV_TOKENS,
  UATTN_BACKWARD_PARAM_Q_HEADS,
  UATTN_BACKWARD_PARAM_KV_HEADS,
  UATTN_BACKWARD_PARAM_TILES, /* that stay, of one head */
  UATTN_BACKWARD_PARAM_Q_OFFSET,
  UATTN_BACKWARD_PARAM_WINDOW_TOKENS,
  UATTN_BACKWARD_PARAM_PRE_SCALE, /* uattn_softmax_constants_t */
  UATTN_BACKWARD_PARAM_PRE_BIAS,
  UATTN_BACKWARD_PARAM_POST_SCALE,
  UATTN_BACKWARD_PARAM_LSE_SHIFT,
  UATTN_BACKWARD_PARAM_Z_LOSS_WEIGHT,
  UATTN_BACKWARD_PARAM_GRADIENT_SCALE,
  UATTN_BACKWARD_PARAM_COUNT
} uattn_backward_param_t;

/* Writes at most UATTN_BACKWARD_PARAM_COUNT entries, returns how many. */
int uattn_backward_params(const uattn_backward_plan_t *plan,
                          uattn_backward_kernel_kind_t kind,
                          uattn_plan_param_t *out_params);

#endif /* UATTN_PLAN_PLAN_H */
