/* Tables of PTX texts that the parser refuses.
 * Layer: test. Must not know: how instructions are executed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_PTX_REFUSAL_FIXTURE_H
#define UATTN_PTX_REFUSAL_FIXTURE_H

#include "ptx_parse_fixture.h"

#define INVALID UATTN_ERROR_INVALID_ARGUMENT
#define UNSUPPORTED UATTN_ERROR_UNSUPPORTED

typedef struct {
  const char *text;
  uattn_error_code_t code;
  const char *message;
} case_t;

/* Each text between `before` and `after`. */
static inline void check_cases(const case_t *cases, size_t count,
                               const char *before, const char *after) {
  for (size_t i = 0; i < count; ++i) {
    uattn_string_t text = {0};
    uattn_string_append(&text, before);
    uattn_string_append(&text, cases[i].text);
    uattn_string_append(&text, after);
    assert_ptx_error(text.data, cases[i].code, cases[i].message);
    uattn_string_release(&text);
  }
}

#endif /* UATTN_PTX_REFUSAL_FIXTURE_H */
