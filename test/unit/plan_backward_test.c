/* Tests of the backward plan: the choice, the rules
 * for written plans, the layout of shared memory, names, parameters and the
 * text. Layer: test. Must not know: MLIR, how code is emitted.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan_fixture.h"

static uattn_problem_t backward_problem(int64_t head_dim) {
  uattn_problem_t problem = forward_problem(head_dim);
  problem.kind = UATTN_OP_BACKWARD;
  problem.has_operand[UATTN_OPERAND_OUT] = true;
  problem.has_operand[UATTN_OPERAND_LSE] = true;
  problem.has_operand[UATTN_OPERAND_DOUT] = true;
  problem.has_result[UATTN_RESULT_DQ] = true;
  problem.has_result[UATTN_RESULT_DK] = true;
  problem.has_result[UATTN_RESULT_DV] = true;
  return problem;
}

static uattn_backward_plan_t chosen(const uattn_problem_t *problem) {
  uattn_backward_plan_t plan;
  assert_ok(uattn_plan_backward(problem, h100(), &plan));
  return plan;
}

static uattn_backward_plan_t valid_plan(void) {
  uattn_problem_t problem = backward_problem(64);
  return chosen(&problem);
}

/* The kernels whose sums are in one order. */
static uattn_backward_plan_t separate_plan(void) {
  uattn_problem_t problem = backward_problem(64);
  problem.is_deterministic = true;
  return chosen(&problem);
}

/* ---- Choice ---------------------------------------------------------------
 */

/* Every problem, by index; false past the last. */
static bool covered_backward(int index, uattn_problem_t *out_problem) {
  enum { EXTRAS = 8 };
  uattn_problem_t problem;
  if (!covered_problem(index / EXTRAS, &problem))
    return false;
  uattn_problem_t backward = backward_problem(problem.head_dim);
  backward.dtype = problem.dtype;
  backward.temp_dtype = problem.temp_dtype;
  backward.cap = problem.cap;
  backward.sm_scale = problem.sm_scale;
  backward.is_causal = problem.is_causal;
  backward.window_tokens = problem.window_tokens;
  for (int i = UATTN_OPERAND_TEMP; i <= UATTN_OPERAND_KV_SEGMENT_IDS; ++i)
    backward.has_operand[i] = problem.has_operand[i];
  backward.has_operand[UATTN_OPERAND_DLSE] = index & 1;
  backward.has_result[UATTN_RESULT_DTEMP] =
      (index & 2) && backward.has_operand[UATTN_OPERAND_TEMP];
  backward.is_deterministic = index & 4;
  *out_problem = backward;
  return true;
}

static void every_choice_is_valid_and_says_what_is_computed(void **state) {
  (void)state;
  uattn_problem_t problem;
  int count = 0;
  for (int i = 0; covered_backward(i, &problem); ++i) {
    uattn_backward_plan_t plan = chosen(&problem);
    assert_ok(uattn_backward_plan_validate(&plan, h100()));
    assert_int_equal(plan.head_dim, problem.head_dim);
    assert_int_equal(plan.dtype, problem.dtype);
    assert_int_equal(plan.cap_method, problem.cap.method);
    assert_int_equal(plan.has_temp, problem.has_operand[UATTN_OPERAND_TEMP]);
    assert_int_equal(plan.has_dlse, problem.has_operand[UATTN_OPERAND_DLSE]);
    assert_int_equal(plan.has_dtemp, problem.has_result[UATTN_RESULT_DTEMP]);
    assert_int_equal(plan.masks.has_ranker,
                     problem.has_operand[UATTN_OPERAND_BOUNDS]);
    assert_int_equal(plan.masks.has_segments,
                     problem.has_operand[UATTN_OPERAND_Q_SEGMENT_IDS]);
    assert_int_equal(plan.masks.is_causal, problem.is_causal);
    assert_int_equal(plan.masks.has_window, problem.window_tokens > 0);
    if (plan.has_temp)
      assert_int_equal(plan.temp_dtype, problem.temp_dtype);
    assert_int_equal(plan.fuses_dq, !problem.is_deterministic &&
                                        !plan.has_dtemp &&
                                        plan.head_dim <= 128);
    uattn_backward_kernel_kind_t kinds[UATTN_BACKWARD_KERNEL_COUNT];
    assert_int_equal(uattn_backward_kernels(&plan, kinds),
                     3 + plan.has_dtemp + (plan.head_dim > 128));
    ++count;
  }
  assert_true(count > COVERED_PROBLEMS);
}

