/* Memory, strings, files and checked arithmetic for every layer above.
 * Layer: support. Must not know: any concept of attention, MLIR or CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_SUPPORT_SUPPORT_H
#define UATTN_SUPPORT_SUPPORT_H

#include <stdarg.h>
#include <stdio.h>

#include "uattn/error.h"

/* Our own bug: prints file, line and a request to report, then aborts. Never
 * used for a user's mistake or for wrong IR. */
#define UATTN_CHECK(condition)                                                 \
  ((condition) ? (void)0 : uattn_check_failed(__FILE__, __LINE__, #condition))
_Noreturn void uattn_check_failed(const char *file, int line,
                                  const char *condition);

/* Host memory that runs out is UATTN_CHECKed: a tool of this kind cannot go
 * on, and a check beside every small allocation would hide the code. Sizes
 * that a file or a user controls go through uattn_try_allocate instead. */
void *uattn_allocate(size_t bytes);        /* zeroed; free with free() */
void *uattn_try_allocate(size_t bytes);    /* zeroed, NULL where it fails */
char *uattn_string_copy(const char *text); /* NULL gives NULL */

/* Objects that live and die together. */
typedef struct uattn_arena uattn_arena_t;
uattn_arena_t *uattn_arena_create(void);
void uattn_arena_destroy(uattn_arena_t *arena); /* accepts NULL */
/* Zeroed, aligned for any type, until the arena is destroyed. */
void *uattn_arena_allocate(uattn_arena_t *arena, size_t bytes);
char *uattn_arena_format(uattn_arena_t *arena, const char *format, ...)
    UATTN_PRINTF(2, 3);

/* A growing, always zero-terminated text. Zero-initialise; release when done.
 */
typedef struct {
  char *data;
  size_t size; /* without the terminator */
  size_t capacity;
} uattn_string_t;
void uattn_string_append(uattn_string_t *string, const char *text);
void uattn_string_append_bytes(uattn_string_t *string, const void *bytes,
                               size_t size);
void uattn_string_appendf(uattn_string_t *string, const char *format, ...)
    UATTN_PRINTF(2, 3);
void uattn_string_appendv(uattn_string_t *string, const char *format,
                          va_list arguments);
/* "" for an empty string; borrowed. */
const char *uattn_string_get(const uattn_string_t *string);
/* Hands the text over (free with free()) and leaves the string empty. */
char *uattn_string_take(uattn_string_t *string);
void uattn_string_release(uattn_string_t *string);

/* False on overflow, with `*out` untouched. */
UATTN_NODISCARD bool uattn_size_add(size_t a, size_t b, size_t *out);
UATTN_NODISCARD bool uattn_size_multiply(size_t a, size_t b, size_t *out);
int64_t uattn_ceil_divide(int64_t value, int64_t divisor);

/* Whole files. `path` "-" is stdin or stdout. The read text is followed by a
 * zero that `*out_size` does not count; free it with free(). A write goes to a
 * temporary name beside the target and is renamed when complete, so that a
 * failure leaves no partial file; a target that is not a regular file (a pipe,
 * /dev/stdout) is written directly. */
UATTN_NODISCARD uattn_error_t *
uattn_file_read(const char *path, char **out_data, size_t *out_size);
UATTN_NODISCARD uattn_error_t *uattn_file_write(const char *path,
                                                const void *data, size_t size);

/* Whether `path` can be written as far as that can be told before: for programs
 * that write when all else is done. */
UATTN_NODISCARD uattn_error_t *uattn_file_check_writable(const char *path);

/* An empty folder of the caller's own in `parent` (NULL or "": /tmp), so that
 * nothing else can name the files in it. Remove it, free its path. */
UATTN_NODISCARD uattn_error_t *uattn_folder_create_scratch(const char *parent,
                                                           char **out_path);

/* At the end of a program that prints: tells where stdout has lost some of it.
 */
UATTN_NODISCARD uattn_error_t *uattn_stdout_flush(void);

/* The folder of the running program, for tools that look for their siblings;
 * NULL where the system does not tell. Free with free(). */
char *uattn_program_directory(void);

/* Runs a program and waits for its end. `arguments` ends with NULL; the first
 * is the program's path (no search, no shell). What it writes on stdout and
 * stderr is appended to `out_messages`, or goes where ours goes for NULL. An
 * exit code of 128 + n says that signal n ended it. */
UATTN_NODISCARD uattn_error_t *uattn_process_run(const char *const *arguments,
                                                 uattn_string_t *out_messages,
                                                 int *out_exit_code);

/* A strict number: the whole of `text`, in range, else false. */
bool uattn_parse_int64(const char *text, int64_t *out_value);
bool uattn_parse_double(const char *text, double *out_value);

#endif /* UATTN_SUPPORT_SUPPORT_H */
