/* The input cut at its split lines.
 * Layer: tools. Must not know: MLIR, passes, the command line.
 * SPDX-License-Identifier: Apache-2.0 */
#include "opt_pieces.h"

#include <stdlib.h>
#include <string.h>

static void append(opt_pieces_t *pieces, size_t lines_before, const char *start,
                   size_t size) {
  size_t count = pieces->count + 1;
  pieces->texts = realloc(pieces->texts, count * sizeof *pieces->texts);
  pieces->sizes = realloc(pieces->sizes, count * sizeof *pieces->sizes);
  UATTN_CHECK(pieces->texts && pieces->sizes);
  char *text = uattn_allocate(lines_before + size + 1);
  memset(text, '\n', lines_before);
  memcpy(text + lines_before, start, size);
  pieces->texts[pieces->count] = text;
  pieces->sizes[pieces->count] = lines_before + size;
  pieces->count = count;
}

static bool is_split_line(const char *start, const char *end) {
  size_t mark_size = sizeof OPT_SPLIT_LINE - 1;
  while (end > start && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
    --end;
  return (size_t)(end - start) == mark_size &&
         memcmp(start, OPT_SPLIT_LINE, mark_size) == 0;
}

opt_pieces_t opt_pieces_cut(const char *text, size_t size, bool splits) {
  opt_pieces_t pieces = {0};
  const char *end = text + size;
  const char *piece = text;
  size_t line = 0;
  size_t piece_line = 0;
  for (const char *at = text; splits && at < end;) {
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    const char *next = line_end ? line_end + 1 : end;
    ++line;
    if (is_split_line(at, line_end ? line_end : end)) {
      append(&pieces, piece_line, piece, (size_t)(at - piece));
      piece = next;
      piece_line = line;
    }
    at = next;
  }
  append(&pieces, piece_line, piece, (size_t)(end - piece));
  return pieces;
}

void opt_pieces_release(opt_pieces_t *pieces) {
  for (size_t index = 0; index < pieces->count; ++index)
    free(pieces->texts[index]);
  free(pieces->texts);
  free(pieces->sizes);
}
