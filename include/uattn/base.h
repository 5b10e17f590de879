/* Export and version macros that every public header needs.
 * Layer: support (public). Must not know: anything else of uattn.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_BASE_H
#define UATTN_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define UATTN_EXPORT __attribute__((visibility("default")))
#define UATTN_NODISCARD __attribute__((warn_unused_result))
#define UATTN_PRINTF(format_index, first_index)                                \
  __attribute__((format(printf, format_index, first_index)))
#else
#define UATTN_EXPORT
#define UATTN_NODISCARD
#define UATTN_PRINTF(format_index, first_index)
#endif

/* A change of the major number breaks the binary interface, a change of the
 * minor number adds to it. */
#define UATTN_ABI_MAJOR 0
#define UATTN_ABI_MINOR 2

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  int32_t abi_major;
  int32_t abi_minor;
} uattn_version_t;

/* The ABI version that the library was built with; compare with the macros
 * above to find a header that does not belong to the library. */
UATTN_EXPORT uattn_version_t uattn_version(void);

#ifdef __cplusplus
}
#endif

#endif /* UATTN_BASE_H */
