/* What a handler reads of XLA's call frame, in the library's own terms.
 * Layer: python_bindings. Must not know: what the op computes, kernels.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_XLA_CALL_FRAME_H
#define UATTN_XLA_CALL_FRAME_H

#include "ffi_abi.h"
#include "uattn/tensor.h"

/* XLA calls a handler once, when it is registered, to ask what it is. Answers
 * and returns true then; false is a call. */
bool uattn_xla_answer_question(ffi_call_frame_t *frame, uint32_t traits);

/* XLA's form of an error, which is destroyed; NULL gives NULL. */
ffi_error_t *uattn_xla_give_error(const ffi_call_frame_t *frame,
                                  uattn_error_t *owned_error);

/* Arguments or results, which `role` names, as dense tensors that borrow their
 * memory. At most `limit` of them, each of rank 4 or less. A u8 buffer, which
 * the op's tensors have no type for, is left to uattn_xla_take_workspace. */
UATTN_NODISCARD uattn_error_t *
uattn_xla_read_tensors(const ffi_values_t *values, const char *role,
                       size_t limit, uattn_tensor_t *out_tensors);

/* The last result where it is a u8 buffer of rank 1, which is then no longer
 * one of `results`: memory, and its size in bytes. */
void *uattn_xla_take_workspace(ffi_values_t *results, size_t *out_bytes);

/* How much of a text a message shows. */
int uattn_xla_shown_size(const ffi_bytes_t *text);

/* Attributes by name; false where there is none of that name and type. */
bool uattn_xla_find_text(const ffi_attributes_t *attributes, const char *name,
                         ffi_bytes_t *out_text);
bool uattn_xla_find_scalar(const ffi_attributes_t *attributes, const char *name,
                           ffi_dtype_t dtype, void *out_value);
bool uattn_xla_find_array(const ffi_attributes_t *attributes, const char *name,
                          ffi_dtype_t dtype, ffi_array_t *out_array);

#endif /* UATTN_XLA_CALL_FRAME_H */
