/* The library's ABI version.
 * Layer: support. Must not know: any concept of attention, MLIR or CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#include "uattn/base.h"

uattn_version_t uattn_version(void) {
  return (uattn_version_t){UATTN_ABI_MAJOR, UATTN_ABI_MINOR};
}
