/* Tests of what the PTX parser reads inside of bodies.
 * Layer: test. Must not know: how instructions are executed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ptx_dump.h"
#include "ptx_parse_fixture.h"

static ptx_module_t *parse_body(const char *body) {
  uattn_string_t text = {0};
  uattn_string_appendf(&text, "%s%s%s", PTX_BODY, body, PTX_END);
  ptx_module_t *module = parse_ptx(text.data);
  uattn_string_release(&text);
  return module;
}

/* The operands of the first instruction, joined by commas. */
static void assert_operands(const char *body, const char *wanted) {
  ptx_module_t *module = parse_body(body);
  const ptx_entry_t *entry = &module->entries[0];
  const ptx_instruction_t *instruction = &entry->instructions[0];
  uattn_string_t text = {0};
  for (uint32_t i = 0; i < instruction->operand_count; ++i) {
    uattn_string_append(&text, i > 0 ? ", " : "");
    ptx_dump_operand(module, entry, &instruction->operands[i], &text);
  }
  assert_string_equal(uattn_string_get(&text), wanted);
  uattn_string_release(&text);
  ptx_module_destroy(module);
}

static void operands_of_every_kind_are_read(void **state) {
  (void)state;
  static const struct {
    const char *body;
    const char *operands;
  } cases[] = {
      {"x %r1;", "reg#4=%r1"},
      {"x -%r1;", "not reg#4=%r1"},
      {"x !%p1;", "not reg#1=%p1"},
      {"x %tid.x, %ctaid.y, %nctaid.z, %clock64;",
       "special %tid.x, special %ctaid.y, special %nctaid.z, special %clock64"},
      {"x 5, -5, 0x10, 017, 0b11, 7U, WARP_SZ;",
       "int 5, int -5, int 16, int 15, int 3, int 7, int 32"},
      {"x 2*(3+4), ~0, 1|2;", "int 14, int -1, int 3"},
      {"x 0f3F800000, 0dBFF0000000000000;",
       "float32 1 bits 3f800000, float64 -1 bits bff0000000000000"},
      {"x 0f7F800000, 0F80000000;",
       "float32 inf bits 7f800000, float32 -0 bits 80000000"},
      {"x -0f3F800000;", "float32 -1 bits bf800000"},
      {"x 1.5, .5, 1., -2e1, 1E-2;",
       "float0 1.5 bits 3ff8000000000000, float0 0.5 bits 3fe0000000000000, "
       "float0 1 bits 3ff0000000000000, float0 -20 bits c034000000000000, "
       "float0 0.01 bits 3f847ae147ae147b"},
      {"x a, a+8, a+8-4;", "param#0=a, param#0=a+8, param#0=a+4"},
      {".shared .b32 s[4]; x s, s+4*2, s-4;", "var#0=s, var#0=s+8, var#0=s-4"},
      {"x _;", "sink"},
      {"x {%r0, %r1}, {_, 3, a};",
       "{reg#3=%r0 reg#4=%r1}, {sink int 3 param#0=a}"},
      {"x %p0|%p1, %r0|_, _|%p2;",
       "(reg#0=%p0 reg#1=%p1), (reg#3=%r0 sink), (sink reg#2=%p2)"},
      {"x [%rd0], [%rd0+8], [%rd0+-8], [%rd0-8], [%rd0+2*4+1];",
       "[reg#7=%rd0], [reg#7=%rd0 +8], [reg#7=%rd0 -8], [reg#7=%rd0 -8], "
       "[reg#7=%rd0 +9]"},
      {"x [a], [a+4], [16], [0x10+4];",
       "[param#0=a], [param#0=a +4], [int 16], [int 20]"},
      {".shared .b32 s; x [s], [s+4];", "[var#0=s], [var#0=s +4]"},
      {"x [%rd0, {%r0, %r1}], [%rd0, %r0], [%rd0+8, {%r0}, %r1];",
       "[reg#7=%rd0 {reg#3=%r0 reg#4=%r1}], [reg#7=%rd0 reg#3=%r0], "
       "[reg#7=%rd0 {reg#3=%r0} reg#4=%r1 +8]"},
      {"x;", ""},
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i)
    assert_operands(cases[i].body, cases[i].operands);
}

