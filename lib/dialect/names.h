/* Names of the dialect's ops, types and attributes: the only place that spells
 * them in C.
 * Layer: dialect. Must not know: what any of them means.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_DIALECT_NAMES_H
#define UATTN_DIALECT_NAMES_H

#include <stddef.h>

#define UATTN_NAMESPACE "uattn"

/* Ops, level "op". */
#define UATTN_OPNAME_RANKER_ATTENTION "uattn.ranker_attention"
#define UATTN_OPNAME_RANKER_ATTENTION_BWD "uattn.ranker_attention_bwd"

/* Ops, level "pipeline". */
#define UATTN_OPNAME_ROLE "uattn.role"
#define UATTN_OPNAME_ELECT "uattn.elect"
#define UATTN_OPNAME_CTA_INDEX "uattn.cta_index"
#define UATTN_OPNAME_SEGMENT_HULL "uattn.segment_hull"
#define UATTN_OPNAME_RING_ALLOC "uattn.ring_alloc"
#define UATTN_OPNAME_RING_PRODUCE "uattn.ring_produce"
#define UATTN_OPNAME_RING_ACQUIRE "uattn.ring_acquire"
#define UATTN_OPNAME_RING_RELEASE "uattn.ring_release"
#define UATTN_OPNAME_RING_PRODUCE_RECORDS "uattn.ring_produce_records"
#define UATTN_OPNAME_SMEM_ALLOC "uattn.smem_alloc"
#define UATTN_OPNAME_SMEM_ROWS "uattn.smem_rows"
#define UATTN_OPNAME_SMEM_COLUMNS "uattn.smem_columns"
#define UATTN_OPNAME_SMEM_TRANSPOSE "uattn.smem_transpose"
#define UATTN_OPNAME_NAMED_BARRIER_SYNC "uattn.named_barrier_sync"
#define UATTN_OPNAME_NAMED_BARRIER_ARRIVE "uattn.named_barrier_arrive"
#define UATTN_OPNAME_WGMMA "uattn.wgmma"
#define UATTN_OPNAME_WGMMA_WAIT "uattn.wgmma_wait"
#define UATTN_OPNAME_CAP_APPLY "uattn.cap_apply"
#define UATTN_OPNAME_EXP2_APPLY "uattn.exp2_apply"
#define UATTN_OPNAME_MASK_APPLY "uattn.mask_apply"
#define UATTN_OPNAME_ROW_INDEX "uattn.row_index"
#define UATTN_OPNAME_SCALAR_LOAD "uattn.scalar_load"
#define UATTN_OPNAME_COLUMN_LOAD "uattn.column_load"
#define UATTN_OPNAME_COLUMN_READ "uattn.column_read"
#define UATTN_OPNAME_SMEM_READ "uattn.smem_read"
#define UATTN_OPNAME_ROW_DOT "uattn.row_dot"
#define UATTN_OPNAME_SMEM_NEGATE_ROWS "uattn.smem_negate_rows"
#define UATTN_OPNAME_WARPGROUP_ALL "uattn.warpgroup_all"
#define UATTN_OPNAME_WARP_ANY "uattn.warp_any"
#define UATTN_OPNAME_SMEM_CLEAR_ROWS "uattn.smem_clear_rows"
#define UATTN_OPNAME_SMEM_DROP_ROWS "uattn.smem_drop_rows"
#define UATTN_OPNAME_WARP_SYNC "uattn.warp_sync"
#define UATTN_OPNAME_ASYNC_PROXY_FENCE "uattn.async_proxy_fence"
#define UATTN_OPNAME_ROW_BROADCAST "uattn.row_broadcast"
#define UATTN_OPNAME_FOLD_COLUMNS "uattn.fold_columns"
#define UATTN_OPNAME_ROW_LOAD "uattn.row_load"
#define UATTN_OPNAME_ROW_STORE "uattn.row_store"
#define UATTN_OPNAME_RECORD_STORE "uattn.record_store"
#define UATTN_OPNAME_TILE_STORE "uattn.tile_store"
#define UATTN_OPNAME_SUMS_CLEAR "uattn.sums_clear"
#define UATTN_OPNAME_SUMS_ADD "uattn.sums_add"
#define UATTN_OPNAME_SUMS_LOAD "uattn.sums_load"

/* Types and attributes with parameters. */
#define UATTN_TYPENAME_SMEM "uattn.smem"
#define UATTN_TYPENAME_RING "uattn.ring"
#define UATTN_TYPENAME_TENSOR_MAP "uattn.tensor_map"
#define UATTN_TYPENAME_GLOBAL "uattn.global"
#define UATTN_ATTRNAME_CAP "uattn.cap"
#define UATTN_ATTRNAME_PLAN "uattn.plan"

/* Attributes on the two attention ops. */
#define UATTN_ATTR_OPERAND_SEGMENTS "operandSegmentSizes"
#define UATTN_ATTR_RESULT_SEGMENTS "resultSegmentSizes"
#define UATTN_ATTR_CAP "cap"
#define UATTN_ATTR_SM_SCALE "sm_scale"
#define UATTN_ATTR_CAUSAL "causal"
#define UATTN_ATTR_WINDOW_LEN "window_len"
#define UATTN_ATTR_Q_OFFSET "q_offset"
#define UATTN_ATTR_Z_LOSS_WEIGHT "z_loss_weight"
#define UATTN_ATTR_DETERMINISTIC "deterministic"
/* Added by passes. */
#define UATTN_ATTR_PLAN "plan"       /* a #uattn.plan */
#define UATTN_ATTR_KERNELS "kernels" /* array of symbol references */

/* Attributes on pipeline ops. */
#define UATTN_ATTR_REGISTERS "registers"
#define UATTN_ATTR_WARPGROUPS "warpgroups"
#define UATTN_ATTR_SMEM_OFFSET "smem_offset"
#define UATTN_ATTR_BARRIER_OFFSET "barrier_offset"
#define UATTN_ATTR_CONSUMER_WARPS "consumer_warps"
#define UATTN_ATTR_THREADS "threads"
#define UATTN_ATTR_TRANSPOSE_B "transpose_b"
#define UATTN_ATTR_NEGATE_A "negate_a"
#define UATTN_ATTR_PENDING "pending"
#define UATTN_ATTR_METHOD "method"
#define UATTN_ATTR_KIND "kind"
#define UATTN_ATTR_ROWS "rows"
#define UATTN_ATTR_COLUMNS "columns"
#define UATTN_ATTR_FIELD "field"
#define UATTN_ATTR_POLYNOMIAL_PERIOD "polynomial_period"

/* Every op and type name above; a test compares them with the dialect. */
extern const char *const uattn_op_names[];
extern const size_t uattn_op_name_count;
extern const char *const uattn_type_names[];
extern const size_t uattn_type_name_count;

#endif /* UATTN_DIALECT_NAMES_H */
