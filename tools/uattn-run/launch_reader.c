/* One line of a launch description, taken word by word.
 * Layer: tools. Must not know: what the words mean.
 * SPDX-License-Identifier: Apache-2.0 */
#include "launch_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

uattn_error_t *launch_wrong(const launch_reader_t *reader, const char *format,
                            ...) {
  uattn_string_t text = {0};
  uattn_string_appendf(&text, "%s:%d: ", reader->name, reader->line);
  va_list arguments;
  va_start(arguments, format);
  uattn_string_appendv(&text, format, arguments);
  va_end(arguments);
  uattn_error_t *error = uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT, "%s",
                                            uattn_string_get(&text));
  uattn_string_release(&text);
  return error;
}

const char *launch_take(launch_reader_t *reader) {
  return reader->next < reader->word_count ? reader->words[reader->next++]
                                           : NULL;
}

uattn_error_t *launch_take_wanted(launch_reader_t *reader, const char *wanted,
                                  const char **out_word) {
  *out_word = launch_take(reader);
  return *out_word ? NULL
                   : launch_wrong(reader, "the line ends: expected %s", wanted);
}

uattn_error_t *launch_read_sizes(const launch_reader_t *reader,
                                 const char *what, const char *word, int limit,
                                 int64_t least, int64_t *out_sizes,
                                 int *out_count) {
  char *copy = uattn_string_copy(word);
  char *rest = copy;
  int count = 0;
  bool is_right = true;
  for (char *size = strsep(&rest, "x"); size && is_right;
       size = strsep(&rest, "x"), ++count)
    is_right = count < limit && uattn_parse_int64(size, &out_sizes[count]) &&
               out_sizes[count] >= least;
  free(copy);
  *out_count = count;
  return is_right
             ? NULL
             : launch_wrong(reader,
                            "%s is '%s': expected 1 to %d numbers from %" PRId64
                            " such as 64x16",
                            what, word, limit, least);
}

uattn_error_t *launch_split_words(launch_reader_t *reader, char *line) {
  line[strcspn(line, "#")] = '\0';
  reader->word_count = 0;
  reader->next = 0;
  char *rest = line;
  for (char *word = strsep(&rest, " \t\r"); word;
       word = strsep(&rest, " \t\r")) {
    if (!*word)
      continue;
    if (reader->word_count == LAUNCH_WORD_LIMIT)
      return launch_wrong(reader, "more than %d words in a line",
                          LAUNCH_WORD_LIMIT);
    reader->words[reader->word_count++] = word;
  }
  return NULL;
}