/* The dotted parts of an opcode; blanks may stand between them. */
static void opcodes_are_cut_at_their_dots(void **state) {
  (void)state;
  ptx_module_t *module = parse_body(
      "cp.async.bulk.tensor.2d .shared::cluster\n\t.global.L2::cache_hint "
      "[%rd0], 5;");
  static const char *const wanted[] = {
      "cp", "async",           "bulk",   "tensor",
      "2d", "shared::cluster", "global", "L2::cache_hint"};
  const ptx_instruction_t *instruction = &module->entries[0].instructions[0];
  assert_int_equal(instruction->part_count, COUNT_OF(wanted));
  for (size_t i = 0; i < COUNT_OF(wanted); ++i)
    assert_string_equal(instruction->parts[i], wanted[i]);
  assert_int_equal(instruction->operand_count, 2);
  assert_string_equal(instruction->text,
                      "cp.async.bulk.tensor.2d .shared::cluster "
                      ".global.L2::cache_hint [%rd0], 5;");
  assert_int_equal(instruction->line, 3);
  ptx_module_destroy(module);
}

static void guards_name_a_predicate(void **state) {
  (void)state;
  ptx_module_t *module = parse_body("@%p1 ret; @!%p2 ret; @ ! %p0 ret;");
  const ptx_instruction_t *instructions = module->entries[0].instructions;
  static const struct {
    int guard;
    bool is_negated;
  } wanted[] = {{1, false}, {2, true}, {0, true}, {-1, false}};
  for (size_t i = 0; i < COUNT_OF(wanted); ++i) {
    assert_int_equal(instructions[i].guard, wanted[i].guard);
    assert_int_equal(instructions[i].guard_is_negated, wanted[i].is_negated);
  }
  ptx_module_destroy(module);
}

static void registers_are_expanded(void **state) {
  (void)state;
  ptx_module_t *module =
      parse_body(".reg .f32 %f<2>, one, $two<1>; .reg .b16 none<0>;");
  const ptx_entry_t *entry = &module->entries[0];
  assert_int_equal(entry->register_count, 14);
  static const char *const names[] = {"%f0", "%f1", "one", "$two0"};
  for (size_t i = 0; i < COUNT_OF(names); ++i) {
    assert_string_equal(entry->registers[10 + i].name, names[i]);
    assert_int_equal(entry->registers[10 + i].type, PTX_TYPE_F32);
  }
  ptx_module_destroy(module);
}

static void inner_names_hide_outer_ones(void **state) {
  (void)state;
  ptx_module_t *module = parse_body("x %r1; { x %r1; .reg .b64 %r1; x %r1; { x "
                                    "%r1; } } x %r1; { .reg .b32 %r1; x %r1; } "
                                    "{ .shared .b32 a; x a; } x a;");
  const ptx_instruction_t *instructions = module->entries[0].instructions;
  static const uint32_t wanted[] = {4, 4, 10, 10, 4, 11};
  for (size_t i = 0; i < COUNT_OF(wanted); ++i)
    assert_int_equal(instructions[i].operands[0].index, wanted[i]);
  assert_int_equal(instructions[6].operands[0].kind, PTX_OPERAND_VARIABLE);
  assert_int_equal(instructions[7].operands[0].kind, PTX_OPERAND_PARAMETER);
  assert_int_equal(module->entries[0].register_count, 12);
  assert_int_equal(module->entries[0].registers[10].type, PTX_TYPE_B64);
  ptx_module_destroy(module);
}

