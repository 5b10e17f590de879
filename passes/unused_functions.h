/* Private functions that nothing uses any more.
 * Layer: passes. Must not know: what the functions compute.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_PASSES_UNUSED_FUNCTIONS_H
#define UATTN_PASSES_UNUSED_FUNCTIONS_H

#include "passes/walk.h"

/* The private func.func that `symbol`, a symbol reference, means at `user`;
 * null where there is none or it is no such function. */
MlirOperation uattn_find_private_function(MlirOperation user,
                                          MlirAttribute symbol);

/* Erases those of `functions`, private ones in `root`, that nothing in `root`
 * mentions, then what they alone mentioned, and so on. A mention is looked for
 * in the printed form of ops, since the C API shows neither the symbols in an
 * unregistered op nor those in another dialect's attributes: "@name" in a
 * string keeps a function too. Takes the list's content,
 * in which each stands once. */
void uattn_erase_unused_functions(MlirOperation root,
                                  uattn_op_list_t *functions);

#endif /* UATTN_PASSES_UNUSED_FUNCTIONS_H */
