/* The header of a .npy file: magic, version and a literal of Python.
 * Layer: tools. Must not know: attention, devices, MLIR.
 * SPDX-License-Identifier: Apache-2.0 */
#include "npy_header.h"

#include <string.h>

#include "support/support.h"

#define TORN(...) uattn_error_create(UATTN_ERROR_IO, __VA_ARGS__)

/* What is left of the text between `at` and `end`. */
typedef struct {
  const char *at;
  const char *end;
} cursor_t;

/* A piece of the text, not zero-terminated. */
typedef struct {
  const char *start;
  int size;
} text_t;

enum { HAS_DESCR = 1, HAS_ORDER = 2, HAS_SHAPE = 4, HAS_ALL = 7 };

static void skip_spaces(cursor_t *cursor) {
  while (cursor->at < cursor->end && strchr(" \t\r\n", *cursor->at) &&
         *cursor->at != '\0')
    ++cursor->at;
}

/* Takes `wanted` where it comes next, after spaces. */
static bool take(cursor_t *cursor, char wanted) {
  skip_spaces(cursor);
  if (cursor->at == cursor->end || *cursor->at != wanted)
    return false;
  ++cursor->at;
  return true;
}

/* The rest of the header, short enough for a message. */
static text_t rest(const cursor_t *cursor) {
  ptrdiff_t left = cursor->end - cursor->at;
  return (text_t){cursor->at, left > 24 ? 24 : (int)left};
}

static uattn_error_t *expected(const cursor_t *cursor, const char *wanted) {
  text_t found = rest(cursor);
  return TORN("the header has `%.*s`: expected %s", found.size, found.start,
              wanted);
}

static uattn_error_t *take_quoted(cursor_t *cursor, const char *what,
                                  text_t *out_text) {
  char quote = '\'';
  if (!take(cursor, quote)) {
    quote = '"';
    if (!take(cursor, quote))
      return expected(cursor, what);
  }
  const char *start = cursor->at;
  const char *close = memchr(start, quote, (size_t)(cursor->end - start));
  if (!close || close - start > 64)
    return expected(cursor, "a short text and its closing quote");
  cursor->at = close + 1;
  *out_text = (text_t){start, (int)(close - start)};
  return NULL;
}

static bool text_is(text_t text, const char *wanted) {
  return (size_t)text.size == strlen(wanted) &&
         memcmp(text.start, wanted, (size_t)text.size) == 0;
}

static uattn_error_t *take_type(cursor_t *cursor, uattn_npy_header_t *header) {
  static const struct {
    const char *name;
    uattn_npy_type_t type;
    size_t bytes;
  } types[] = {{"f4", UATTN_NPY_FLOAT32, 4},
               {"f2", UATTN_NPY_FLOAT16, 2},
               {"i4", UATTN_NPY_INT32, 4},
               {"i8", UATTN_NPY_INT64, 8}};
  text_t text = {0};
  uattn_error_t *error =
      take_quoted(cursor, "the name of one element type", &text);
  if (error)
    return error;
  text_t name = text;
  bool has_order = name.size > 0 && strchr("<>=", name.start[0]) != NULL &&
                   name.start[0] != '\0';
  if (has_order)
    name = (text_t){name.start + 1, name.size - 1};
  for (size_t i = 0; has_order && i < sizeof types / sizeof *types; ++i)
    if (text_is(name, types[i].name)) {
      header->type = types[i].type;
      header->element_bytes = types[i].bytes;
      header->is_big_endian = text.start[0] == '>';
      return NULL;
    }
  return TORN("element type '%.*s' is not supported: expected float32 "
              "('<f4'), float16 ('<f2'), int32 ('<i4') or int64 ('<i8')",
              text.size, text.start);
}

static uattn_error_t *take_order(cursor_t *cursor, uattn_npy_header_t *header) {
  skip_spaces(cursor);
  size_t left = (size_t)(cursor->end - cursor->at);
  if (left >= 4 && memcmp(cursor->at, "True", 4) == 0) {
    header->is_fortran_order = true;
    cursor->at += 4;
    return NULL;
  }
  if (left >= 5 && memcmp(cursor->at, "False", 5) == 0) {
    header->is_fortran_order = false;
    cursor->at += 5;
    return NULL;
  }
  return expected(cursor, "True or False for fortran_order");
}

static uattn_error_t *take_dimension(cursor_t *cursor, int64_t *out_size) {
  skip_spaces(cursor);
  const char *start = cursor->at;
  while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9')
    ++cursor->at;
  char digits[20] = ""; /* 19 digits at most, and a terminator */
  size_t count = (size_t)(cursor->at - start);
  if (count > 0 && count < sizeof digits) {
    memcpy(digits, start, count);
    if (uattn_parse_int64(digits, out_size))
      return NULL;
  }
  cursor->at = start;
  return expected(cursor, "a dimension from 0 to 2^63 - 1");
}

