/* A program that knows uattn from its installed files alone.
 * Layer: test. Must not know: uattn's sources.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include <uattn/base.h>

int main(void) {
  uattn_version_t version = uattn_version();
  printf("uattn %d.%d\n", (int)version.abi_major, (int)version.abi_minor);
  return 0;
}
