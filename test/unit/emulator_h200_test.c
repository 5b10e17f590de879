/* Scalar instructions give what an H200 gave, bit by bit.
 * Layer: test. Must not know: how the emulator works.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The file's own head says how it is read: every line of results becomes an
 * entry of one module, whose lanes are the rows of operands. */
#include "emulator_launch_fixture.h"
#include "spec/spec.h"
#include "support/support.h"

enum { MAX_ROWS = 32, MAX_KINDS = 6, OPERANDS = 4 };

typedef struct {
  uint64_t operands[MAX_ROWS][OPERANDS];
  uint32_t row_count;
} inputs_t;

typedef struct {
  bool is_exact;
  char opcode[64];
  char kinds[MAX_KINDS][8];
  uint32_t kind_count;
  uint64_t want[MAX_ROWS];
  const inputs_t *inputs;
} line_t;

typedef struct {
  inputs_t *inputs; /* a few classes */
  uint32_t input_count;
  line_t *lines;
  uint32_t line_count;
} recording_t;

/* ---- Reading ---------------------------------------------------------------
 */

static void read_inputs(recording_t *recording, char **text) {
  inputs_t *inputs = &recording->inputs[recording->input_count++];
  char *end = strchr(*text, '\n');
  *end = '\0';
  inputs->row_count = (uint32_t)strtoul(strrchr(*text, ' '), NULL, 10);
  assert_true(inputs->row_count > 0 && inputs->row_count <= MAX_ROWS);
  *text = end + 1;
  for (uint32_t row = 0; row < inputs->row_count; ++row)
    for (int i = 0; i < OPERANDS; ++i)
      inputs->operands[row][i] = strtoull(*text, text, 16);
  *text += 1;
}

static void read_line(recording_t *recording, char **text) {
  line_t *line = &recording->lines[recording->line_count++];
  char kinds[64];
  int length = 0;
  line->inputs = &recording->inputs[recording->input_count - 1];
  line->is_exact = **text == '=';
  assert_int_equal(
      sscanf(*text + 1, "%63s %63s%n", line->opcode, kinds, &length), 2);
  *text += 1 + length;
  for (char *kind = strtok(kinds, ","); kind; kind = strtok(NULL, ",")) {
    assert_true(line->kind_count < MAX_KINDS && strlen(kind) < 8);
    strcpy(line->kinds[line->kind_count++], kind);
  }
  for (uint32_t row = 0; row < line->inputs->row_count; ++row)
    line->want[row] = strtoull(*text, text, 16);
  *text += 1;
}

static recording_t read_recording(void) {
  char *text = NULL;
  size_t size = 0;
  assert_ok(uattn_file_read(EMULATOR_INPUTS "/h200_scalars.txt", &text, &size));
  size_t line_limit = 1;
  for (const char *at = text; *at; ++at)
    line_limit += *at == '\n';
  recording_t recording = {
      .inputs = uattn_allocate(line_limit * sizeof *recording.inputs),
      .lines = uattn_allocate(line_limit * sizeof *recording.lines)};
  for (char *at = text; *at;) {
    if (*at == 'i')
      read_inputs(&recording, &at);
    else if (*at == '#')
      at = strchr(at, '\n') + 1;
    else
      read_line(&recording, &at);
  }
  free(text);
  return recording;
}

/* ---- Writing PTX -----------------------------------------------------------
 */

/* A kind's register, how an operand gets into it and how a target gets from it
 * into %d40. */
static const struct {
  const char *letters;
  char reg;
  const char *load; /* an instruction, or what stands for several */
  const char *take;
} kinds[] = {
    {"bwxy", 'r', "ld.global.b32", "cvt.u64.u32 %d40, %r40;\n"},
    {"heg", 'h', "ld.global.b16", "cvt.u64.u16 %d40, %h40;\n"},
    {"l", 'd', "ld.global.b64", ""},
    {"f", 'f', "ld.global.f32",
     "mov.b32 %r40, %f40;\ncvt.u64.u32 %d40, %r40;\n"},
    {"d", 'g', "ld.global.f64", "mov.b64 %d40, %g40;\n"},
    {"p", 'p', NULL, "selp.u64 %d40, 1, 0, %p40;\n"},
    {"P", 'p', NULL,
     "selp.u64 %d40, 1, 0, %p40;\nselp.u64 %d41, 2, 0, %p41;\n"
     "or.b64 %d40, %d40, %d41;\n"},
};

