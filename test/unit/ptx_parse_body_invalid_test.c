/* Tests of what the PTX parser refuses inside of bodies.
 * Layer: test. Must not know: how instructions are executed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ptx_refusal_fixture.h"

static void wrong_bodies_are_refused(void **state) {
  (void)state;
  static const case_t cases[] = {
      {"add.s32 %r0, %r1, %r9;", INVALID,
       "t:3: %r9 is not declared: expected a register, a special register, a "
       "variable or a parameter"},
      {"mov.b32 %r0, nowhere;", INVALID,
       "t:3: nowhere is not declared: expected a register, a variable, a "
       "parameter or a label"},
      {"bra nowhere;", INVALID,
       "t:3: nowhere is not declared: expected a register, a variable, a "
       "parameter or a label"},
      {"bra L; { L: }", INVALID,
       "t:3: L is not declared: expected a register, a variable, a parameter "
       "or a label"},
      {"L: L:", INVALID, "t:3: L is declared twice: expected a new name"},
      {"{ .reg .b32 x; } mov.b32 x, 1;", INVALID,
       "t:3: x is not declared: expected a register, a variable, a parameter "
       "or a label"},
      {".reg .b32 %r1;", INVALID,
       "t:3: %r1 is declared twice: expected a new name"},
      {".reg .b32 a;", INVALID,
       "t:3: a is declared twice: expected a new name"},
      {".reg .b32 x, x;", INVALID,
       "t:3: x is declared twice: expected a new name"},
      {".reg .v2 .b32 x;", UNSUPPORTED,
       "t:3: vector registers are not supported: expected one register a "
       "component"},
      {".reg .b32 x<131073>;", UNSUPPORTED,
       "t:3: 131083 registers are declared in one entry: expected at most "
       "131072"},
      {".reg .b32 x<-1>;", INVALID,
       "t:3: the number of registers is -1: expected 0 to 4294967295"},
      {".reg .b32 x<99999999999999999999>;", INVALID,
       "t:3: found `99999999999999999999`, a number of more than 64 bits: "
       "expected an integer"},
      {".reg b32 x;", INVALID, "t:3: found `b32`: expected a type"},
      {".reg .b32;", INVALID, "t:3: found `;`: expected a register's name"},
      {".reg .b32 x", INVALID, "t:4: found `ret`: expected `;`"},
      {".reg .b32 x<2;", INVALID, "t:3: found `;`: expected `>`"},
      {"mov.u32 %r0, %tid;", INVALID,
       "t:3: %tid stands without a component: expected .x, .y or .z after it"},
      {"mov.u32 %r0, %tid.w;", INVALID,
       "t:3: %tid stands without a component: expected .x, .y or .z after it"},
      {"mov.u32 %r0, %nothing;", INVALID,
       "t:3: %nothing is not declared: expected a register, a special "
       "register, a variable or a parameter"},
      {"mov.u32 %r0, %r1.x;", INVALID, "t:3: found `.x`: expected `,` or `;`"},
      {"mov.u32 %r0 %r1;", INVALID, "t:3: found `%r1`: expected `,` or `;`"},
      {"mov.u32 %r0,, %r1;", INVALID, "t:3: found `,`: expected an operand"},
      {"mov.u32 %r0, ;", INVALID, "t:3: found `;`: expected an operand"},
      {"mov.u32 %r0, %r1", INVALID, "t:4: found `ret`: expected `,` or `;`"},
      {"ld.global.b32 %r0, [%rd0;", INVALID, "t:3: found `;`: expected `]`"},
      {"ld.global.b32 %r0, [];", INVALID,
       "t:3: found `]`: expected an operand"},
      {"ld.global.b32 %r0, [1.5];", INVALID,
       "t:3: an address has no base: expected a register, a variable, a "
       "parameter or an integer"},
      {"ld.global.b32 %r0, [!%p0];", INVALID,
       "t:3: an address has no base: expected a register, a variable, a "
       "parameter or an integer"},
      {"ld.global.b32 %r0, [_];", INVALID,
       "t:3: an address has no base: expected a register, a variable, a "
       "parameter or an integer"},
      {"ld.global.b32 %r0, [%rd0+%rd1];", INVALID,
       "t:3: found `%rd1`: expected an integer"},
      {"ld.global.b32 %r0, [nowhere];", INVALID,
       "t:3: nowhere is not declared: expected a register, a special register, "
       "a variable or a parameter"},
      {"ld.global.b32 %r0, [%rd0, ];", INVALID,
       "t:3: found `]`: expected an operand"},
      {"mov.b64 {%r0, %r1, %rd0;", INVALID, "t:3: found `;`: expected `}`"},
      {"mov.b64 {%r0; %r1}, %rd0;", INVALID, "t:3: found `;`: expected `}`"},
      {"mov.b64 {}, %rd0;", INVALID, "t:3: found `}`: expected an operand"},
      {"mov.b64 {{%r0}}, %rd0;", INVALID,
       "t:3: found `{`: expected an operand"},
      {"mov.b64 {%r0, nowhere}, %rd0;", INVALID,
       "t:3: nowhere is not declared: expected a register, a special register, "
       "a variable or a parameter"},
      {"setp.eq.s32 %p0|5, %r0, %r1;", INVALID,
       "t:3: the second of a pair is no register: expected one"},
      {"setp.eq.s32 %p0|, %r0, %r1;", INVALID,
       "t:3: found `,`: expected an operand"},
      {"mov.u32 %r0, -a;", INVALID, "t:3: a is negated: expected a register"},
      {"mov.u32 %r0, -WARP_SZ;", INVALID,
       "t:3: found `WARP_SZ`: expected a register"},
      {"mov.u32 %r0, !5;", INVALID, "t:3: found `5`: expected an operand"},
      {"mov.u64 %rd0, generic(a);", UNSUPPORTED,
       "t:3: the operator generic() is not supported in operands: expected "
       "cvta"},
      {"mov.u64 %rd0, mask(a);", INVALID,
       "t:3: mask is not declared: expected a register, a special register, a "
       "variable or a parameter"},
      {"mov.u32 %r0, 0xFF(a);", UNSUPPORTED,
       "t:3: the mask operator 0xFF() is not supported: expected a number "
       "alone"},
      {"mov.u32 %r0, 08;", INVALID,
       "t:3: found `08`, a malformed number: expected an operand"},
      {"mov.u32 %r0, 0x;", INVALID,
       "t:3: found `0x`, a malformed number: expected an operand"},
      {"mov.u32 %r0, 0b12;", INVALID,
       "t:3: found `0b12`, a malformed number: expected an operand"},
      {"mov.u32 %r0, 12u;", INVALID,
       "t:3: found `12u`, a malformed number: expected an operand"},
      {"mov.u32 %r0, 18446744073709551616;", INVALID,
       "t:3: found `18446744073709551616`, a number of more than 64 bits: "
       "expected an operand"},
      {"mov.f32 %r0, 0f3F8;", INVALID,
       "t:3: found `0f3F8`, a malformed number: expected an operand"},
      {"mov.f32 %r0, 0f3F80000G;", INVALID,
       "t:3: found `0f3F80000G`, a malformed number: expected an operand"},
      {"mov.f32 %r0, 1e999;", INVALID,
       "t:3: found `1e999`, a malformed number: expected an operand"},
      {"mov.f32 %r0, 1.5.2;", INVALID,
       "t:3: found `1.5.2`, a malformed number: expected an operand"},
      {"mov.f32 %r0, 1.5+2.5;", INVALID, "t:3: found `+`: expected `,` or `;`"},
      {"mov.f32 %r0, 1e;", INVALID,
       "t:3: found `1e`, a malformed number: expected an operand"},
      {"@%r0 bra L; L:", INVALID,
       "t:3: %r0 guards an instruction: expected a predicate register"},
      {"@5 bra L; L:", INVALID, "t:3: found `5`: expected a predicate"},
      {"@nowhere bra L; L:", INVALID,
       "t:3: nowhere guards an instruction: expected a predicate register"},
      {"@a ret;", INVALID,
       "t:3: a guards an instruction: expected a predicate register"},
      {"@%p0 { ret; }", INVALID, "t:3: found `{`: expected an instruction"},
      {"@ ret;", INVALID,
       "t:3: ret guards an instruction: expected a predicate register"},
      {";", INVALID,
       "t:3: found `;`: expected an instruction, a label, a directive or `}`"},
      {"call f;", UNSUPPORTED,
       "t:3: call is not supported: expected functions to be inlined"},
      {"call.uni (%r0), f, (%r1);", UNSUPPORTED,
       "t:3: call is not supported: expected functions to be inlined"},
      {".param .b32 x;", UNSUPPORTED,
       "t:3: .param in a body serves calls, which are not supported: expected "
       "functions to be inlined"},
      {".callprototype _;", UNSUPPORTED,
       "t:3: .callprototype in a body serves calls, which are not supported: "
       "expected functions to be inlined"},
      {"T: .callprototype _;", UNSUPPORTED,
       "t:3: .callprototype in a body serves calls, which are not supported: "
       "expected functions to be inlined"},
      {".branchtargets L;", INVALID,
       "t:3: found `.branchtargets`: expected a directive of a body, an "
       "instruction, a label or `}`"},
      {"T: .branchtargets L;", INVALID,
       "t:3: L is not declared: expected a register, a variable, a parameter "
       "or a label"},
      {"T: .branchtargets T;", INVALID,
       "t:3: the branch target T is a list of targets: expected the label of "
       "an instruction"},
      {"T: .branchtargets 5;", INVALID, "t:3: found `5`: expected a label"},
      {"T: .branchtargets L L:", INVALID, "t:3: found `L`: expected `;`"},
      {".extern .global .b32 x;", INVALID,
       "t:3: found `.global`: expected `.shared`"},
      {".version 8.3", INVALID,
       "t:3: found `.version`: expected a directive of a body, an instruction, "
       "a label or `}`"},
      {".loc 1 2", INVALID, "t:4: found `ret`: expected an integer"},
      {".loc 1 2 3, nothing", INVALID,
       "t:3: found `nothing`: expected `function_name`"},
      {".loc 1 2 3, function_name L, foo", INVALID,
       "t:3: found `foo`: expected `inlined_at`"},
      {".loc 1 2 3, function_name L", INVALID,
       "t:4: found `ret`: expected `,`"},
      {".pragma ;", INVALID, "t:3: found `;`: expected a pragma in quotes"},
      {"@@ret;", INVALID, "t:3: found `@`: expected a predicate"},
      {"\"text\"", INVALID,
       "t:3: found `\"text\"`: expected an instruction, a label, a directive "
       "or `}`"},
      {"5", INVALID,
       "t:3: found `5`: expected an instruction, a label, a directive or `}`"},
      {"tex.2d.v4.f32.f32 {%r0}, [a, {%r1}] %r1;", INVALID,
       "t:3: found `%r1`: expected `,` or `;`"},
  };
  check_cases(cases, COUNT_OF(cases), PTX_BODY, PTX_END);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_bodies_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