static void append_names(const uattn_backward_plan_t *plan,
                         uattn_string_t *text) {
  uattn_backward_kernel_kind_t kinds[UATTN_BACKWARD_KERNEL_COUNT];
  int32_t count = uattn_backward_kernels(plan, kinds);
  for (int32_t i = 0; i < count; ++i) {
    uattn_backward_kernel_name(plan, kinds[i], text);
    uattn_string_append(text, "\n");
  }
}

static void assert_names(const uattn_backward_plan_t *plan,
                         const char *wanted) {
  uattn_string_t text = {0};
  append_names(plan, &text);
  assert_string_equal(uattn_string_get(&text), wanted);
  uattn_string_release(&text);
}

/* Sizes, offsets, the window's length, cap parameters, the scale and the weight
 * of z-loss are arguments of the launch. */
static void run_time_arguments_change_no_plan(void **state) {
  (void)state;
  uattn_problem_t problem = backward_problem(128);
  problem.cap = (uattn_cap_t){UATTN_CAP_TANH, 30.0, 0.0, 0.0};
  problem.window_tokens = 1;
  uattn_backward_plan_t plan = chosen(&problem);
  problem.window_tokens = 4096;
  problem.batch = 3;
  problem.q_tokens = 1;
  problem.kv_tokens = 100000;
  problem.q_heads = 20;
  problem.kv_heads = 4;
  problem.q_offset = -7;
  problem.sm_scale = -3.0;
  problem.cap.cap = 0.5;
  problem.z_loss_weight = 2.0;
  uattn_backward_plan_t other = chosen(&problem);
  uattn_string_t name = {0}, other_name = {0};
  append_names(&plan, &name);
  append_names(&other, &other_name);
  assert_string_equal(uattn_string_get(&name), uattn_string_get(&other_name));
  assert_int_equal(plan.moving_tile_rows, other.moving_tile_rows);
  assert_int_equal(plan.consumer_warpgroups, other.consumer_warpgroups);
  assert_int_equal(plan.stage_count, other.stage_count);
  uattn_string_release(&name);
  uattn_string_release(&other_name);
}

static void kernel_names_say_what_is_computed(void **state) {
  (void)state;
  uattn_problem_t problem = backward_problem(64);
  uattn_backward_plan_t plan = chosen(&problem);
  assert_names(&plan, "ranker_attention_bwd_rows_bf16_d64_none_fused\n"
                      "ranker_attention_bwd_dqkv_bf16_d64_none_fused\n"
                      "ranker_attention_bwd_dqsum_bf16_d64_none_fused\n");
  plan = separate_plan();
  assert_names(&plan, "ranker_attention_bwd_rows_bf16_d64_none\n"
                      "ranker_attention_bwd_dkv_bf16_d64_none\n"
                      "ranker_attention_bwd_dq_bf16_d64_none\n");
  /* One kernel holds dK and dV of at most 128 columns. */
  problem = backward_problem(192);
  problem.has_operand[UATTN_OPERAND_BOUNDS] = true;
  plan = chosen(&problem);
  assert_names(&plan, "ranker_attention_bwd_rows_bf16_d192_none_ranker\n"
                      "ranker_attention_bwd_dk_bf16_d192_none_ranker\n"
                      "ranker_attention_bwd_dv_bf16_d192_none_ranker\n"
                      "ranker_attention_bwd_dq_bf16_d192_none_ranker\n");
  problem = backward_problem(128);
  problem.dtype = UATTN_DTYPE_F16;
  problem.temp_dtype = UATTN_DTYPE_BF16;
  problem.cap = (uattn_cap_t){UATTN_CAP_ALSC, 30.0, 4.0, 0.5};
  problem.has_operand[UATTN_OPERAND_TEMP] = true;
  problem.has_operand[UATTN_OPERAND_DLSE] = true;
  problem.has_operand[UATTN_OPERAND_Q_SEGMENT_IDS] = true;
  problem.has_operand[UATTN_OPERAND_KV_SEGMENT_IDS] = true;
  problem.has_result[UATTN_RESULT_DTEMP] = true;
  problem.is_causal = true;
  problem.window_tokens = 7;
  plan = chosen(&problem);
  assert_names(
      &plan,
      "ranker_attention_bwd_rows_f16_d128_alsc_temp_bf16_dlse_dtemp_segments_"
      "causal_window\n"
      "ranker_attention_bwd_dkv_f16_d128_alsc_temp_bf16_dlse_dtemp_segments_"
      "causal_window\n"
      "ranker_attention_bwd_dq_f16_d128_alsc_temp_bf16_dlse_dtemp_segments_"
      "causal_window\n"
      "ranker_attention_bwd_dtemp_f16_d128_alsc_temp_bf16_dlse_dtemp_segments_"
      "causal_window\n");
}

