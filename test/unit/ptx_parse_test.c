/* Tests of what the PTX parser reads outside of bodies.
 * Layer: test. Must not know: how instructions are executed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ptx_parse_fixture.h"

static void the_head_gives_version_and_target(void **state) {
  (void)state;
  ptx_module_t *module = parse_ptx("// first\n.version 9.0\n"
                                   ".target texmode_unified, sm_90a, debug\n"
                                   ".address_size 64 /* no entries */");
  assert_int_equal(module->version_major, 9);
  assert_int_equal(module->version_minor, 0);
  assert_string_equal(module->target, "sm_90a");
  assert_string_equal(module->name, "t");
  assert_int_equal(module->entry_count, 0);
  assert_int_equal(module->variable_count, 0);
  ptx_module_destroy(module);
  ptx_module_destroy(NULL);
}

static void the_last_target_counts(void **state) {
  (void)state;
  ptx_module_t *module = parse_ptx(".version 8.3 .target sm_80 .target sm_90a");
  assert_string_equal(module->target, "sm_90a");
  ptx_module_destroy(module);
}

static void types_have_names_sizes_and_signs(void **state) {
  (void)state;
  static const struct {
    const char *name;
    ptx_type_t type;
    size_t bytes;
    bool is_signed;
    bool is_float;
  } cases[] = {
      {"pred", PTX_TYPE_PRED, 0, false, false},
      {"b8", PTX_TYPE_B8, 1, false, false},
      {"u16", PTX_TYPE_U16, 2, false, false},
      {"s32", PTX_TYPE_S32, 4, true, false},
      {"s64", PTX_TYPE_S64, 8, true, false},
      {"b128", PTX_TYPE_B128, 16, false, false},
      {"bf16", PTX_TYPE_BF16, 2, false, true},
      {"bf16x2", PTX_TYPE_BF16X2, 4, false, true},
      {"tf32", PTX_TYPE_TF32, 4, false, true},
      {"f64", PTX_TYPE_F64, 8, false, true},
      {"", PTX_TYPE_NONE, 0, false, false},
      {"f3", PTX_TYPE_NONE, 0, false, false},
      {"f322", PTX_TYPE_NONE, 0, false, false},
      {"e4m3", PTX_TYPE_NONE, 0, false, false},
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    ptx_type_t type = ptx_type_parse(cases[i].name, strlen(cases[i].name));
    assert_int_equal(type, cases[i].type);
    assert_int_equal(ptx_type_bytes(type), cases[i].bytes);
    assert_int_equal(ptx_type_is_signed(type), cases[i].is_signed);
    assert_int_equal(ptx_type_is_float(type), cases[i].is_float);
  }
}

static void variables_have_spaces_sizes_and_alignments(void **state) {
  (void)state;
  ptx_module_t *module =
      parse_ptx(PTX_HEAD ".global .u64 a, b[3][2];\n"
                         ".const .align 32 .v4 .f32 c;\n"
                         ".extern .shared .align 1024 .b8 d[];\n"
                         ".shared .f16x2 e[5];\n"
                         ".extern .global .b32 f;\n"
                         ".common .global .b32 g;");
  static const struct {
    const char *name;
    ptx_space_t space;
    ptx_type_t type;
    size_t bytes;
    size_t alignment;
    bool is_extern;
    int line;
  } wanted[] = {
      {"a", PTX_SPACE_GLOBAL, PTX_TYPE_U64, 8, 8, false, 2},
      {"b", PTX_SPACE_GLOBAL, PTX_TYPE_U64, 48, 8, false, 2},
      {"c", PTX_SPACE_CONST, PTX_TYPE_F32, 16, 32, false, 3},
      {"d", PTX_SPACE_SHARED, PTX_TYPE_B8, 0, 1024, true, 4},
      {"e", PTX_SPACE_SHARED, PTX_TYPE_F16X2, 20, 4, false, 5},
      {"f", PTX_SPACE_GLOBAL, PTX_TYPE_B32, 4, 4, true, 6},
      {"g", PTX_SPACE_GLOBAL, PTX_TYPE_B32, 4, 4, false, 7},
  };
  assert_int_equal(module->variable_count, COUNT_OF(wanted));
  for (size_t i = 0; i < COUNT_OF(wanted); ++i) {
    const ptx_variable_t *variable = &module->variables[i];
    assert_string_equal(variable->name, wanted[i].name);
    assert_int_equal(variable->space, wanted[i].space);
    assert_int_equal(variable->type, wanted[i].type);
    assert_int_equal(variable->bytes, wanted[i].bytes);
    assert_int_equal(variable->alignment, wanted[i].alignment);
    assert_int_equal(variable->is_extern, wanted[i].is_extern);
    assert_int_equal(variable->line, wanted[i].line);
    assert_int_equal(variable->entry, -1);
    assert_null(variable->initial);
  }
  ptx_module_destroy(module);
}

