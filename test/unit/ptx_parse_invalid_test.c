/* Tests of what the PTX parser refuses outside of bodies.
 * Layer: test. Must not know: how instructions are executed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ptx_refusal_fixture.h"

static void wrong_modules_are_refused(void **state) {
  (void)state;
  static const case_t cases[] = {
      {"", INVALID, "t:1: found the end of the text: expected `.version`"},
      {".target sm_90a", INVALID, "t:1: found `.target`: expected `.version`"},
      {".version 8", INVALID, "t:1: found `8`: expected a version such as 8.3"},
      {".version 8.3e1 .target sm_90", INVALID,
       "t:1: found `8.3e1`: expected a version such as 8.3"},
      {".version 123456.1", INVALID,
       "t:1: found `123456.1`: expected a version such as 8.3"},
      {".version 10.0 .target sm_90", UNSUPPORTED,
       "t:1: the PTX version is 10.0: expected at most 9"},
      {".version 8.3", INVALID,
       "t:1: found the end of the text: expected `.target`"},
      {".version 8.3 .target", INVALID,
       "t:1: found the end of the text: expected a target"},
      {".version 8.3 .target debug\n.address_size 64", INVALID,
       "t:2: no target is given: expected sm_..."},
      {".version 8.3 .target map_f64_to_f32", UNSUPPORTED,
       "t:1: the target map_f64_to_f32 is not supported: expected sm_..., "
       "texmode_unified, texmode_independent or debug"},
      {".version 8.3 .target sm_90a .address_size 32", UNSUPPORTED,
       "t:1: addresses have 32 bits: expected 64"},
      {".version 8.3 .target sm_90a .address_size x", INVALID,
       "t:1: found `x`: expected an integer"},
      {PTX_HEAD "mov.u32 %r1, %r2;", INVALID,
       "t:2: found `mov`: expected a directive of a module"},
      {PTX_HEAD "}", INVALID,
       "t:2: found `}`: expected a directive of a module"},
      {PTX_HEAD ".foo", INVALID,
       "t:2: found `.foo`: expected a directive of a module"},
      {PTX_HEAD ".visible .foo", INVALID,
       "t:2: found `.foo`: expected `.entry` or a variable's state space"},
      {PTX_HEAD ".func f { ret; }", UNSUPPORTED,
       "t:2: the function f is not supported: expected entries with all "
       "functions inlined"},
      {PTX_HEAD ".visible .func (.param .b32 r) f(.param .b32 a);", UNSUPPORTED,
       "t:2: the function f is not supported: expected entries with all "
       "functions inlined"},
      {PTX_HEAD ".func (", INVALID,
       "t:2: found the end of the text: expected a function's name"},
      {PTX_HEAD ".alias f, g;", UNSUPPORTED,
       "t:2: .alias is not supported: expected entries with all functions "
       "inlined"},
      {PTX_HEAD ".file 1", INVALID,
       "t:2: found the end of the text: expected a file's name in quotes"},
      {PTX_HEAD ".file \"x\"", INVALID,
       "t:2: found `\"x\"`: expected an integer"},
      {PTX_HEAD ".file 1 \"x", INVALID,
       "t:2: found `\"x`, a string without its closing quote: expected a "
       "file's name in quotes"},
      {PTX_HEAD ".pragma nounroll;", INVALID,
       "t:2: found `nounroll`: expected a pragma in quotes"},
      {PTX_HEAD ".section .debug_str { .b8 1", INVALID,
       "t:2: found the end of the text: expected `}` at the end of the "
       "section"},
      {PTX_HEAD ".section { }", INVALID,
       "t:2: found `{`: expected a section's name"},
      {PTX_HEAD ".section .x 3", INVALID, "t:2: found `3`: expected `{`"},
      {PTX_HEAD "/* open", INVALID,
       "t:2: found `/*`, a comment without its end: expected a directive of a "
       "module"},
      {PTX_HEAD ". ", INVALID,
       "t:2: found `.`, a dot without a name: expected a directive of a "
       "module"},
      {PTX_HEAD "\001", INVALID,
       "t:2: found `\\x01`, a character that starts nothing: expected a "
       "directive of a module"},
      {PTX_HEAD "#line 1", INVALID,
       "t:2: found `#`, a character that starts nothing: expected a directive "
       "of a module"},
      {PTX_HEAD ".reg .b32 %r;", INVALID,
       "t:2: found `.reg`: expected a directive of a module"},
      {PTX_HEAD ".common .entry k { ret; }", INVALID,
       "t:2: found `.entry`: expected a variable's state space"},
  };
  check_cases(cases, COUNT_OF(cases), "", "");
}

static void wrong_variables_are_refused(void **state) {
  (void)state;
  static const case_t cases[] = {
      {".global x;", INVALID, "t:2: found `x`: expected a type"},
      {".global .v3 .b32 x;", INVALID, "t:2: found `.v3`: expected a type"},
      {".global .b32;", INVALID, "t:2: found `;`: expected a variable's name"},
      {".global .b32 x", INVALID,
       "t:2: found the end of the text: expected `;`"},
      {".global .b32 x; .global .b32 x;", INVALID,
       "t:2: x is declared twice: expected a new name"},
      {".extern .shared .b8 x[]; .global .b8 x;", INVALID,
       "t:2: x is declared twice: expected a new name"},
      {".global .b32 x[0];", INVALID,
       "t:2: the length of an array is 0: expected 1 to 4294967296"},
      {".global .b32 x[-1];", INVALID,
       "t:2: the length of an array is -1: expected 1 to 4294967296"},
      {".global .b32 x[2;", INVALID, "t:2: found `;`: expected `]`"},
      {".global .b32 x[];", INVALID,
       "t:2: x is an array without a length: expected one, or .extern .shared"},
      {".global .b32 x[2][];", INVALID, "t:2: found `]`: expected an integer"},
      {".shared .b32 x[];", INVALID,
       "t:2: x is an array without a length: expected one, or .extern .shared"},
      {".extern .global .b32 x[];", INVALID,
       "t:2: x is an array without a length: expected one, or .extern .shared"},
      {".global .b8 x[1][1][1][1][1][1][1][1][1];", UNSUPPORTED,
       "t:2: an array has 9 dimensions or more: expected at most 8"},
      {".global .b8 x[4294967296][2];", UNSUPPORTED,
       "t:2: x is too large: expected at most 4294967296 bytes"},
      {".global .b8 x[][4294967296][4294967296][4294967296];", UNSUPPORTED,
       "t:2: x is too large: expected at most 4294967296 bytes"},
      {".global .pred x;", INVALID,
       "t:2: a variable has type pred: expected a type with a size"},
      {".global .align 3 .b8 x;", INVALID,
       "t:2: the alignment is 3: expected a power of two"},
      {".global .align 0 .b8 x;", INVALID,
       "t:2: the alignment is 0: expected 1 to 65536"},
      {".global .align 131072 .b8 x;", INVALID,
       "t:2: the alignment is 131072: expected 1 to 65536"},
      {".global .attribute(.managed) .b32 x;", UNSUPPORTED,
       "t:2: attributes of variables are not supported: expected none"},
      {".global .texref t;", INVALID, "t:2: found `.texref`: expected a type"},
      {".local .b32 x;", INVALID,
       "t:2: a .local variable stands outside of entries: expected it in a "
       "body"},
      {".shared .b32 x = 1;", INVALID,
       "t:2: x has an initial value: expected one for .global and .const "
       "alone, without .extern"},
      {".extern .const .b32 x = 1;", INVALID,
       "t:2: x has an initial value: expected one for .global and .const "
       "alone, without .extern"},
      {".global .f16 x = 0x3C00;", UNSUPPORTED,
       "t:2: x has an initial value: expected an integer type of up to 64 "
       "bits, f32 or f64"},
      {".global .b128 x = 1;", UNSUPPORTED,
       "t:2: x has an initial value: expected an integer type of up to 64 "
       "bits, f32 or f64"},
      {".global .f32 x = 1;", INVALID,
       "t:2: an initial value of x is an integer: expected a floating-point "
       "number"},
      {".global .u32 x = 1.5;", INVALID,
       "t:2: found `1.5`: expected an integer"},
      {".global .u32 x[2] = {1,2,3};", INVALID,
       "t:2: x has too many initial values: expected 2 between these braces"},
      {".global .u32 x[2] = 1;", INVALID, "t:2: found `1`: expected `{`"},
      {".global .u32 x = {1};", INVALID, "t:2: found `{`: expected an integer"},
      {".global .u32 x[2][2] = {1};", INVALID, "t:2: found `1`: expected `{`"},
      {".global .u32 x[2] = {1,};", INVALID,
       "t:2: found `}`: expected an integer"},
      {".global .u32 x[2] = {1;", INVALID, "t:2: found `;`: expected `}`"},
      {".global .u32 y; .global .u64 x = y;", UNSUPPORTED,
       "t:2: an initial value of x is the address `y`, which is not supported: "
       "expected a number"},
      {".global .u64 x = generic(y)+8;", UNSUPPORTED,
       "t:2: an initial value of x is the address `generic`, which is not "
       "supported: expected a number"},
      {".global .u64 x = 0xFF(y);", UNSUPPORTED,
       "t:2: the mask operator 0xFF() is not supported: expected a number "
       "alone"},
      {".global .u32 x = 1/0;", INVALID,
       "t:2: a constant is divided by zero: expected another divisor"},
      {".global .u32 x = 1%(2-2);", INVALID,
       "t:2: a constant is divided by zero: expected another divisor"},
      {".global .u32 x = (1;", INVALID, "t:2: found `;`: expected `)`"},
      {".global .b8 x[67108865] = {1};", UNSUPPORTED,
       "t:2: initial values take too much: expected at most 67108864 bytes"},
      {".global .b8 s[] = \"abc\";", INVALID,
       "t:2: found `\"abc\"`: expected `{`"},
      {".global .b32 x = 1 ? 2 : 3;", INVALID, "t:2: found `?`: expected `;`"},
      {".global .b8 x[] = {};", INVALID,
       "t:2: x is an array without a length: expected one, or .extern .shared"},
  };
  check_cases(cases, COUNT_OF(cases), PTX_HEAD, "");
}

static void wrong_entries_are_refused(void **state) {
  (void)state;
  static const case_t cases[] = {
      {".entry", INVALID,
       "t:2: found the end of the text: expected an entry's name"},
      {".entry 5", INVALID, "t:2: found `5`: expected an entry's name"},
      {".entry k", INVALID,
       "t:2: found the end of the text: expected a directive of an entry, `{` "
       "or `;`"},
      {".entry k(", INVALID,
       "t:2: found the end of the text: expected `.param`"},
      {".entry k(.param)", INVALID, "t:2: found `)`: expected a type"},
      {".entry k(.param .u32)", INVALID,
       "t:2: found `)`: expected a parameter's name"},
      {".entry k(.param .u32 a,)", INVALID,
       "t:2: found `)`: expected `.param`"},
      {".entry k(.param .u32 a .param .u32 b)", INVALID,
       "t:2: found `.param`: expected `)`"},
      {".entry k(.param .u32 a, .param .u32 a) { ret; }", INVALID,
       "t:2: a is declared twice: expected a new name"},
      {".entry k(.param .b8 a[]) { ret; }", INVALID,
       "t:2: the parameter a has no size: expected a type and a length that "
       "give one"},
      {".entry k(.param .pred a) { ret; }", INVALID,
       "t:2: the parameter a has no size: expected a type and a length that "
       "give one"},
      {".entry k(.param .b8 a[40000]) { ret; }", INVALID,
       "t:2: the parameters up to a are too large: expected at most 32764 "
       "bytes"},
      {".entry k(.param .b8 a[32764], .param .b8 b) { ret; }", INVALID,
       "t:2: the parameters up to b are too large: expected at most 32764 "
       "bytes"},
      {".entry k(.param .b64 a[4611686018427387904]) { ret; }", INVALID,
       "t:2: the length of an array is 4611686018427387904: expected 1 to "
       "4294967296"},
      {".entry k(.param .b64 a[4294967296][4294967296][4294967296]) { ret; }",
       INVALID,
       "t:2: the parameters up to a are too large: expected at most 32764 "
       "bytes"},
      {".entry k(.reg .b32 a) { ret; }", INVALID,
       "t:2: found `.reg`: expected `.param`"},
      {".entry k(.param .texref a) { ret; }", INVALID,
       "t:2: found `.texref`: expected a type"},
      {".entry k() .reqntid 0 { ret; }", INVALID,
       "t:2: .reqntid is 0: expected 1 to 1024"},
      {".entry k() .reqntid 1,2,3,4 { ret; }", INVALID,
       "t:2: found `,`: expected a directive of an entry, `{` or `;`"},
      {".entry k() .reqntid 2048 { ret; }", INVALID,
       "t:2: .reqntid is 2048: expected 1 to 1024"},
      {".entry k() .reqnctapercluster 2 { ret; }", UNSUPPORTED,
       "t:2: k wants clusters of 2 x 1 x 1: expected 1 x 1 x 1"},
      {".entry k() .foo { ret; }", INVALID,
       "t:2: found `.foo`: expected a directive of an entry, `{` or `;`"},
      {".entry k() .maxnreg x { ret; }", INVALID,
       "t:2: found `x`: expected an integer"},
      {".entry k { ret; } .entry k { ret; }", INVALID,
       "t:2: k is declared twice: expected a new name"},
      {".global .b32 k; .entry k { ret; }", INVALID,
       "t:2: k is declared twice: expected a new name"},
      {".entry k { ret;", INVALID,
       "t:2: found the end of the text: expected an instruction, a label, a "
       "directive or `}`"},
      {".entry k { { ret; }", INVALID,
       "t:2: found the end of the text: expected an instruction, a label, a "
       "directive or `}`"},
      {".entry k { ret; } }", INVALID,
       "t:2: found `}`: expected a directive of a module"},
  };
  check_cases(cases, COUNT_OF(cases), PTX_HEAD, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_modules_are_refused),
      cmocka_unit_test(wrong_variables_are_refused),
      cmocka_unit_test(wrong_entries_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