/* ---- Rules for written plans ----------------------------------------------
 */

#define EXPECT_REFUSED(change, message)                                        \
  do {                                                                         \
    uattn_backward_plan_t p = valid_plan();                                    \
    change;                                                                    \
    assert_error(uattn_backward_plan_validate(&p, h100()),                     \
                 UATTN_ERROR_INVALID_ARGUMENT, message);                       \
  } while (0)

static void fields_have_ranges(void **state) {
  (void)state;
  EXPECT_REFUSED(p.consumer_warpgroups = 0,
                 "plan field consumer_warpgroups is 0: expected 1 to 3");
  EXPECT_REFUSED(p.consumer_warpgroups = 4,
                 "plan field consumer_warpgroups is 4: expected 1 to 3");
  EXPECT_REFUSED(p.moving_tile_rows = 0,
                 "plan field moving_tile_rows is 0: expected a multiple of 16 "
                 "from 16 to 64");
  EXPECT_REFUSED(p.moving_tile_rows = 40,
                 "plan field moving_tile_rows is 40: expected a multiple of 16 "
                 "from 16 to 64");
  EXPECT_REFUSED(p.moving_tile_rows = 80,
                 "plan field moving_tile_rows is 80: expected a multiple of "
                 "16 from 16 to 64");
  EXPECT_REFUSED(p.stage_count = 0,
                 "plan field stage_count is 0: expected 1 to 8");
  EXPECT_REFUSED(p.stage_count = 9,
                 "plan field stage_count is 9: expected 1 to 8");
  EXPECT_REFUSED(p.entry_registers = 164,
                 "plan field entry_registers is 164: expected a multiple of 8 "
                 "from 24 to 248");
  EXPECT_REFUSED(p.entry_registers = 256,
                 "plan field entry_registers is 256: expected a multiple of 8 "
                 "from 24 to 248");
  EXPECT_REFUSED(p.producer_registers = 16,
                 "plan field producer_registers is 16: expected a multiple of "
                 "8 from 24 to 168");
  EXPECT_REFUSED(p.producer_registers = 176,
                 "plan field producer_registers is 176: expected a multiple of "
                 "8 from 24 to 168");
  EXPECT_REFUSED(p.consumer_registers = 160,
                 "plan field consumer_registers is 160: expected a multiple of "
                 "8 from 168 to 240");
  EXPECT_REFUSED(p.consumer_registers = 248,
                 "plan field consumer_registers is 248: expected a multiple of "
                 "8 from 168 to 240");
}

/* A candidate's own keys come in boxes of a warpgroup's rows. */
static void bounds_fix_the_tile(void **state) {
  (void)state;
  EXPECT_REFUSED((p.masks.has_ranker = true, p.moving_tile_rows = 48),
                 "plan field moving_tile_rows is 48: expected 64 with bounds");
}

/* Two tiles of 128 rows of 384 bytes that stay, two rings of 3 stages of 64
 * such rows, one of as many records of 16 bytes, and 16 bytes of barriers for
 * each of the 11 slots. Fused, 128 bytes a row and 8 stages: two tiles of dS,
 * 128 bytes for each of 128 keys, and 16 KiB a consumer besides. */
static void shared_memory_has_an_end(void **state) {
  (void)state;
  EXPECT_REFUSED((p.fuses_dq = false, p.head_dim = 192, p.stage_count = 3),
                 "plan needs 249008 bytes of shared memory: expected at most "
                 "232448 on sm_90a");
  EXPECT_REFUSED(p.stage_count = 8,
                 "plan needs 237984 bytes of shared memory: expected at most "
                 "232448 on sm_90a");
}

