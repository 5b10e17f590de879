/* What --trace and --dump-tile ask of the emulator, and where its texts go.
 * Layer: tools. Must not know: what runs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_trace.h"

#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "launch_type.h"

#define USAGE_ERROR(...)                                                       \
  uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

void run_trace_prepare(run_trace_t *trace, size_t most) {
  trace->tiles = uattn_allocate(most * sizeof *trace->tiles);
  trace->warpgroups = uattn_allocate(most * sizeof *trace->warpgroups);
  trace->entries = uattn_allocate(most * sizeof *trace->entries);
}

void run_trace_release(run_trace_t *trace) {
  for (size_t i = 0; i < trace->tile_count; ++i)
    free(trace->entries[i]);
  free(trace->tiles);
  free(trace->warpgroups);
  free(trace->entries);
}

bool run_trace_is_asked(const run_trace_t *trace) {
  return trace->pattern || trace->tile_count > 0;
}

/* The emulator looks at it again; here a wrong one costs no compilation. */
uattn_error_t *run_trace_read_pattern(run_trace_t *trace, const char *value) {
  regex_t expression;
  char why[256];
  int code = regcomp(&expression, value, REG_EXTENDED | REG_NOSUB);
  if (code) {
    (void)regerror(code, &expression, why, sizeof why);
    return USAGE_ERROR("--trace is '%s': %s: expected a POSIX extended regular "
                       "expression",
                       value, why);
  }
  regfree(&expression);
  trace->pattern = value;
  return NULL;
}

/* ---- Tiles -----------------------------------------------------------------
 * [ENTRY:]LINE:KIND or [ENTRY:]shared:OFFSET:ROWSxCOLUMNS:TYPE[:SWIZZLE], then
 * /WARPGROUP, @CTA and #N. */

typedef struct {
  const char *value; /* of the option, for messages */
  uattn_emulator_tile_t *tile;
  uint32_t *warpgroup;
  char *rest; /* what has not been read of its copy */
} reader_t;

static uattn_error_t *refuse(const reader_t *reader, const char *found,
                             const char *expected) {
  if (!found)
    return USAGE_ERROR("--dump-tile is '%s': it ends: expected %s",
                       reader->value, expected);
  return USAGE_ERROR("--dump-tile is '%s': found '%s': expected %s",
                     reader->value, found, expected);
}

static bool read_number(const char *text, uint64_t most, uint64_t *out_number) {
  char *end = NULL;
  bool is_hex = strncmp(text, "0x", 2) == 0;
  int64_t number = 0;
  if (is_hex) {
    *out_number = strtoull(text, &end, 16);
    return text[2] && !*end && *out_number <= most;
  }
  if (!uattn_parse_int64(text, &number) || number < 0)
    return false;
  *out_number = (uint64_t)number;
  return *out_number <= most;
}

static uattn_error_t *read_suffix(reader_t *reader, char mark, char *text) {
  uattn_emulator_tile_t *tile = reader->tile;
  bool is_group = mark == '/';
  uint64_t number = 0;
  if (is_group && tile->kind >= UATTN_TILE_BOX)
    return refuse(reader, text, "a warpgroup of a, b or d alone");
  if (mark == '#' && tile->kind == UATTN_TILE_SHARED)
    return refuse(reader, text, "an occurrence of an instruction alone");
  if (!read_number(text, is_group ? UINT32_MAX : INT64_MAX, &number))
    return refuse(reader, text,
                  is_group      ? "the number of a warpgroup behind /"
                  : mark == '@' ? "the linear number of a cta behind @"
                                : "a number of executions before behind #");
  if (is_group) {
    *reader->warpgroup = (uint32_t)number;
    tile->warpgroup = reader->warpgroup;
  } else if (mark == '@') {
    tile->cta = number;
  } else {
    tile->occurrence = number;
  }
  return NULL;
}

/* `text` begins with a mark or is empty. */
static uattn_error_t *read_suffixes(reader_t *reader, char mark, char *text) {
  uattn_error_t *error = NULL;
  while (mark && !error) {
    size_t size = strcspn(text, "/@#");
    char next = text[size];
    text[size] = '\0';
    error = read_suffix(reader, mark, text);
    mark = next;
    text += size + 1;
  }
  return error;
}

static uattn_error_t *read_line(reader_t *reader, const char *line) {
  static const char *const kinds[] = {[UATTN_TILE_A] = "a",
                                      [UATTN_TILE_B] = "b",
                                      [UATTN_TILE_D] = "d",
                                      [UATTN_TILE_BOX] = "box"};
  uint64_t number = 0;
  const char *kind = strsep(&reader->rest, ":");
  if (!read_number(line, INT32_MAX, &number) || number == 0)
    return refuse(reader, line, "the number of a line or shared");
  reader->tile->line = (int32_t)number;
  for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; ++i)
    if (strcmp(kind, kinds[i]) == 0) {
      reader->tile->kind = (uattn_tile_kind_t)i;
      return NULL;
    }
  return refuse(reader, kind, "a, b, d or box");
}