static size_t find_kind(char letter) {
  for (size_t i = 0; i < COUNT_OF(kinds); ++i)
    if (strchr(kinds[i].letters, letter))
      return i;
  fail_msg("kind %c", letter);
  return 0;
}

/* The low bits of the lane's operand `index`. */
static void append_load(uattn_string_t *text, char letter, uint32_t index) {
  size_t kind = find_kind(letter);
  if (kinds[kind].load)
    uattn_string_appendf(text, "%s %%%c%u, [%%d42+%u];\n", kinds[kind].load,
                         kinds[kind].reg, index, 8 * index);
  else
    uattn_string_appendf(text,
                         "ld.global.b32 %%r%u, [%%d42+%u];\n"
                         "and.b32 %%r%u, %%r%u, 1;\n"
                         "setp.ne.u32 %%p%u, %%r%u, 0;\n",
                         index, 8 * index, index, index, index, index);
}

static void append_instruction(uattn_string_t *text, const line_t *line) {
  char reg = kinds[find_kind(*line->kinds[0])].reg;
  const char *type = strrchr(line->opcode, '.');
  /* Comparisons of single halves have no second predicate. */
  bool is_pair = *line->kinds[0] == 'P' && strcmp(type, ".f16") != 0 &&
                 strcmp(type, ".bf16") != 0;
  uattn_string_appendf(text, "setp.ne.u32 %%p41, 0, 0;\n%s %%%c40%s",
                       line->opcode, reg, is_pair ? "|%p41" : "");
  for (uint32_t i = 1; i < line->kind_count; ++i)
    if (*line->kinds[i] == '#')
      uattn_string_appendf(text, ", %s", line->kinds[i] + 1);
    else
      uattn_string_appendf(text, ", %%%c%u",
                           kinds[find_kind(*line->kinds[i])].reg, i - 1);
  uattn_string_append(text, ";\n");
}

static void append_entry(uattn_string_t *text, const line_t *line,
                         size_t number) {
  uattn_string_appendf(
      text,
      ".visible .entry k%zu(.param .u64 in, .param .u64 out)\n{\n"
      ".reg .pred %%p<48>;\n.reg .b16 %%h<48>;\n.reg .b32 %%r<48>;\n"
      ".reg .b64 %%d<48>;\n.reg .f32 %%f<48>;\n.reg .f64 %%g<48>;\n"
      "ld.param.u64 %%d42, [in];\nld.param.u64 %%d43, [out];\n"
      "mov.u32 %%r42, %%tid.x;\nmad.wide.u32 %%d43, %%r42, 8, %%d43;\n"
      "mad.wide.u32 %%d42, %%r42, 32, %%d42;\n",
      number);
  for (uint32_t i = 1; i < line->kind_count; ++i)
    if (*line->kinds[i] != '#')
      append_load(text, *line->kinds[i], i - 1);
  append_instruction(text, line);
  uattn_string_appendf(text, "%sst.global.b64 [%%d43], %%d40;\nret;\n}\n",
                       kinds[find_kind(*line->kinds[0])].take);
}

/* ---- Running ---------------------------------------------------------------
 */