/* Added up as CTAs come, dQ is not deterministic; dtemp would be neither. */
static void what_cannot_be_fused_is_refused(void **state) {
  (void)state;
  EXPECT_REFUSED(p.is_deterministic = true,
                 "plan field fuses_dq is true with head_dim 64, deterministic: "
                 "expected head_dim 64 or 128, neither deterministic nor with "
                 "dtemp");
  EXPECT_REFUSED(p.has_dtemp = true,
                 "plan field fuses_dq is true with head_dim 64, with dtemp: "
                 "expected head_dim 64 or 128, neither deterministic nor with "
                 "dtemp");
  EXPECT_REFUSED(p.head_dim = 192,
                 "plan field fuses_dq is true with head_dim 192: expected "
                 "head_dim 64 or 128, neither deterministic nor with dtemp");
  EXPECT_REFUSED(p.moving_tile_rows = 32,
                 "plan field moving_tile_rows is 32: expected 64 where dq is "
                 "fused");
  EXPECT_REFUSED(p.consumer_warpgroups = 1,
                 "plan field consumer_warpgroups is 1: expected 2 where dq is "
                 "fused");
}

static void registers_have_an_end(void **state) {
  (void)state;
  EXPECT_REFUSED((p.entry_registers = 176, p.consumer_registers = 240),
                 "plan needs 67584 registers at entry: expected at most 65536 "
                 "on sm_90a");
  EXPECT_REFUSED(p.producer_registers = 32,
                 "plan needs 65536 registers after setmaxnreg: expected at "
                 "most the 64512 of entry");
}

/* ---- Layout ---------------------------------------------------------------
 */

typedef struct {
  const char *name;
  int32_t offset;
  int32_t bytes;
  int32_t alignment;
} piece_t;

static void assert_apart(const piece_t *pieces, int count, int32_t total) {
  for (int i = 0; i < count; ++i) {
    assert_int_equal(pieces[i].offset % pieces[i].alignment, 0);
    assert_true(pieces[i].offset + pieces[i].bytes <= total);
    for (int j = 0; j < i; ++j)
      if (pieces[j].offset < pieces[i].offset + pieces[i].bytes &&
          pieces[i].offset < pieces[j].offset + pieces[j].bytes)
        fail_msg("%s and %s overlap", pieces[j].name, pieces[i].name);
  }
}

/* Tiles where the 128-byte swizzle repeats, mbarriers where 64 bits may lie. */
static void assert_layout(const uattn_backward_plan_t *plan,
                          uattn_backward_kernel_kind_t kind) {
  uattn_backward_layout_t layout = uattn_backward_layout(plan, kind);
  bool has_keys = uattn_backward_keys_stay(kind);
  bool is_fused = kind == UATTN_BACKWARD_FUSED;
  bool is_product = has_keys || kind == UATTN_BACKWARD_DQ;
  int32_t stages = is_product ? plan->stage_count : 0;
  int32_t row_bytes = 2 * plan->head_dim;
  int32_t tile_bytes = layout.rows_per_cta * row_bytes;
  int32_t ring_bytes = stages * plan->moving_tile_rows * row_bytes;
  bool has_hull = is_product && plan->masks.has_segments;
  const piece_t pieces[] = {
      {"first", layout.first_offset, tile_bytes, 1024},
      {"second", layout.second_offset, tile_bytes, 1024},
      {"first ring", layout.first_ring_offset, ring_bytes, 1024},
      {"second ring", layout.second_ring_offset, ring_bytes, 1024},
      {"first barriers", layout.first_barrier_offset, 16, 8},
      {"second barriers", layout.second_barrier_offset, 16, 8},
      {"first ring's barriers", layout.first_ring_barrier_offset, 16 * stages,
       8},
      {"second ring's barriers", layout.second_ring_barrier_offset, 16 * stages,
       8},
      {"records", layout.records_offset,
       has_keys ? 16 * stages * plan->moving_tile_rows : 0, 16},
      {"records' barriers", layout.records_barrier_offset,
       has_keys ? 16 * stages : 0, 8},
      {"dS", layout.ds_offset,
       is_fused ? 2 * 2 * plan->moving_tile_rows * layout.rows_per_cta : 0,
       1024},
      {"staging", layout.staging_offset,
       is_fused ? 64 * 64 * 4 * layout.consumer_warpgroups : 0, 1024},
      {"segments", layout.segment_offset, has_hull ? 32 : 0, 8},
  };
  assert_apart(pieces, COUNT_OF(pieces), layout.total_bytes);
  assert_int_equal(layout.rows_per_cta, 64 * layout.consumer_warpgroups);
  assert_int_equal(layout.threads, 128 * (1 + layout.consumer_warpgroups));
  assert_true(layout.store_barrier_id > 0);
  assert_true(layout.clear_barrier_id >=
              layout.store_barrier_id + layout.consumer_warpgroups);
  assert_true(layout.ds_barrier_id > layout.clear_barrier_id);
  assert_true(layout.ds_barrier_id < 16);
  assert_true(layout.producer_registers +
                  layout.consumer_warpgroups * layout.consumer_registers <=
              (1 + layout.consumer_warpgroups) * layout.entry_registers);
}