static void an_extern_may_be_repeated_and_defined(void **state) {
  (void)state;
  ptx_module_t *module = parse_ptx(
      PTX_HEAD ".extern .shared .b8 s[]; .extern .shared .b8 s[];\n"
               ".extern .global .b32 g; .global .b32 g = 7; .extern .global "
               ".b32 g;");
  assert_int_equal(module->variable_count, 2);
  assert_string_equal(module->variables[1].name, "g");
  assert_false(module->variables[1].is_extern);
  assert_int_equal(module->variables[1].initial[0], 7);
  ptx_module_destroy(module);
}

/* The bytes of the only variable. */
static void assert_initial(const char *declaration, size_t size,
                           const uint8_t *bytes) {
  uattn_string_t text = {0};
  uattn_string_appendf(&text, "%s%s", PTX_HEAD, declaration);
  ptx_module_t *module = parse_ptx(text.data);
  uattn_string_release(&text);
  assert_int_equal(module->variable_count, 1);
  assert_int_equal(module->variables[0].bytes, size);
  assert_memory_equal(module->variables[0].initial, bytes, size);
  ptx_module_destroy(module);
}

static void initial_values_become_bytes(void **state) {
  (void)state;
  assert_initial(".global .b8 x = 300;", 1, (uint8_t[]){44});
  assert_initial(".global .s16 x = -2;", 2, (uint8_t[]){0xFE, 0xFF});
  assert_initial(".const .b64 x = 0xFEDCBA9876543210;", 8,
                 (uint8_t[]){0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE});
  assert_initial(".global .f32 x = 0f3F800000;", 4,
                 (uint8_t[]){0, 0, 0x80, 0x3F});
  assert_initial(".global .f32 x = -0.5;", 4, (uint8_t[]){0, 0, 0, 0xBF});
  assert_initial(".global .f64 x = 0f3F800000;", 8,
                 (uint8_t[]){0, 0, 0, 0, 0, 0, 0xF0, 0x3F});
  assert_initial(".global .f32 x = 0d3FF0000000000000;", 4,
                 (uint8_t[]){0, 0, 0x80, 0x3F});
  /* Rows that are short end in zeros. */
  assert_initial(".global .b8 x[2][3] = {{1}, {2, 3}};", 6,
                 (uint8_t[]){1, 0, 0, 2, 3, 0});
  assert_initial(".global .b8 x[3][2] = {{}, {1, 2}};", 6,
                 (uint8_t[]){0, 0, 1, 2, 0, 0});
  assert_initial(".global .b8 x[][2] = {{1}, {2}, {3}};", 6,
                 (uint8_t[]){1, 0, 2, 0, 3, 0});
  assert_initial(".global .v2 .u8 x[] = {{1, 2}, {3}};", 4,
                 (uint8_t[]){1, 2, 3, 0});
  assert_initial(".global .v4 .u8 x = {1, 2};", 4, (uint8_t[]){1, 2, 0, 0});
}

static void constants_are_computed_as_in_c(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t value;
  } cases[] = {
      {"1 + 2 * 3", 7},
      {"(1 + 2) * 3", 9},
      {"10 - 3 - 2", 5},
      {"7 / 2 * 2", 6},
      {"-7 / 2", -3},
      {"-7 % 3", -1},
      {"-1 >> 60", -1},
      {"-1 >> 64", -1},
      {"0xFFFFFFFFFFFFFFFF >> 63", 1},
      {"0xFFFFFFFFFFFFFFFF / 2", INT64_MAX},
      {"1 << 63", INT64_MIN},
      {"1 << 64", 0},
      {"(1 << 63) / -1", INT64_MIN},
      {"(1 << 63) % -1", 0},
      {"6U / 4", 1},
      {"1 | 2 ^ 3 & 6", 1},
      {"~0", -1},
      {"- -5", 5},
      {"+5", 5},
      {"-(2 + 3)", -5},
      {"017", 15},
      {"0xaBc", 0xABC},
      {"0XFFU", 255},
      {"0b101", 5},
      {"0B11", 3},
      {"0", 0},
      {"18446744073709551615", -1},
      {"WARP_SZ * 2", 64},
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    uint8_t bytes[8];
    uattn_string_t text = {0};
    uattn_string_appendf(&text, ".global .b64 x = %s;", cases[i].text);
    memcpy(bytes, &cases[i].value, sizeof bytes);
    assert_initial(text.data, sizeof bytes, bytes);
    uattn_string_release(&text);
  }
}