static uattn_error_t *read_sizes(reader_t *reader) {
  char *sizes = strsep(&reader->rest, ":");
  char *columns = sizes ? strchr(sizes, 'x') : NULL;
  uint64_t row_count = 0, column_count = 0;
  bool is_right = columns != NULL;
  if (is_right) {
    *columns = '\0';
    is_right = read_number(sizes, UINT32_MAX, &row_count) &&
               read_number(columns + 1, UINT32_MAX, &column_count);
    *columns = 'x';
  }
  if (!is_right)
    return refuse(reader, sizes, "ROWSxCOLUMNS such as 64x32");
  reader->tile->rows = (uint32_t)row_count;
  reader->tile->columns = (uint32_t)column_count;
  return NULL;
}

static uattn_error_t *read_type(reader_t *reader) {
  const char *name = strsep(&reader->rest, ":");
  launch_type_t type = LAUNCH_F32;
  if (!name || !launch_type_parse(name, &type) ||
      !launch_type_element(type, &reader->tile->element))
    return refuse(reader, name,
                  "u8, u16, u32, i32, u64, i64, f16, bf16, f32 or f64");
  return NULL;
}

static uattn_error_t *read_swizzle(reader_t *reader) {
  static const char *const swizzles[] = {[UATTN_SWIZZLE_NONE] = "none",
                                         [UATTN_SWIZZLE_32B] = "32",
                                         [UATTN_SWIZZLE_64B] = "64",
                                         [UATTN_SWIZZLE_128B] = "128"};
  const char *name = strsep(&reader->rest, ":");
  for (size_t i = 0; name && i < sizeof swizzles / sizeof *swizzles; ++i)
    if (strcmp(name, swizzles[i]) == 0) {
      reader->tile->swizzle = (uattn_swizzle_t)i;
      return NULL;
    }
  return name ? refuse(reader, name, "a swizzle: none, 32, 64 or 128") : NULL;
}

static uattn_error_t *read_shared(reader_t *reader) {
  reader->tile->kind = UATTN_TILE_SHARED;
  const char *offset = strsep(&reader->rest, ":");
  if (!offset || !read_number(offset, INT64_MAX, &reader->tile->offset))
    return refuse(reader, offset, "an address in shared memory");
  uattn_error_t *error = read_sizes(reader);
  if (!error)
    error = read_type(reader);
  return error ? error : read_swizzle(reader);
}

static bool is_number(const char *text) {
  return text[0] && text[strspn(text, "0123456789")] == '\0';
}

static uattn_error_t *read_tile(reader_t *reader, char **out_entry) {
  size_t size = strcspn(reader->rest, "/@#");
  char mark = reader->rest[size];
  char *suffixes = reader->rest + size + (mark != '\0');
  reader->rest[size] = '\0';
  const char *word = strsep(&reader->rest, ":");
  if (reader->rest && !is_number(word) && strcmp(word, "shared") != 0) {
    *out_entry = uattn_string_copy(word);
    reader->tile->entry = *out_entry;
    word = strsep(&reader->rest, ":");
  }
  uattn_error_t *error = strcmp(word, "shared") == 0 ? read_shared(reader)
                                                     : read_line(reader, word);
  if (!error && reader->rest)
    error = refuse(reader, reader->rest, "the end or /, @ or #");
  return error ? error : read_suffixes(reader, mark, suffixes);
}

uattn_error_t *run_trace_read_tile(run_trace_t *trace, const char *value) {
  size_t index = trace->tile_count++;
  char *copy = uattn_string_copy(value);
  reader_t reader = {.value = value,
                     .tile = &trace->tiles[index],
                     .warpgroup = &trace->warpgroups[index],
                     .rest = copy};
  uattn_error_t *error = read_tile(&reader, &trace->entries[index]);
  free(copy);
  return error;
}

/* ---- Texts -----------------------------------------------------------------
 */

static void tell_instruction(const char *text, void *user_data) {
  (void)user_data;
  fputs(text, stderr);
}

/* Whole before what the run may still say on stderr. */
static void tell_tile(size_t tile, const char *text, void *user_data) {
  (void)tile, (void)user_data;
  fputs(text, stdout);
  fflush(stdout);
}

const uattn_emulator_trace_t *
run_trace_options(const run_trace_t *trace, uattn_emulator_trace_t *storage) {
  if (!run_trace_is_asked(trace))
    return NULL;
  *storage =
      (uattn_emulator_trace_t){.struct_size = sizeof *storage,
                               .pattern = trace->pattern,
                               .cta = trace->has_cta ? &trace->cta : NULL,
                               .warp = trace->has_warp ? &trace->warp : NULL,
                               .tiles = trace->tiles,
                               .tile_count = trace->tile_count,
                               .tell_instruction = tell_instruction,
                               .tell_tile = tell_tile};
  return storage;
}

void run_trace_tell_schedule(const run_trace_t *trace, uint64_t seed) {
  if (trace->pattern)
    fprintf(stderr, "uattn-run: trace of schedule seed %" PRIu64 "\n", seed);
  if (trace->tile_count > 0)
    printf("# schedule seed %" PRIu64 "\n", seed);
}