static void layouts_do_not_overlap(void **state) {
  (void)state;
  int valid = 0;
  for (int32_t head_dim = 64; head_dim <= 256; head_dim += 64)
    for (int32_t warpgroups = 1; warpgroups <= 3; ++warpgroups)
      for (int32_t rows = 16; rows <= 64; rows += 16)
        for (int32_t stages = 1; stages <= 8; ++stages) {
          uattn_problem_t problem = backward_problem(head_dim);
          uattn_backward_plan_t plan = chosen(&problem);
          plan.fuses_dq = false;
          plan.consumer_warpgroups = warpgroups;
          plan.entry_registers = 128;
          plan.consumer_registers = 128;
          plan.moving_tile_rows = rows;
          plan.stage_count = stages;
          plan.masks.has_segments = true;
          plan.has_dtemp = true;
          uattn_error_t *error = uattn_backward_plan_validate(&plan, h100());
          for (int kind = 0; !error && kind < UATTN_BACKWARD_KERNEL_COUNT;
               ++kind, ++valid)
            assert_layout(&plan, (uattn_backward_kernel_kind_t)kind);
          uattn_error_destroy(error);
        }
  assert_true(valid > 500);
}

/* The kernel with the most shared memory is the one that has to fit. */
static void assert_fits(const uattn_backward_plan_t *plan,
                        uattn_backward_kernel_kind_t largest) {
  uattn_target_t target = *h100();
  int32_t bytes = uattn_backward_layout(plan, largest).total_bytes;
  target.smem_bytes_per_cta = bytes;
  assert_ok(uattn_backward_plan_validate(plan, &target));
  target.smem_bytes_per_cta = bytes - 1;
  uattn_string_t wanted = {0};
  uattn_string_appendf(
      &wanted,
      "plan needs %d bytes of shared memory: expected at most %d on sm_90a",
      bytes, bytes - 1);
  assert_error(uattn_backward_plan_validate(plan, &target),
               UATTN_ERROR_INVALID_ARGUMENT, uattn_string_get(&wanted));
  uattn_string_release(&wanted);
}

static void valid_plans_fit_in_every_kernel(void **state) {
  (void)state;
  uattn_backward_plan_t plan = valid_plan();
  plan.masks.has_segments = true;
  assert_fits(&plan, UATTN_BACKWARD_FUSED);
  plan.fuses_dq = false;
  assert_fits(&plan, UATTN_BACKWARD_DKV);
}

/* ---- Parameters -----------------------------------------------------------
 */

enum { Q_ROWS = 128, MOVING_ROWS = 64, STORED_ROWS = 64 };

typedef struct {
  uattn_backward_param_t what;
  int32_t box_rows;
} wanted_param_t;

static void assert_params(const uattn_backward_plan_t *plan,
                          uattn_backward_kernel_kind_t kind,
                          const wanted_param_t *wanted, int count) {
  uattn_plan_param_t params[UATTN_BACKWARD_PARAM_COUNT];
  assert_int_equal(uattn_backward_params(plan, kind, params), count);
  for (int i = 0; i < count; ++i) {
    assert_int_equal(params[i].what, wanted[i].what);
    assert_int_equal(params[i].box_rows, wanted[i].box_rows);
    uattn_plan_param_kind_t param_kind = UATTN_PLAN_PARAM_F32;
    if (params[i].what <= UATTN_BACKWARD_PARAM_DV)
      param_kind = UATTN_PLAN_PARAM_TENSOR_MAP;
    else if (params[i].what <= UATTN_BACKWARD_PARAM_DTEMP)
      param_kind = UATTN_PLAN_PARAM_POINTER;
    else if (params[i].what <= UATTN_BACKWARD_PARAM_WINDOW_TOKENS)
      param_kind = UATTN_PLAN_PARAM_I32;
    assert_int_equal(params[i].kind, param_kind);
  }
}

