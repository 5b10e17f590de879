/* Rows of a caller's tensors, of any type and strides, as float32.
 * Layer: host. Must not know: masks, softmax, threads.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_HOST_TENSOR_ROWS_H
#define UATTN_HOST_TENSOR_ROWS_H

#include "host/host_work.h"

/* Rows of a tensor [batch, tokens, heads, head_dim] into out[count][pitch],
 * whose columns past head_dim stay as they are. */
void uattn_rows_load(const uattn_tensor_t *tensor, uattn_row_block_t block,
                     int64_t pitch, float *out_rows);
/* The same into out[head_dim][UATTN_BLOCK_ROWS]; what is past `count` stays. */
void uattn_rows_load_transposed(const uattn_tensor_t *tensor,
                                uattn_row_block_t block, float *out_columns);
/* Rounds to the tensor's type. */
void uattn_rows_store(const uattn_tensor_t *tensor, uattn_row_block_t block,
                      int64_t pitch, const float *rows);

/* Numbers of a tensor [batch, tokens] (the block's head is not read) or
 * [batch, heads, tokens]. */
void uattn_numbers_load(const uattn_tensor_t *tensor, uattn_row_block_t block,
                        float *out_numbers);
void uattn_numbers_store(const uattn_tensor_t *tensor, uattn_row_block_t block,
                         const float *numbers);
/* The same for integers. */
void uattn_integers_load(const uattn_tensor_t *tensor, uattn_row_block_t block,
                         int32_t *out_integers);

#endif /* UATTN_HOST_TENSOR_ROWS_H */
