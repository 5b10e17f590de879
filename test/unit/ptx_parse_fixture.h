/* Short PTX texts around what a test is about.
 * Layer: test. Must not know: how instructions are executed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_PTX_PARSE_FIXTURE_H
#define UATTN_PTX_PARSE_FIXTURE_H

#include "unit_test.h"

#include "emulator/ptx_syntax.h"

/* Line 1. */
#define PTX_HEAD ".version 8.3 .target sm_90a .address_size 64\n"
/* Lines 1 and 2, an entry's body from line 3 on. */
#define PTX_BODY                                                               \
  PTX_HEAD ".entry k(.param .u64 a) { .reg .pred %p<3>; .reg .b32 %r<4>; "     \
           ".reg .b64 %rd<3>;\n"
#define PTX_END "\nret; }\n"

/* The text as module `t`; the test fails where it does not parse. */
static inline ptx_module_t *parse_ptx(const char *text) {
  ptx_module_t *module = NULL;
  assert_ok(ptx_module_parse("t", text, strlen(text), &module));
  assert_non_null(module);
  return module;
}

/* It fails with this code and message, and gives no module. */
static inline void assert_ptx_error(const char *text, uattn_error_code_t code,
                                    const char *message) {
  ptx_module_t *module = NULL;
  assert_error(ptx_module_parse("t", text, strlen(text), &module), code,
               message);
  assert_null(module);
}

#endif /* UATTN_PTX_PARSE_FIXTURE_H */
