/* Rows of the pass table as passes that MLIR's pass manager runs.
 * Layer: passes. Must not know: pipelines' text, the command line.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/external_pass.h"

#include "dialect/dialect.h"
#include "passes/pass_options.h"

#include <mlir-c/Dialect/Arith.h>
#include <mlir-c/Dialect/ControlFlow.h>
#include <mlir-c/Dialect/GPU.h>
#include <mlir-c/Dialect/Index.h>
#include <mlir-c/Dialect/LLVM.h>
#include <mlir-c/Dialect/Math.h>
#include <mlir-c/Dialect/NVVM.h>
#include <mlir-c/Dialect/SCF.h>
#include <mlir-c/Dialect/UB.h>
#include <mlir-c/Dialect/Vector.h>
#include <stdlib.h>

/* One a pass and one a clone; MLIR clones a pass for every thread. */
typedef struct {
  const uattn_pass_t *pass; /* NULL: the verifier alone */
  uattn_pass_options_t *options;
  bool verifies_after;
} external_pass_t;

static void construct_nothing(void *user_data) { (void)user_data; }

static void destruct(void *user_data) {
  external_pass_t *external = user_data;
  uattn_pass_options_destroy(external->options);
  free(external);
}

static void *clone(void *user_data) {
  const external_pass_t *external = user_data;
  external_pass_t *copy = uattn_allocate(sizeof *copy);
  *copy = *external;
  if (external->options)
    copy->options = uattn_pass_options_copy(external->options);
  return copy;
}

static void run(MlirOperation op, MlirExternalPass self, void *user_data) {
  const external_pass_t *external = user_data;
  bool is_right = !external->pass || external->pass->run(op, external->options);
  if (is_right && external->verifies_after)
    is_right = uattn_verify_module(op);
  if (!is_right)
    mlirExternalPassSignalFailure(self);
}

static MlirPass create(const external_pass_t *facts, const void *identity,
                       const char *flag, const char *summary,
                       const char *anchor) {
  external_pass_t *external = uattn_allocate(sizeof *external);
  *external = *facts;
  MlirExternalPassCallbacks callbacks = {.construct = construct_nothing,
                                         .destruct = destruct,
                                         .clone = clone,
                                         .run = run};
  /* What our passes, and upstream's inside them, build: MLIR loads no dialect
   * once passes run. */
  MlirDialectHandle built[] = {
      mlirGetDialectHandle__arith__(), mlirGetDialectHandle__cf__(),
      mlirGetDialectHandle__gpu__(),   mlirGetDialectHandle__index__(),
      mlirGetDialectHandle__llvm__(),  mlirGetDialectHandle__math__(),
      mlirGetDialectHandle__nvvm__(),  mlirGetDialectHandle__scf__(),
      mlirGetDialectHandle__ub__(),    mlirGetDialectHandle__vector__()};
  return mlirCreateExternalPass(
      mlirTypeIDCreate(identity), mlirStringRefCreateFromCString(flag),
      mlirStringRefCreateFromCString(flag),
      mlirStringRefCreateFromCString(summary),
      mlirStringRefCreateFromCString(anchor), sizeof built / sizeof *built,
      built, callbacks, external);
}

MlirPass uattn_external_pass_create(const uattn_pass_t *pass,
                                    uattn_pass_options_t *owned_options,
                                    bool verifies_after) {
  external_pass_t facts = {pass, owned_options, verifies_after};
  return create(&facts, pass, pass->flag, pass->summary, pass->anchor);
}

MlirPass uattn_external_verifier_create(void) {
  static const max_align_t identity;
  external_pass_t facts = {.verifies_after = true};
  return create(&facts, &identity, "uattn-verify-each",
                "Checks uattn's ops after a pass.", "");
}
