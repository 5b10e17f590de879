/* The input cut at its split lines.
 * Layer: tools. Must not know: MLIR, passes, the command line.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_TOOLS_OPT_PIECES_H
#define UATTN_TOOLS_OPT_PIECES_H

#include "support/support.h"

#define OPT_SPLIT_LINE "// -----"

/* Texts that start with as many empty lines as stand before the piece in the
 * file, so that lines keep their numbers; owned. */
typedef struct {
  char **texts;
  size_t *sizes;
  size_t count;
} opt_pieces_t;

/* One piece, a copy of everything, where `splits` is false. */
opt_pieces_t opt_pieces_cut(const char *text, size_t size, bool splits);
void opt_pieces_release(opt_pieces_t *pieces);

#endif /* UATTN_TOOLS_OPT_PIECES_H */