static void run(const uattn_emulator_t *emulator, size_t entry,
                const inputs_t *inputs, uint64_t *out) {
  const void *in = inputs->operands;
  const void *params[] = {&in, &out};
  const size_t param_bytes[] = {sizeof in, sizeof out};
  const uattn_emulator_memory_t memories[] = {
      {.name = "in",
       .data = (void *)(uintptr_t)in,
       .bytes = sizeof inputs->operands,
       .is_read_only = true},
      {.name = "out", .data = out, .bytes = MAX_ROWS * sizeof *out}};
  uattn_emulator_launch_t launch = {.struct_size = sizeof launch,
                                    .grid = {1, 1, 1},
                                    .block = {inputs->row_count, 1, 1},
                                    .params = params,
                                    .param_bytes = param_bytes,
                                    .param_count = COUNT_OF(params),
                                    .memories = memories,
                                    .memory_count = COUNT_OF(memories),
                                    .thread_count = 1};
  assert_ok(uattn_emulator_run(emulator, entry, &launch, NULL));
}

/* The bits of a kind as a number. */
static double number_of(char kind, uint64_t bits) {
  float narrow;
  double wide;
  uint32_t word = (uint32_t)bits;
  switch (kind) {
  case 'd':
    memcpy(&wide, &bits, sizeof wide);
    return wide;
  case 'e':
  case 'x':
    return uattn_f16_to_float((uint16_t)bits);
  case 'g':
  case 'y':
    return uattn_bf16_to_float((uint16_t)bits);
  default:
    memcpy(&narrow, &word, sizeof narrow);
    return narrow;
  }
}

/* Of approximations: as near as two that keep what PTX promises may be. */
static bool is_near(const line_t *line, uint64_t got, uint64_t want) {
  char kind = *line->kinds[0];
  double a = number_of(kind, got);
  double b = number_of(kind, want);
  bool is_tanh = strncmp(line->opcode, "tanh", 4) == 0;
  double relative = strchr("gy", kind)              ? 0x1p-7
                    : strchr("ex", kind) || is_tanh ? 0x1p-9
                                                    : 0x1p-19;
  if (kind == 'x' || kind == 'y') {
    line_t upper = *line;
    upper.kinds[0][0] = kind == 'x' ? 'e' : 'g';
    if (!is_near(&upper, got >> 16, want >> 16))
      return false;
  }
  bool is_same = (isnan(a) && isnan(b)) || a == b;
  return is_same || fabs(a - b) <= relative * fabs(b) ||
         (isfinite(a - b) && fabs(a - b) < 0x1p-20);
}

static uint32_t count_differences(const line_t *line,
                                  const uint64_t got[MAX_ROWS]) {
  uint32_t differences = 0;
  for (uint32_t row = 0; row < line->inputs->row_count; ++row) {
    if (got[row] == line->want[row] ||
        (!line->is_exact && is_near(line, got[row], line->want[row])))
      continue;
    const uint64_t *in = line->inputs->operands[row];
    print_error("%s of %llx %llx %llx %llx: %llx, an H200 gave %llx\n",
                line->opcode, (unsigned long long)in[0],
                (unsigned long long)in[1], (unsigned long long)in[2],
                (unsigned long long)in[3], (unsigned long long)got[row],
                (unsigned long long)line->want[row]);
    ++differences;
  }
  return differences;
}

static void scalars_are_those_of_an_h200(void **state) {
  (void)state;
  recording_t recording = read_recording();
  assert_true(recording.line_count > 1500);
  uattn_string_t text = {0};
  uattn_string_append(&text, MODULE_HEADER);
  for (uint32_t i = 0; i < recording.line_count; ++i)
    append_entry(&text, &recording.lines[i], i);
  uattn_emulator_t *emulator = NULL;
  assert_ok(
      uattn_emulator_create("scalars.ptx", text.data, text.size, &emulator));
  uint32_t differences = 0;
  for (uint32_t i = 0; i < recording.line_count; ++i) {
    uint64_t out[MAX_ROWS] = {0};
    run(emulator, i, recording.lines[i].inputs, out);
    differences += count_differences(&recording.lines[i], out);
  }
  assert_int_equal(differences, 0);
  uattn_emulator_destroy(emulator);
  uattn_string_release(&text);
  free(recording.inputs);
  free(recording.lines);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scalars_are_those_of_an_h200),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
