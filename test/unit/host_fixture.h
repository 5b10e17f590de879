/* A problem with drawn tensors for the tests of the host layer.
 * Layer: test. Must not know: anything above the host layer and the reference.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_HOST_FIXTURE_H
#define UATTN_HOST_FIXTURE_H

#include "unit_test.h"

#include "uattn/host.h"
#include "uattn/reference.h"

/* What a test says of an op; the rest is drawn or follows. */
typedef struct {
  const char *name;
  uattn_problem_t problem; /* without kind, q, k, v and what backward needs */
  int32_t bounds[2][4];    /* of even and of odd batches */
  int segment_rows; /* that have one id, before the next; ids are 0, 1, 2 */
  float temp_begin; /* temp is drawn from [begin, end), and 0 for each tenth */
  float temp_end;   /* row where that includes 0; 0, 0: [0.5, 1.5) */
} host_case_t;

#define HOST_SIZES(b, sq, skv, h, hkv, d)                                      \
  .batch = (b), .q_tokens = (sq), .kv_tokens = (skv), .q_heads = (h),          \
  .kv_heads = (hkv), .head_dim = (d)
#define HOST_WITH(operand) .has_operand[UATTN_OPERAND_##operand] = true

/* Owns dense tensors of every operand and result, in the problem's types. */
typedef struct {
  uattn_problem_t problem;
  uattn_host_tensors_t tensors;
} host_fixture_t;

/* With all results that the problem may have. Numbers are from N(0, 1); out and
 * lse of a backward are those of the forward. */
host_fixture_t host_fixture_create(const host_case_t *host_case,
                                   uattn_op_kind_t kind);
void host_fixture_destroy(host_fixture_t *fixture);

/* Runs the host layer. */
void host_fixture_run(host_fixture_t *fixture, int thread_count);

/* The reference's result from the same operands, dense; free it. Gradients are
 * those from the given out. */
double *host_fixture_reference(const host_fixture_t *fixture, int result);

size_t host_tensor_size(const uattn_tensor_t *tensor);
size_t host_tensor_bytes(const uattn_tensor_t *tensor);

/* The number at a place in C order of a tensor with any strides. */
void *host_tensor_at(const uattn_tensor_t *tensor, size_t index);
double host_tensor_number(const uattn_tensor_t *tensor, size_t index);
void host_tensor_set(const uattn_tensor_t *tensor, size_t index, double value);

/* The results have the same bits, and some are not 0. */
void assert_same_host_results(const host_fixture_t *found,
                              const host_fixture_t *wanted);

#endif /* UATTN_HOST_FIXTURE_H */