#define PARAM(name)                                                            \
  { UATTN_BACKWARD_PARAM_##name, 0 }
#define MAP(name, rows)                                                        \
  { UATTN_BACKWARD_PARAM_##name, rows }
#define EXPECT_PARAMS(plan, kind, ...)                                         \
  do {                                                                         \
    const wanted_param_t wanted[] = {__VA_ARGS__};                             \
    assert_params(plan, UATTN_BACKWARD_##kind, wanted, COUNT_OF(wanted));      \
  } while (0)

/* What stays is loaded whole, what moves past by tiles, and a consumer stores
 * its own 64 rows. */
static void kernels_take_what_they_use(void **state) {
  (void)state;
  uattn_backward_plan_t plan = separate_plan();
  EXPECT_PARAMS(&plan, ROWS, MAP(OUT, 64), MAP(DOUT, 64), PARAM(LSE),
                PARAM(EXPONENT_SHIFT), PARAM(GRADIENT_SHIFT), PARAM(RECORDS),
                PARAM(Q_TOKENS), PARAM(Q_HEADS), PARAM(TILES),
                PARAM(Z_LOSS_WEIGHT));
  EXPECT_PARAMS(&plan, DKV, MAP(Q, MOVING_ROWS), MAP(K, Q_ROWS), MAP(V, Q_ROWS),
                MAP(DOUT, MOVING_ROWS), MAP(DK, STORED_ROWS),
                MAP(DV, STORED_ROWS), PARAM(RECORDS), PARAM(Q_TOKENS),
                PARAM(Q_HEADS), PARAM(KV_HEADS), PARAM(TILES),
                PARAM(POST_SCALE), PARAM(GRADIENT_SCALE));
  EXPECT_PARAMS(&plan, DQ, MAP(Q, Q_ROWS), MAP(K, MOVING_ROWS),
                MAP(V, MOVING_ROWS), MAP(DOUT, Q_ROWS), MAP(DQ, STORED_ROWS),
                PARAM(EXPONENT_SHIFT), PARAM(GRADIENT_SHIFT), PARAM(Q_TOKENS),
                PARAM(KV_TOKENS), PARAM(Q_HEADS), PARAM(KV_HEADS), PARAM(TILES),
                PARAM(POST_SCALE), PARAM(GRADIENT_SCALE));
}

/* The sums of dQ are cleared, added to and turned into dQ. Nothing is read by
 * rows but what candidates' own keys want. */
static void fused_kernels_take_what_they_use(void **state) {
  (void)state;
  uattn_problem_t problem = backward_problem(64);
  uattn_backward_plan_t plan = chosen(&problem);
  EXPECT_PARAMS(&plan, ROWS, MAP(OUT, 64), MAP(DOUT, 64), PARAM(LSE),
                PARAM(RECORDS), PARAM(DQ_SUMS), PARAM(Q_TOKENS), PARAM(Q_HEADS),
                PARAM(TILES), PARAM(Z_LOSS_WEIGHT));
  EXPECT_PARAMS(&plan, FUSED, MAP(Q, MOVING_ROWS), MAP(K, Q_ROWS),
                MAP(V, Q_ROWS), MAP(DOUT, MOVING_ROWS), MAP(DK, STORED_ROWS),
                MAP(DV, STORED_ROWS), PARAM(RECORDS), PARAM(DQ_SUMS),
                PARAM(Q_TOKENS), PARAM(KV_TOKENS), PARAM(Q_HEADS),
                PARAM(KV_HEADS), PARAM(TILES), PARAM(POST_SCALE),
                PARAM(GRADIENT_SCALE));
  EXPECT_PARAMS(&plan, FINISH, MAP(DQ, STORED_ROWS), PARAM(DQ_SUMS),
                PARAM(Q_TOKENS), PARAM(Q_HEADS), PARAM(TILES),
                PARAM(GRADIENT_SCALE));
  problem.has_operand[UATTN_OPERAND_BOUNDS] = true;
  problem.has_operand[UATTN_OPERAND_TEMP] = true;
  plan = chosen(&problem);
  EXPECT_PARAMS(&plan, ROWS, MAP(OUT, 64), MAP(DOUT, 64), PARAM(LSE),
                PARAM(TEMP), PARAM(BOUNDS), PARAM(EXPONENT_SHIFT),
                PARAM(GRADIENT_SHIFT), PARAM(RECORDS), PARAM(DQ_SUMS),
                PARAM(Q_TOKENS), PARAM(KV_TOKENS), PARAM(Q_HEADS), PARAM(TILES),
                PARAM(Q_OFFSET), PARAM(Z_LOSS_WEIGHT));
  EXPECT_PARAMS(&plan, FINISH, MAP(Q, 64), MAP(K, MOVING_ROWS),
                MAP(V, MOVING_ROWS), MAP(DOUT, 64), MAP(DQ, STORED_ROWS),
                PARAM(TEMP), PARAM(BOUNDS), PARAM(EXPONENT_SHIFT),
                PARAM(GRADIENT_SHIFT), PARAM(DQ_SUMS), PARAM(Q_TOKENS),
                PARAM(KV_TOKENS), PARAM(Q_HEADS), PARAM(KV_HEADS), PARAM(TILES),
                PARAM(Q_OFFSET), PARAM(POST_SCALE), PARAM(GRADIENT_SCALE));
}

/* dK takes what dKdV takes but for dV, and dV no more than P needs. */
static void large_head_dims_split_what_they_take(void **state) {
  (void)state;
  uattn_problem_t problem = backward_problem(192);
  problem.has_operand[UATTN_OPERAND_BOUNDS] = true;
  uattn_backward_plan_t plan = chosen(&problem);
  EXPECT_PARAMS(&plan, DK, MAP(Q, MOVING_ROWS), MAP(K, Q_ROWS), MAP(V, Q_ROWS),
                MAP(DOUT, MOVING_ROWS), MAP(DK, STORED_ROWS), PARAM(BOUNDS),
                PARAM(EXPONENT_SHIFT), PARAM(GRADIENT_SHIFT), PARAM(RECORDS),
                PARAM(Q_TOKENS), PARAM(KV_TOKENS), PARAM(Q_HEADS),
                PARAM(KV_HEADS), PARAM(TILES), PARAM(Q_OFFSET),
                PARAM(POST_SCALE), PARAM(GRADIENT_SCALE));
  EXPECT_PARAMS(&plan, DV, MAP(Q, MOVING_ROWS), MAP(K, Q_ROWS),
                MAP(DOUT, MOVING_ROWS), MAP(DV, STORED_ROWS), PARAM(BOUNDS),
                PARAM(EXPONENT_SHIFT), PARAM(RECORDS), PARAM(Q_TOKENS),
                PARAM(KV_TOKENS), PARAM(Q_HEADS), PARAM(KV_HEADS), PARAM(TILES),
                PARAM(Q_OFFSET), PARAM(POST_SCALE));
}

/* The row kernel puts temp and segments into the records; dtemp's share needs
 * temp, and lse and dlse as they came. */
static void kernels_of_everything_take_it(void **state) {
  (void)state;
  uattn_problem_t problem = backward_problem(64);
  problem.cap = (uattn_cap_t){UATTN_CAP_ALSC, 30.0, 4.0, 0.5};
  problem.has_operand[UATTN_OPERAND_TEMP] = true;
  problem.has_operand[UATTN_OPERAND_DLSE] = true;
  problem.has_operand[UATTN_OPERAND_Q_SEGMENT_IDS] = true;
  problem.has_operand[UATTN_OPERAND_KV_SEGMENT_IDS] = true;
  problem.has_result[UATTN_RESULT_DTEMP] = true;
  problem.is_causal = true;
  problem.window_tokens = 7;
  uattn_backward_plan_t plan = chosen(&problem);
  EXPECT_PARAMS(&plan, ROWS, MAP(OUT, 64), MAP(DOUT, 64), PARAM(LSE),
                PARAM(DLSE), PARAM(TEMP), PARAM(Q_SEGMENT_IDS),
                PARAM(EXPONENT_SHIFT), PARAM(GRADIENT_SHIFT), PARAM(RECORDS),
                PARAM(Q_TOKENS), PARAM(Q_HEADS), PARAM(TILES), PARAM(LSE_SHIFT),
                PARAM(Z_LOSS_WEIGHT));
  EXPECT_PARAMS(&plan, DKV, MAP(Q, MOVING_ROWS), MAP(K, Q_ROWS), MAP(V, Q_ROWS),
                MAP(DOUT, MOVING_ROWS), MAP(DK, STORED_ROWS),
                MAP(DV, STORED_ROWS), PARAM(Q_SEGMENT_IDS),
                PARAM(KV_SEGMENT_IDS), PARAM(RECORDS), PARAM(Q_TOKENS),
                PARAM(KV_TOKENS), PARAM(Q_HEADS), PARAM(KV_HEADS), PARAM(TILES),
                PARAM(Q_OFFSET), PARAM(WINDOW_TOKENS), PARAM(PRE_SCALE),
                PARAM(PRE_BIAS), PARAM(POST_SCALE), PARAM(GRADIENT_SCALE));
  EXPECT_PARAMS(&plan, DQ, MAP(Q, Q_ROWS), MAP(K, MOVING_ROWS),
                MAP(V, MOVING_ROWS), MAP(DOUT, Q_ROWS), MAP(DQ, STORED_ROWS),
                PARAM(LSE), PARAM(DLSE), PARAM(TEMP), PARAM(Q_SEGMENT_IDS),
                PARAM(KV_SEGMENT_IDS), PARAM(EXPONENT_SHIFT),
                PARAM(GRADIENT_SHIFT), PARAM(DTEMP_SHARE), PARAM(Q_TOKENS),
                PARAM(KV_TOKENS), PARAM(Q_HEADS), PARAM(KV_HEADS), PARAM(TILES),
                PARAM(Q_OFFSET), PARAM(WINDOW_TOKENS), PARAM(PRE_SCALE),
                PARAM(PRE_BIAS), PARAM(POST_SCALE), PARAM(LSE_SHIFT),
                PARAM(Z_LOSS_WEIGHT), PARAM(GRADIENT_SCALE));
  EXPECT_PARAMS(&plan, DTEMP, PARAM(DTEMP_SHARE), PARAM(DTEMP), PARAM(Q_TOKENS),
                PARAM(Q_HEADS), PARAM(TILES));
}

/* ---- Text -----------------------------------------------------------------
 */

/* For people: every kernel by name, in the order in which they run. */
static void printed_plan_names_kernels_in_order(void **state) {
  (void)state;
  uattn_backward_plan_t plan = separate_plan();
  uattn_string_t text = {0};
  plan.has_dtemp = true;
  uattn_backward_plan_print(&plan, h100(), &text);
  const char *wanted[] = {
      "backward kernel ranker_attention_bwd_rows_bf16_d64_none_dtemp on "
      "sm_90a\n",
      "work: delta and lse",
      "tiles: 64 rows stay (1 consumer warpgroups of 64)\n",
      "registers a thread: 64 at entry, producer 24, consumers 104\n",
      "backward kernel ranker_attention_bwd_dkv_bf16_d64_none_dtemp on "
      "sm_90a\n",
      "work: dK and dV",
      "tiles: 128 rows stay (2 consumer warpgroups of 64), 64 move past, 2 "
      "stages\n",
      "registers a thread: 168 at entry, producer 24, consumers 240\n",
      "of 232448 bytes; 384 threads\n",
      "backward kernel ranker_attention_bwd_dq_bf16_d64_none_dtemp on "
      "sm_90a\n",
      "work: dQ",
      "backward kernel ranker_attention_bwd_dtemp_bf16_d64_none_dtemp on "
      "sm_90a\n",
      "work: dtemp",
      "sums: in one order",
  };
  const char *place = uattn_string_get(&text);
  for (size_t i = 0; i < COUNT_OF(wanted); ++i) {
    const char *found = strstr(place, wanted[i]);
    if (!found)
      fail_msg("'%s' is not in its place in:\n%s", wanted[i],
               uattn_string_get(&text));
    place = found;
  }
  uattn_string_release(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_choice_is_valid_and_says_what_is_computed),
      cmocka_unit_test(run_time_arguments_change_no_plan),
      cmocka_unit_test(kernel_names_say_what_is_computed),
      cmocka_unit_test(fields_have_ranges),
      cmocka_unit_test(bounds_fix_the_tile),
      cmocka_unit_test(shared_memory_has_an_end),
      cmocka_unit_test(what_cannot_be_fused_is_refused),
      cmocka_unit_test(registers_have_an_end),
      cmocka_unit_test(layouts_do_not_overlap),
      cmocka_unit_test(valid_plans_fit_in_every_kernel),
      cmocka_unit_test(kernels_take_what_they_use),
      cmocka_unit_test(fused_kernels_take_what_they_use),
      cmocka_unit_test(large_head_dims_split_what_they_take),
      cmocka_unit_test(kernels_of_everything_take_it),
      cmocka_unit_test(printed_plan_names_kernels_in_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
