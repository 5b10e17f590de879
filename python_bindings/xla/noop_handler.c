/* The least that a handler can be: tools/uattn-bench/jax_overhead.py compiles
 * it, to compare with. No part of the package.
 * Layer: python_bindings. Must not know: uattn.
 * SPDX-License-Identifier: Apache-2.0 */
#include "call_frame.h"

UATTN_EXPORT ffi_error_t *noop_execute(ffi_call_frame_t *frame);

ffi_error_t *noop_execute(ffi_call_frame_t *frame) {
  const ffi_extension_t *extension = frame->extension_start;
  if (!extension || extension->type != FFI_EXTENSION_METADATA)
    return NULL;
  ffi_metadata_t *metadata =
      ((const ffi_metadata_extension_t *)(const void *)extension)->metadata;
  metadata->api_version.struct_size = sizeof metadata->api_version;
  metadata->api_version.major_version = FFI_API_MAJOR;
  metadata->api_version.minor_version = FFI_API_MINOR;
  metadata->traits = FFI_TRAIT_COMMAND_BUFFER_COMPATIBLE;
  return NULL;
}
