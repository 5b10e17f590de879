/* What happens when one of our own invariants fails.
 * Layer: support. Must not know: any concept of attention, MLIR or CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include <stdlib.h>

void uattn_check_failed(const char *file, int line, const char *condition) {
  fprintf(stderr,
          "uattn: internal error at %s:%d: `%s` does not hold; "
          "please report this with the input that caused it\n",
          file, line, condition);
  fflush(stderr);
  abort();
}