static void parameters_lie_at_their_alignment(void **state) {
  (void)state;
  ptx_module_t *module = parse_ptx(
      PTX_HEAD ".visible .entry k(\n.param .u8 a,\n.param .align 64 .b8 "
               "b[128],\n.param .u64 .ptr .global .align 1 c, .param .u64 .ptr "
               "d,\n.param .f32 e[2][3], .param .u64 .ptr .align 16 f) { ret; "
               "}");
  const ptx_entry_t *entry = &module->entries[0];
  static const struct {
    const char *name;
    ptx_type_t type;
    size_t bytes;
    size_t alignment;
    size_t offset;
  } wanted[] = {
      {"a", PTX_TYPE_U8, 1, 1, 0},     {"b", PTX_TYPE_B8, 128, 64, 64},
      {"c", PTX_TYPE_U64, 8, 8, 192},  {"d", PTX_TYPE_U64, 8, 8, 200},
      {"e", PTX_TYPE_F32, 24, 4, 208}, {"f", PTX_TYPE_U64, 8, 8, 232},
  };
  assert_string_equal(entry->name, "k");
  assert_int_equal(entry->line, 2);
  assert_int_equal(entry->param_count, COUNT_OF(wanted));
  assert_int_equal(entry->param_bytes, 240);
  for (size_t i = 0; i < COUNT_OF(wanted); ++i) {
    assert_string_equal(entry->params[i].name, wanted[i].name);
    assert_int_equal(entry->params[i].type, wanted[i].type);
    assert_int_equal(entry->params[i].bytes, wanted[i].bytes);
    assert_int_equal(entry->params[i].alignment, wanted[i].alignment);
    assert_int_equal(entry->params[i].offset, wanted[i].offset);
  }
  ptx_module_destroy(module);
}

static void directives_of_entries_are_kept_or_passed_over(void **state) {
  (void)state;
  ptx_module_t *module = parse_ptx(
      PTX_HEAD ".entry k() .reqntid 384 .maxnreg 168 { ret; }\n"
               ".entry l .maxntid 8, 4, 2 .minnctapersm 2 .maxnctapersm 3 "
               ".noreturn .pragma \"x\"; .explicitcluster .blocksareclusters "
               ".reqnctapercluster 1, 1 .maxclusterrank 8 { ret; }");
  const ptx_entry_t *k = &module->entries[0];
  const ptx_entry_t *l = &module->entries[1];
  assert_int_equal(k->reqntid[0], 384);
  assert_int_equal(k->reqntid[1], 1);
  assert_int_equal(k->reqntid[2], 1);
  assert_int_equal(k->maxntid[0], 0);
  assert_int_equal(k->maxnreg, 168);
  assert_int_equal(l->reqntid[0], 0);
  assert_int_equal(l->maxntid[0], 8);
  assert_int_equal(l->maxntid[1], 4);
  assert_int_equal(l->maxntid[2], 2);
  assert_int_equal(l->maxnreg, 0);
  ptx_module_destroy(module);
}

static void an_entry_may_be_declared_before_it_is_defined(void **state) {
  (void)state;
  ptx_module_t *module =
      parse_ptx(PTX_HEAD ".entry k(.param .u32 a); .entry k(.param .u32 b) "
                         "{ ret; } .entry k(.param .u32 a);");
  assert_int_equal(module->entry_count, 1);
  assert_string_equal(module->entries[0].params[0].name, "b");
  ptx_module_destroy(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_head_gives_version_and_target),
      cmocka_unit_test(the_last_target_counts),
      cmocka_unit_test(types_have_names_sizes_and_signs),
      cmocka_unit_test(variables_have_spaces_sizes_and_alignments),
      cmocka_unit_test(an_extern_may_be_repeated_and_defined),
      cmocka_unit_test(initial_values_become_bytes),
      cmocka_unit_test(constants_are_computed_as_in_c),
      cmocka_unit_test(parameters_lie_at_their_alignment),
      cmocka_unit_test(directives_of_entries_are_kept_or_passed_over),
      cmocka_unit_test(an_entry_may_be_declared_before_it_is_defined),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
