/* A PTX module as data: what the parser reads and the decoder works from.
 * Layer: emulator. Must not know: how instructions are executed.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Source: PTX ISA 9.0. Everything lives in the module's arena and stays until
 * the module is destroyed. */
#ifndef UATTN_EMULATOR_PTX_SYNTAX_H
#define UATTN_EMULATOR_PTX_SYNTAX_H

#include "support/support.h"

typedef enum {
  PTX_TYPE_NONE = 0,
  PTX_TYPE_PRED,
  PTX_TYPE_B8,
  PTX_TYPE_B16,
  PTX_TYPE_B32,
  PTX_TYPE_B64,
  PTX_TYPE_B128,
  PTX_TYPE_U8,
  PTX_TYPE_U16,
  PTX_TYPE_U32,
  PTX_TYPE_U64,
  PTX_TYPE_S8,
  PTX_TYPE_S16,
  PTX_TYPE_S32,
  PTX_TYPE_S64,
  PTX_TYPE_F16,
  PTX_TYPE_F16X2,
  PTX_TYPE_BF16,
  PTX_TYPE_BF16X2,
  PTX_TYPE_TF32,
  PTX_TYPE_F32,
  PTX_TYPE_F64
} ptx_type_t;

/* "f32" -> PTX_TYPE_F32; PTX_TYPE_NONE where `text` is no type. */
ptx_type_t ptx_type_parse(const char *text, size_t size);
/* 0 for none and pred. */
size_t ptx_type_bytes(ptx_type_t type);
bool ptx_type_is_signed(ptx_type_t type);
bool ptx_type_is_float(ptx_type_t type); /* packed pairs too */

typedef enum {
  PTX_SPACE_GENERIC = 0,
  PTX_SPACE_REG,
  PTX_SPACE_GLOBAL,
  PTX_SPACE_SHARED,
  PTX_SPACE_LOCAL,
  PTX_SPACE_CONST,
  PTX_SPACE_PARAM
} ptx_space_t;

/* A register of one entry. Parameterised declarations (%r<9>) are expanded,
 * names of inner scopes that hide outer ones get registers of their own. */
typedef struct {
  const char *name; /* with its percent sign, as written */
  ptx_type_t type;
} ptx_register_t;

/* A variable that is no register: module scope or entry scope. */
typedef struct {
  const char *name;
  ptx_space_t space;
  ptx_type_t type;
  size_t bytes;     /* 0 for an extern unsized array: dynamic shared memory */
  size_t alignment; /* as declared, else the type's size */
  bool is_extern;
  const uint8_t *initial; /* `bytes` of them, NULL: zeros or undefined */
  int32_t entry;          /* in whose body it is declared, -1: module scope */
  int line;
} ptx_variable_t;

typedef enum {
  PTX_OPERAND_REGISTER, /* `index` into the entry's registers */
  PTX_OPERAND_SPECIAL,  /* %tid.x and the like: `text` "%tid.x" */
  PTX_OPERAND_INTEGER,  /* `bits`, two's complement */
  PTX_OPERAND_FLOAT,    /* `number`; `bits` holds an 0f or 0d literal exactly */
  PTX_OPERAND_VARIABLE, /* the address of variables[index], plus `offset` */
  PTX_OPERAND_PARAMETER, /* the address of params[index], plus `offset` */
  PTX_OPERAND_LABEL,     /* `index`: the instruction that the label precedes,
                            instruction_count at the end of the body */
  PTX_OPERAND_VECTOR,    /* {a, b, ...}: `elements`; a name of .branchtargets
                            is a vector of labels */
  PTX_OPERAND_ADDRESS,   /* [base + offset] or [base, {x, y}] or [base, x]:
                            elements[0] is the base (register, variable,
                            parameter or integer; its own offset is 0, the
                            address has it), the rest what follows the comma,
                            a vector or single operands */
  PTX_OPERAND_PAIR,      /* p|q: two elements */
  PTX_OPERAND_SINK       /* _ */
} ptx_operand_kind_t;

typedef struct ptx_operand {
  ptx_operand_kind_t kind;
  bool is_negated; /* !p of a predicate, or -%r of a register */
  uint32_t index;
  int64_t offset;
  uint64_t bits;
  double number;
  int float_bytes; /* 4 for 0f..., 8 for 0d..., 0 for a decimal literal */
  const char *text;
  const struct ptx_operand *elements;
  uint32_t element_count;
} ptx_operand_t;

/* One instruction. "mad.lo.s32" has the parts "mad", "lo", "s32"; parts keep
 * their double colons ("shared::cta"). */
typedef struct {
  const char *const *parts;
  uint32_t part_count;
  const ptx_operand_t *operands; /* in the order of the text */
  uint32_t operand_count;
  int32_t guard; /* register of @p, -1: none */
  bool guard_is_negated;
  int line;
  const char *text; /* the whole line, trimmed, for messages */
} ptx_instruction_t;

/* A kernel parameter. */
typedef struct {
  const char *name;
  ptx_type_t type;
  size_t bytes; /* of an array: all of it */
  size_t alignment;
  size_t offset; /* in the parameter block */
} ptx_parameter_t;

typedef struct {
  const char *name;
  const ptx_parameter_t *params;
  uint32_t param_count;
  size_t param_bytes;
  const ptx_register_t *registers;
  uint32_t register_count;
  const ptx_instruction_t *instructions;
  uint32_t instruction_count;
  /* Directives, 0 where absent. */
  uint32_t reqntid[3];
  uint32_t maxntid[3];
  uint32_t maxnreg;
  int line;
} ptx_entry_t;

typedef struct {
  uattn_arena_t *arena;
  const char *name; /* for messages: the file's name */
  int version_major;
  int version_minor;
  const char *target;              /* "sm_90a" */
  const ptx_variable_t *variables; /* module scope and all entry scopes */
  uint32_t variable_count;
  const ptx_entry_t *entries;
  uint32_t entry_count;
} ptx_module_t;

/* Parses PTX text (followed by a zero that `size` does not count). A syntax
 * error, an unknown directive, an undeclared or doubly declared name, a label
 * that is nowhere, .func bodies and call: UATTN_ERROR_INVALID_ARGUMENT or
 * _UNSUPPORTED with "name:line: ...". Opcodes are not looked at. */
UATTN_NODISCARD uattn_error_t *ptx_module_parse(const char *name,
                                                const char *text, size_t size,
                                                ptx_module_t **out_module);
/* Accepts NULL. */
void ptx_module_destroy(ptx_module_t *module);

#endif /* UATTN_EMULATOR_PTX_SYNTAX_H */
