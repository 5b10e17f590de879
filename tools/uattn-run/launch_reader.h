/* One line of a launch description, taken word by word.
 * Layer: tools. Must not know: what the words mean.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_LAUNCH_READER_H
#define UATTN_RUN_LAUNCH_READER_H

#include "launch_description.h"

enum { LAUNCH_WORD_LIMIT = 24 };

/* One line, cut into words. */
typedef struct {
  launch_description_t *description;
  const char *name; /* of the text */
  int line;
  char *words[LAUNCH_WORD_LIMIT];
  size_t word_count;
  size_t next; /* word that has not been taken */
} launch_reader_t;

/* "NAME:LINE: ..." */
UATTN_NODISCARD uattn_error_t *launch_wrong(const launch_reader_t *reader,
                                            const char *format, ...)
    UATTN_PRINTF(2, 3);

/* Cuts the line in place; # begins a comment. */
UATTN_NODISCARD uattn_error_t *launch_split_words(launch_reader_t *reader,
                                                  char *line);

/* NULL at the end of the line. */
const char *launch_take(launch_reader_t *reader);
UATTN_NODISCARD uattn_error_t *launch_take_wanted(launch_reader_t *reader,
                                                  const char *wanted,
                                                  const char **out_word);

/* "4x50x80", numbers from `least`: `out_sizes` has room for `limit`. */
UATTN_NODISCARD uattn_error_t *
launch_read_sizes(const launch_reader_t *reader, const char *what,
                  const char *word, int limit, int64_t least,
                  int64_t *out_sizes, int *out_count);

/* BUFFER has been taken: [dims D] [element E] ... box B (launch_map.c). */
UATTN_NODISCARD uattn_error_t *launch_read_map(launch_reader_t *reader,
                                               launch_argument_t *argument);

#endif /* UATTN_RUN_LAUNCH_READER_H */
