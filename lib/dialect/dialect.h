/* The uattn dialect in C: context, names, op views, attributes, verifier.
 * Layer: dialect. Must not know: plans, kernels, passes, artifacts, CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_DIALECT_DIALECT_H
#define UATTN_DIALECT_DIALECT_H

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Diagnostics.h>
#include <mlir-c/IR.h>

#include "dialect/names.h"
#include "support/support.h"
#include "uattn/mlir.h"
#include "uattn/problem.h"

/* ---- Context ------------------------------------------------------------ */

typedef struct {
  bool allow_unregistered_dialects;
  bool disable_threading;
} uattn_context_options_t;

/* A context with uattn, all upstream dialects and their LLVM translations;
 * upstream's passes become known to the process. NULL options are all false.
 * The caller owns it: mlirContextDestroy. */
MlirContext uattn_context_create(const uattn_context_options_t *options);

/* The dialect's source as embedded in the library, zero-terminated. */
const char *uattn_dialect_source(void);

/* ---- Source text --------------------------------------------------------- */

/* A .mlir file's content, or bytecode. The text is followed by a zero that
 * `size` does not count, as uattn_file_read gives it. */
typedef struct {
  const char *name; /* as locations shall call it: the path, "<stdin>" */
  const char *text;
  size_t size;
} uattn_source_t;

/* Parses and runs MLIR's verifier; several top-level ops are put in a module.
 * Null after diagnostics through the context, for which `source` is the file
 * that "-" means (uattn_diagnostic_append). The caller owns the module. */
MlirModule uattn_module_parse(MlirContext context,
                              const uattn_source_t *source);

/* Appends "name:line:column: error: message", the line of the source and a
 * mark below the column; then the diagnostic's notes alike. */
void uattn_diagnostic_append(uattn_string_t *text, MlirDiagnostic diagnostic,
                             const uattn_source_t *source);

/* Where a diagnostic stands: the file position that its location holds or is
 * made from. */
typedef struct {
  MlirStringRef file;
  int line; /* 0 where the location has no file */
  int column;
} uattn_position_t;
uattn_position_t uattn_position_of(MlirLocation location,
                                   const uattn_source_t *source);

/* ---- Strings ------------------------------------------------------------ */

static inline MlirStringRef uattn_string_ref(const uattn_string_t *string) {
  return mlirStringRefCreate(uattn_string_get(string), string->size);
}
bool uattn_string_ref_is(MlirStringRef string, const char *text);
/* An MlirStringCallback that appends to the uattn_string_t `user_data`. */
void uattn_string_append_ref(MlirStringRef chunk, void *user_data);
/* As they are printed, for messages; release the string. */
uattn_string_t uattn_type_text(MlirType type);
uattn_string_t uattn_attribute_text(MlirAttribute attribute);
/* The known name that `name` is most like, NULL where none is close. */
const char *uattn_nearest_name(MlirStringRef name, const char *const *known,
                               size_t known_count);

/* ---- Diagnostics -------------------------------------------------------- */

/* An error diagnostic at the op's location. Lower case, no full stop, what was
 * found and what was wanted. */
void uattn_emit_error(MlirOperation op, const char *format, ...)
    UATTN_PRINTF(2, 3);
void uattn_emit_error_at(MlirLocation location, const char *format, ...)
    UATTN_PRINTF(2, 3);

/* Refuses the op's attribute: "NAME is VALUE: expected WANTED", with "missing"
 * for the value of one that the op lacks. Returns false. */
bool uattn_refuse_attribute(MlirOperation op, const char *name,
                            const char *wanted);
/* Refuses the attribute `name` that stands `place` ("on OP", "in DICTIONARY")
 * and says which name was probably meant. */
void uattn_emit_unknown_attribute(MlirOperation op, MlirStringRef name,
                                  const char *place, const char *const *known,
                                  size_t known_count);

/* ---- Ops and their attributes ------------------------------------------- */

/* `name` is one of UATTN_OPNAME_* or any upstream op's name. */
bool uattn_op_is(MlirOperation op, const char *name);

/* The attribute, null where the op has none of that name. */
MlirAttribute uattn_op_get_attribute(MlirOperation op, const char *name);
void uattn_op_set_attribute(MlirOperation op, const char *name,
                            MlirAttribute attribute);

/* True, with the value in `*out_value`, where the op has the attribute and it
 * has that type; else false with `*out_value` untouched. */
bool uattn_op_get_i64(MlirOperation op, const char *name, int64_t *out_value);
/* f32 and f64 alike. */
bool uattn_op_get_f64(MlirOperation op, const char *name, double *out_value);
/* Borrowed from the context. */
bool uattn_op_get_string(MlirOperation op, const char *name,
                         MlirStringRef *out_value);
bool uattn_op_has_unit(MlirOperation op, const char *name);

/* Refuses attributes that are neither in `known` nor another dialect's (with a
 * dot in their name), and says which name was probably meant. */
bool uattn_verify_attribute_names(MlirOperation op, const char *const *known,
                                  size_t known_count);

/* ---- Dynamic attributes and types --------------------------------------- */

/* `name` is one of UATTN_ATTRNAME_* or UATTN_TYPENAME_*. */
bool uattn_attribute_is(MlirAttribute attribute, const char *name);
bool uattn_type_is(MlirType type, const char *name);

/* The parameters in order, as an ArrayAttr (types as TypeAttr); empty where
 * there are none. The C API has no getters: this prints and parses, so keep
 * the answer rather than asking in a loop. Null, after MLIR's diagnostic,
 * where some exotic parameter's text does not parse back; never on a verified
 * op.
 * Precondition: uattn_attribute_is / uattn_type_is one of ours. */
MlirAttribute uattn_parameters_of_attribute(MlirAttribute attribute);
MlirAttribute uattn_parameters_of_type(MlirType type);

/* #NAME<parameters> and !NAME<parameters>; `parameters` as they are printed,
 * "vector<64x64xbf16>, 2 : i64". Our own bug where they do not parse. */
MlirAttribute uattn_attribute_get(MlirContext context, const char *name,
                                  const char *parameters);
MlirType uattn_type_get(MlirContext context, const char *name,
                        const char *parameters);

/* The pipeline level's types. `tile` and `box` are vector types. */
MlirType uattn_smem_type(MlirType tile);
MlirType uattn_ring_type(MlirType tile, int64_t stage_count);
MlirType uattn_tensor_map_type(MlirType box);
MlirType uattn_global_type(MlirType element);
/* The type parameter of any of the four: tile, box or element. Null where the
 * parameter is no type. */
MlirType uattn_type_inner(MlirType type);
/* Of a ring; -1 where the parameter is no i64. */
int64_t uattn_ring_stage_count(MlirType ring);

/* ---- The two attention ops ---------------------------------------------- */

/* Operands and results by meaning; a null value where an optional one is
 * absent. Borrowed from the op. */
typedef struct {
  uattn_op_kind_t kind;
  MlirValue operands[UATTN_OPERAND_COUNT];
  MlirValue results[UATTN_RESULT_COUNT];
} uattn_op_view_t;

/* True for uattn.ranker_attention and uattn.ranker_attention_bwd. */
bool uattn_is_attention_op(MlirOperation op);

/* Precondition: an attention op whose segment sizes are right, as in every
 * verified op. */
uattn_op_view_t uattn_op_view(MlirOperation op);

/* The op as a plain description. A dimension is static where any operand or
 * result says its size.
 * Precondition: an attention op that uattn_verify_op accepted. */
void uattn_problem_from_op(MlirOperation op, uattn_problem_t *out_problem);

#endif /* UATTN_DIALECT_DIALECT_H */
