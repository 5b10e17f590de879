/* How to launch a kernel, read from a text; lib/emulator/README.md has its
 * grammar.
 * Layer: tools. Must not know: PTX, inputs, how kernels run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "launch_description.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "launch_reader.h"
#include "launch_type.h"

/* ---- Sizes of the launch ---------------------------------------------------
 */

static uattn_error_t *read_entry(launch_reader_t *reader) {
  const char *name = NULL;
  uattn_error_t *error = launch_take_wanted(reader, "the entry's name", &name);
  if (!error)
    reader->description->entry =
        uattn_arena_format(reader->description->arena, "%s", name);
  return error;
}

static uattn_error_t *read_axes(launch_reader_t *reader, const char *what,
                                uint32_t out_axes[3]) {
  const char *word = NULL;
  int64_t sizes[3];
  int count = 0;
  uattn_error_t *error = launch_take_wanted(reader, "sizes such as 8x4", &word);
  if (!error)
    error = launch_read_sizes(reader, what, word, 3, 1, sizes, &count);
  for (int i = 0; i < count && !error; ++i) {
    if (sizes[i] > INT32_MAX)
      error = launch_wrong(reader, "%s is '%s': expected sizes below 2^31",
                           what, word);
    out_axes[i] = (uint32_t)sizes[i];
  }
  return error;
}

static uattn_error_t *read_grid(launch_reader_t *reader) {
  return read_axes(reader, "grid", reader->description->grid);
}

static uattn_error_t *read_block(launch_reader_t *reader) {
  return read_axes(reader, "block", reader->description->block);
}

static uattn_error_t *read_shared(launch_reader_t *reader) {
  const char *word = NULL;
  int64_t bytes = 0;
  uattn_error_t *error = launch_take_wanted(reader, "a number of bytes", &word);
  if (!error && (!uattn_parse_int64(word, &bytes) || bytes < 0))
    error = launch_wrong(reader, "shared is '%s': expected a number of bytes",
                         word);
  reader->description->shared_bytes = (size_t)bytes;
  return error;
}

/* ---- Buffers ---------------------------------------------------------------
 */

static bool find_buffer(const launch_description_t *description,
                        const char *name, size_t *out_index) {
  for (size_t i = 0; i < description->buffer_count; ++i)
    if (strcmp(description->buffers[i].name, name) == 0) {
      *out_index = i;
      return true;
    }
  return false;
}

static uattn_error_t *read_type(launch_reader_t *reader,
                                launch_type_t *out_type) {
  const char *word = NULL;
  uattn_error_t *error = launch_take_wanted(reader, "an element type", &word);
  if (!error && !launch_type_parse(word, out_type))
    error = launch_wrong(reader, "type is '%s': expected %s", word,
                         launch_type_list());
  return error;
}

static uattn_error_t *read_shape(launch_reader_t *reader,
                                 launch_buffer_t *buffer) {
  const char *word = NULL;
  uattn_error_t *error =
      launch_take_wanted(reader, "a shape such as 64x16", &word);
  if (!error)
    error = launch_read_sizes(reader, "shape", word, LAUNCH_RANK_LIMIT, 1,
                              buffer->shape, &buffer->rank);
  if (error)
    return error;
  size_t count = 1;
  size_t bytes = 0;
  bool fits = true;
  for (int i = 0; i < buffer->rank; ++i)
    fits = fits && uattn_size_multiply(count, (size_t)buffer->shape[i], &count);
  fits = fits && uattn_size_multiply(count, 8, &bytes) && bytes < INT64_MAX;
  buffer->element_count = count;
  buffer->bytes = count * launch_type_bytes(buffer->type);
  return fits ? NULL
              : launch_wrong(reader, "shape is '%s': more than memory can hold",
                             word);
}

/* in, out or inout, then what it holds at first. */
static uattn_error_t *read_role(launch_reader_t *reader,
                                launch_buffer_t *buffer) {
  const char *role = NULL;
  uattn_error_t *error = launch_take_wanted(reader, "in, out or inout", &role);
  if (error)
    return error;
  bool is_out = strcmp(role, "out") == 0;
  bool is_in = strcmp(role, "in") == 0;
  if (!is_in && !is_out && strcmp(role, "inout") != 0)
    return launch_wrong(reader, "role is '%s': expected in, out or inout",
                        role);
  buffer->is_read_only = is_in;
  buffer->is_output = !is_in;
  buffer->fill = is_out ? LAUNCH_POISON : LAUNCH_FROM_INPUT;
  static const char *const fills[] = {[LAUNCH_FROM_INPUT] = "input",
                                      [LAUNCH_ZEROS] = "zeros",
                                      [LAUNCH_RANDOM] = "random",
                                      [LAUNCH_POISON] = "poison"};
  const char *word = launch_take(reader);
  for (size_t i = 0; word && i < sizeof fills / sizeof *fills; ++i)
    if (strcmp(word, fills[i]) == 0) {
      buffer->fill = (launch_fill_t)i;
      word = NULL;
    }
  return word ? launch_wrong(
                    reader,
                    "fill is '%s': expected input, zeros, random or poison",
                    word)
              : NULL;
}

static uattn_error_t *read_buffer(launch_reader_t *reader) {
  launch_description_t *description = reader->description;
  launch_buffer_t buffer = {.line = reader->line};
  size_t other = 0;
  uattn_error_t *error =
      launch_take_wanted(reader, "the buffer's name", &buffer.name);
  if (!error && find_buffer(description, buffer.name, &other))
    error = launch_wrong(reader, "buffer %s is there already, since line %d",
                         buffer.name, description->buffers[other].line);
  if (!error)
    error = read_type(reader, &buffer.type);
  if (!error)
    error = read_shape(reader, &buffer);
  if (!error)
    error = read_role(reader, &buffer);
  if (error)
    return error;
  buffer.name = uattn_arena_format(description->arena, "%s", buffer.name);
  description->buffers[description->buffer_count++] = buffer;
  return NULL;
}