/* Variables of bodies stand with the module's and say whose they are. */
static void variables_of_bodies_know_their_entry(void **state) {
  (void)state;
  ptx_module_t *module = parse_ptx(
      PTX_HEAD ".global .b32 g;\n"
               ".entry k { .shared .b32 s; { .local .b8 s[3]; x s; } x s; }\n"
               ".entry l { .shared .b32 s; .extern .shared .b8 d[]; x s, d; }");
  static const int entries[] = {-1, 0, 0, 1, 1};
  assert_int_equal(module->variable_count, COUNT_OF(entries));
  for (size_t i = 0; i < COUNT_OF(entries); ++i)
    assert_int_equal(module->variables[i].entry, entries[i]);
  const ptx_entry_t *k = &module->entries[0];
  const ptx_entry_t *l = &module->entries[1];
  assert_int_equal(k->instructions[0].operands[0].index, 2);
  assert_int_equal(k->instructions[1].operands[0].index, 1);
  assert_int_equal(l->instructions[0].operands[0].index, 3);
  assert_int_equal(l->instructions[0].operands[1].index, 4);
  assert_true(module->variables[4].is_extern);
  ptx_module_destroy(module);
}

/* A label is known in its scope and those inside, before and after it; the
 * innermost counts, even where an outer one came first. */
static void labels_belong_to_their_scope(void **state) {
  (void)state;
  ptx_module_t *module = parse_body(
      "L: bra L; { bra L; L: bra L; } { L: bra L; } { bra L; bra "
      "END; } bra M; M: N: bra N; END:\n}\n.entry other { L: bra L;");
  const ptx_instruction_t *instructions = module->entries[0].instructions;
  static const uint32_t wanted[] = {0, 2, 2, 3, 0, 8, 7, 7};
  for (size_t i = 0; i < COUNT_OF(wanted); ++i) {
    assert_int_equal(instructions[i].operands[0].kind, PTX_OPERAND_LABEL);
    assert_int_equal(instructions[i].operands[0].index, wanted[i]);
  }
  assert_int_equal(module->entries[0].instruction_count, 8);
  assert_int_equal(module->entries[1].instructions[0].operands[0].index, 0);
  ptx_module_destroy(module);
}

static void branch_targets_become_a_vector(void **state) {
  (void)state;
  assert_operands("brx.idx %r0, T; A: ret; T: .branchtargets A, B, A; B:",
                  "reg#3=%r0, {label A@1 label B@2 label A@1}");
}

/* A name may be a label and, elsewhere, an entry. */
static void a_label_may_have_the_entrys_name(void **state) {
  (void)state;
  assert_operands("bra k; k:", "label k@1");
}

static void what_debuggers_read_is_passed_over(void **state) {
  (void)state;
  ptx_module_t *module = parse_ptx(
      ".version 8.3\n.target sm_90a, debug\n.file 1 \"a \\\" b.cu\"\n"
      ".file 2 \"b.cu\", 1, 2\n@@DWARF .byte 3\n.entry k {\n.loc 1 2 3\n"
      ".loc 1 2 3, function_name $L+4, inlined_at 1 2 3\n"
      ".pragma \"nounroll\", \"more\"; ret; }\n"
      ".section .debug_info { .b8 1,2 { } $L: .b64 $L+1\n.b32 .debug_str }\n"
      "// end");
  assert_int_equal(module->entries[0].instruction_count, 1);
  assert_int_equal(module->entries[0].instructions[0].line, 9);
  ptx_module_destroy(module);
}

static void lines_are_counted_through_comments(void **state) {
  (void)state;
  ptx_module_t *module =
      parse_body("/* one\ntwo */ ret; // three\r\nret /* * / \n\n*/ ;");
  const ptx_instruction_t *instructions = module->entries[0].instructions;
  assert_int_equal(instructions[0].line, 4);
  assert_int_equal(instructions[1].line, 5);
  assert_int_equal(instructions[2].line, 8);
  ptx_module_destroy(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operands_of_every_kind_are_read),
      cmocka_unit_test(opcodes_are_cut_at_their_dots),
      cmocka_unit_test(guards_name_a_predicate),
      cmocka_unit_test(registers_are_expanded),
      cmocka_unit_test(inner_names_hide_outer_ones),
      cmocka_unit_test(variables_of_bodies_know_their_entry),
      cmocka_unit_test(labels_belong_to_their_scope),
      cmocka_unit_test(branch_targets_become_a_vector),
      cmocka_unit_test(a_label_may_have_the_entrys_name),
      cmocka_unit_test(what_debuggers_read_is_passed_over),
      cmocka_unit_test(lines_are_counted_through_comments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
