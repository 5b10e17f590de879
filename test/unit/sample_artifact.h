/* Small artifacts that tests load, change and damage.
 * Layer: test. Must not know: the compiler, devices.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_SAMPLE_ARTIFACT_H
#define UATTN_SAMPLE_ARTIFACT_H

#include "artifact/artifact.h"

/* A function `main(q, k, v[, temp]) -> (out[, lse])` of bf16, head_dim 64, or
 * `main(q, k, v[, temp], out, lse, dout) -> (dq, dk, dv[, dtemp])`. */
typedef struct {
  bool is_backward;     /* three kernels an op and two scratch */
  bool is_dynamic;      /* every dimension but head_dim is free, else
                           q 1x16x4x64, k and v 1x24x2x64 */
  bool has_temp;        /* f32 */
  bool has_lse;         /* of the last op */
  bool has_no_kernel;   /* only the reference can run it */
  bool has_cubin;       /* beside the PTX */
  int op_count;         /* 0: 1. Further ops read the out of the one before as
                           their q; those of a backward op its dq */
  double z_loss_weight; /* backward */
  int32_t sm_scale_sign;
  double sm_scale; /* 0: 0.125 */
  double largest_post_scale;
  int64_t q_offset;
  int64_t window_tokens;
  uattn_cap_method_t cap_method;
} sample_options_t;

/* Consistent; destroy with uattn_artifact_destroy. */
uattn_artifact_t *sample_artifact(const sample_options_t *options);

/* Adds an argument `extra` (i32, rank 1) and returns it as the last result. */
void sample_artifact_return_argument(uattn_artifact_t *artifact);

#endif /* UATTN_SAMPLE_ARTIFACT_H */