/* ---- Arguments -------------------------------------------------------------
 */

static uattn_error_t *read_scalar(launch_reader_t *reader, launch_type_t type,
                                  launch_argument_t *argument) {
  const char *word = NULL;
  uattn_error_t *error = launch_take_wanted(reader, "a number", &word);
  argument->bytes = launch_type_bytes(type);
  if (!error && !launch_type_read(type, word, argument->scalar))
    error = launch_wrong(reader, "value is '%s': expected a number of type %s",
                         word, launch_type_name(type));
  return error;
}

static uattn_error_t *read_pointer(launch_reader_t *reader,
                                   launch_argument_t *argument) {
  const char *word = launch_take(reader);
  const launch_buffer_t *buffer =
      &reader->description->buffers[argument->buffer];
  argument->bytes = 8;
  if (!word)
    return NULL;
  if (word[0] != '+' || !uattn_parse_int64(word + 1, &argument->offset_bytes) ||
      argument->offset_bytes < 0 ||
      (size_t)argument->offset_bytes > buffer->bytes)
    return launch_wrong(
        reader, "offset is '%s': expected + and at most the %zu bytes of %s",
        word, buffer->bytes, buffer->name);
  return NULL;
}

static uattn_error_t *read_argument(launch_reader_t *reader) {
  launch_description_t *description = reader->description;
  launch_argument_t argument = {.line = reader->line, .kind = LAUNCH_SCALAR};
  launch_type_t type;
  const char *kind = NULL;
  const char *name = NULL;
  uattn_error_t *error =
      launch_take_wanted(reader, "pointer, map or a scalar's type", &kind);
  if (error)
    return error;
  if (launch_type_parse(kind, &type)) {
    error = read_scalar(reader, type, &argument);
  } else if (strcmp(kind, "pointer") == 0 || strcmp(kind, "map") == 0) {
    bool is_map = kind[0] == 'm';
    argument.kind = is_map ? LAUNCH_MAP : LAUNCH_POINTER;
    error = launch_take_wanted(reader, "a buffer's name", &name);
    if (!error && !find_buffer(description, name, &argument.buffer))
      error = launch_wrong(reader,
                           "no buffer %s: expected one of a line before", name);
    if (!error)
      error = is_map ? launch_read_map(reader, &argument)
                     : read_pointer(reader, &argument);
  } else {
    error = launch_wrong(reader, "argument is '%s': expected pointer, map, %s",
                         kind, launch_type_list());
  }
  if (!error)
    description->arguments[description->argument_count++] = argument;
  return error;
}

/* ---- Lines -----------------------------------------------------------------
 */

static uattn_error_t *expect_end(const launch_reader_t *reader) {
  return reader->next == reader->word_count
             ? NULL
             : launch_wrong(reader, "found '%s': expected the end of the line",
                            reader->words[reader->next]);
}

static const struct {
  const char *word;
  bool is_repeated;
  uattn_error_t *(*read)(launch_reader_t *reader);
} statements[] = {
    {"entry", false, read_entry},  {"grid", false, read_grid},
    {"block", false, read_block},  {"shared", false, read_shared},
    {"buffer", true, read_buffer}, {"argument", true, read_argument},
};
enum { STATEMENT_COUNT = sizeof statements / sizeof *statements };

static uattn_error_t *read_statement(launch_reader_t *reader,
                                     int first_lines[STATEMENT_COUNT]) {
  const char *word = launch_take(reader);
  if (!word)
    return NULL;
  for (int i = 0; i < STATEMENT_COUNT; ++i) {
    if (strcmp(word, statements[i].word) != 0)
      continue;
    if (first_lines[i] > 0 && !statements[i].is_repeated)
      return launch_wrong(reader, "%s is there already, since line %d", word,
                          first_lines[i]);
    first_lines[i] = reader->line;
    uattn_error_t *error = statements[i].read(reader);
    return error ? error : expect_end(reader);
  }
  return launch_wrong(
      reader,
      "found '%s': expected entry, grid, block, shared, buffer or "
      "argument",
      word);
}

static size_t count_lines(const char *text) {
  size_t count = 1;
  for (; *text; ++text)
    count += *text == '\n';
  return count;
}

uattn_error_t *launch_description_parse(const char *name, const char *text,
                                        launch_description_t *out_description) {
  size_t most = count_lines(text);
  launch_description_t *description = out_description;
  *description = (launch_description_t){
      .arena = uattn_arena_create(),
      .grid = {1, 1, 1},
      .block = {1, 1, 1},
      .buffers = uattn_allocate(most * sizeof *description->buffers),
      .arguments = uattn_allocate(most * sizeof *description->arguments)};
  char *copy = uattn_string_copy(text);
  char *rest = copy;
  int first_lines[STATEMENT_COUNT] = {0};
  launch_reader_t reader = {.description = description, .name = name};
  uattn_error_t *error = NULL;
  for (char *line = strsep(&rest, "\n"); line && !error;
       line = strsep(&rest, "\n")) {
    ++reader.line;
    error = launch_split_words(&reader, line);
    if (!error)
      error = read_statement(&reader, first_lines);
  }
  free(copy);
  return error;
}

void launch_description_release(launch_description_t *description) {
  uattn_arena_destroy(description->arena);
  free(description->buffers);
  free(description->arguments);
}