static uattn_error_t *take_shape(cursor_t *cursor, uattn_npy_header_t *header) {
  if (!take(cursor, '('))
    return expected(cursor, "'(' and a shape");
  header->rank = 0;
  header->element_count = 1;
  while (!take(cursor, ')')) {
    if (header->rank == UATTN_NPY_MAX_RANK)
      return TORN("the shape has more than %d dimensions: expected at most %d",
                  UATTN_NPY_MAX_RANK, UATTN_NPY_MAX_RANK);
    int64_t size = 0;
    uattn_error_t *error = take_dimension(cursor, &size);
    if (error)
      return error;
    header->shape[header->rank++] = size;
    if (!uattn_size_multiply(header->element_count, (size_t)size,
                             &header->element_count))
      return TORN("the shape has too many elements for memory: expected a "
                  "product below 2^64");
    if (!take(cursor, ',') && (cursor->at == cursor->end || *cursor->at != ')'))
      return expected(cursor, "',' or ')' in the shape");
  }
  return NULL;
}

static uattn_error_t *take_entry(cursor_t *cursor, uattn_npy_header_t *header,
                                 int *found) {
  text_t key = {0};
  uattn_error_t *error = take_quoted(cursor, "a quoted key or '}'", &key);
  if (error)
    return error;
  if (!take(cursor, ':'))
    return expected(cursor, "':' after a key");
  int entry = 0;
  if (text_is(key, "descr")) {
    entry = HAS_DESCR;
    error = take_type(cursor, header);
  } else if (text_is(key, "fortran_order")) {
    entry = HAS_ORDER;
    error = take_order(cursor, header);
  } else if (text_is(key, "shape")) {
    entry = HAS_SHAPE;
    error = take_shape(cursor, header);
  } else {
    return TORN("the header has the key '%.*s': expected 'descr', "
                "'fortran_order' and 'shape'",
                key.size, key.start);
  }
  if (!error && (*found & entry))
    error = TORN("the header has the key '%.*s' twice: expected it once",
                 key.size, key.start);
  *found |= entry;
  return error;
}

static uattn_error_t *take_dictionary(cursor_t *cursor,
                                      uattn_npy_header_t *header) {
  if (!take(cursor, '{'))
    return expected(cursor, "'{' and a dictionary");
  int found = 0;
  uattn_error_t *error = NULL;
  while (!error && !take(cursor, '}')) {
    error = take_entry(cursor, header, &found);
    if (!error && !take(cursor, ',') &&
        (cursor->at == cursor->end || *cursor->at != '}'))
      error = expected(cursor, "',' or '}' after an entry");
  }
  if (error)
    return error;
  if (found != HAS_ALL)
    return TORN("the header lacks '%s': expected 'descr', 'fortran_order' and "
                "'shape'",
                !(found & HAS_DESCR)   ? "descr"
                : !(found & HAS_ORDER) ? "fortran_order"
                                       : "shape");
  skip_spaces(cursor);
  if (cursor->at != cursor->end)
    return expected(cursor, "spaces after the dictionary");
  return NULL;
}

/* Finds the dictionary's text from magic, version and length. */
static uattn_error_t *find_dictionary(const char *bytes, size_t size,
                                      cursor_t *out_cursor) {
  static const char magic[] = "\x93NUMPY";
  enum { MAGIC_BYTES = sizeof magic - 1, VERSION_BYTES = 2 };
  size_t length_offset = MAGIC_BYTES + VERSION_BYTES;
  if (size < MAGIC_BYTES || memcmp(bytes, magic, MAGIC_BYTES) != 0)
    return TORN("the file is not a .npy file: expected it to begin with "
                "\\x93NUMPY");
  if (size < length_offset)
    return TORN("the file ends after %zu bytes: expected a format version",
                size);
  const unsigned char *raw = (const unsigned char *)bytes;
  unsigned major = raw[MAGIC_BYTES];
  unsigned minor = raw[MAGIC_BYTES + 1];
  if (major < 1 || major > 3 || minor != 0)
    return TORN("the format version is %u.%u: expected 1.0, 2.0 or 3.0", major,
                minor);
  size_t length_bytes = major == 1 ? 2 : 4;
  size_t start = length_offset + length_bytes;
  if (size < start)
    return TORN("the file ends after %zu bytes: expected the header's length",
                size);
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i)
    length |= (size_t)raw[length_offset + i] << (8 * i);
  if (size - start < length)
    return TORN("the file ends after %zu bytes: expected a header of %zu bytes "
                "from byte %zu",
                size, length, start);
  *out_cursor = (cursor_t){bytes + start, bytes + start + length};
  return NULL;
}

uattn_error_t *uattn_npy_header_parse(const char *bytes, size_t size,
                                      uattn_npy_header_t *out_header) {
  cursor_t cursor = {0};
  uattn_npy_header_t header = {0};
  uattn_error_t *error = find_dictionary(bytes, size, &cursor);
  if (error)
    return error;
  header.data_offset = (size_t)(cursor.end - bytes);
  error = take_dictionary(&cursor, &header);
  if (error)
    return error;
  size_t wanted = 0;
  size_t found = size - header.data_offset;
  if (!uattn_size_multiply(header.element_count, header.element_bytes,
                           &wanted) ||
      wanted != found)
    return TORN("the file holds %zu bytes of data: expected %zu elements of "
                "%zu bytes",
                found, header.element_count, header.element_bytes);
  *out_header = header;
  return NULL;
}
