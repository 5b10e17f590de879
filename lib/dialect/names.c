/* The dialect's op and type names as lists.
 * Layer: dialect. Must not know: what any of them means.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dialect/names.h"

const char *const uattn_op_names[] = {
    UATTN_OPNAME_RANKER_ATTENTION,
    UATTN_OPNAME_RANKER_ATTENTION_BWD,
    UATTN_OPNAME_ROLE,
    UATTN_OPNAME_ELECT,
    UATTN_OPNAME_CTA_INDEX,
    UATTN_OPNAME_RING_ALLOC,
    UATTN_OPNAME_RING_PRODUCE,
    UATTN_OPNAME_RING_ACQUIRE,
    UATTN_OPNAME_RING_RELEASE,
    UATTN_OPNAME_SMEM_ROWS,
    UATTN_OPNAME_NAMED_BARRIER_SYNC,
    UATTN_OPNAME_NAMED_BARRIER_ARRIVE,
    UATTN_OPNAME_WGMMA,
    UATTN_OPNAME_WGMMA_WAIT,
    UATTN_OPNAME_CAP_APPLY,
    UATTN_OPNAME_EXP2_APPLY,
    UATTN_OPNAME_MASK_APPLY,
    UATTN_OPNAME_ROW_INDEX,
    UATTN_OPNAME_SCALAR_LOAD,
    UATTN_OPNAME_COLUMN_LOAD,
    UATTN_OPNAME_SMEM_READ,
    UATTN_OPNAME_ROW_DOT,
    UATTN_OPNAME_SMEM_NEGATE_ROWS,
    UATTN_OPNAME_WARP_ANY,
    UATTN_OPNAME_SMEM_CLEAR_ROWS,
    UATTN_OPNAME_ASYNC_PROXY_FENCE,
    UATTN_OPNAME_ROW_BROADCAST,
    UATTN_OPNAME_FOLD_COLUMNS,
    UATTN_OPNAME_ROW_LOAD,
    UATTN_OPNAME_ROW_STORE,
    UATTN_OPNAME_TILE_STORE,
};
const size_t uattn_op_name_count =
    sizeof uattn_op_names / sizeof *uattn_op_names;

const char *const uattn_type_names[] = {
    UATTN_TYPENAME_SMEM,
    UATTN_TYPENAME_RING,
    UATTN_TYPENAME_TENSOR_MAP,
    UATTN_TYPENAME_GLOBAL,
};
const size_t uattn_type_name_count =
    sizeof uattn_type_names / sizeof *uattn_type_names;
