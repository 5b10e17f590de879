/* Reader and writer of NumPy's .npy files.
 * Layer: tools. Must not know: attention, devices, MLIR.
 * SPDX-License-Identifier: Apache-2.0 */
#include "npy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "npy_header.h"
#include "spec/spec.h"
#include "support/support.h"

/* The bits of an element, whatever the byte order of file and machine. */
static uint64_t load_bits(const unsigned char *bytes, size_t count,
                          bool is_big_endian) {
  uint64_t bits = 0;
  for (size_t i = 0; i < count; ++i)
    bits |= (uint64_t)bytes[i] << (8 * (is_big_endian ? count - 1 - i : i));
  return bits;
}

static uattn_error_t *store_integer(int64_t value, size_t index, void *data) {
  if (value < INT32_MIN || value > INT32_MAX)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "element %zu is %" PRId64
                              ": expected a number of 32 bits",
                              index, value);
  ((int32_t *)data)[index] = (int32_t)value;
  return NULL;
}

/* Converts one element of the file into `data[index]`. */
static uattn_error_t *load_element(const uattn_npy_header_t *header,
                                   const unsigned char *bytes, size_t index,
                                   void *data) {
  uint64_t bits =
      load_bits(bytes, header->element_bytes, header->is_big_endian);
  uint32_t word = (uint32_t)bits;
  switch (header->type) {
  case UATTN_NPY_FLOAT32:
    memcpy((float *)data + index, &word, sizeof word);
    return NULL;
  case UATTN_NPY_FLOAT16:
    ((float *)data)[index] = uattn_f16_to_float((uint16_t)bits);
    return NULL;
  case UATTN_NPY_INT32:
    memcpy((int32_t *)data + index, &word, sizeof word);
    return NULL;
  case UATTN_NPY_INT64: {
    int64_t value = 0;
    memcpy(&value, &bits, sizeof value);
    return store_integer(value, index, data);
  }
  }
  return NULL;
}

/* Distances in elements between neighbours along each dimension. */
static void file_strides(const uattn_npy_header_t *header,
                         size_t strides[UATTN_NPY_MAX_RANK]) {
  size_t stride = 1;
  for (int n = 0; n < header->rank; ++n) {
    int dim = header->is_fortran_order ? n : header->rank - 1 - n;
    strides[dim] = stride;
    stride *= (size_t)header->shape[dim];
  }
}

/* Converts all elements, in C order of the array. */
static uattn_error_t *load_elements(const uattn_npy_header_t *header,
                                    const unsigned char *bytes, void *data) {
  size_t strides[UATTN_NPY_MAX_RANK] = {0};
  int64_t position[UATTN_NPY_MAX_RANK] = {0};
  file_strides(header, strides);
  size_t source = 0;
  for (size_t index = 0; index < header->element_count; ++index) {
    uattn_error_t *error = load_element(
        header, bytes + source * header->element_bytes, index, data);
    if (error)
      return error;
    /* The next position: the last dimension runs fastest. */
    for (int dim = header->rank - 1; dim >= 0; --dim) {
      source += strides[dim];
      if (++position[dim] < header->shape[dim])
        break;
      source -= strides[dim] * (size_t)header->shape[dim];
      position[dim] = 0;
    }
  }
  return NULL;
}

uattn_error_t *uattn_npy_parse(const void *bytes, size_t size,
                               uattn_npy_array_t *out_array) {
  uattn_npy_header_t header = {0};
  uattn_error_t *error = uattn_npy_header_parse(bytes, size, &header);
  if (error)
    return error;
  bool is_integer =
      header.type == UATTN_NPY_INT32 || header.type == UATTN_NPY_INT64;
  uattn_npy_array_t array = {.dtype =
                                 is_integer ? UATTN_DTYPE_I32 : UATTN_DTYPE_F32,
                             .rank = header.rank,
                             .element_count = header.element_count};
  memcpy(array.shape, header.shape, sizeof array.shape);

  /* The file holds the elements, so that their number is no forgery. */
  size_t data_bytes = 0;
  if (uattn_size_multiply(array.element_count, 4, &data_bytes))
    array.data = uattn_try_allocate(data_bytes ? data_bytes : 4);
  if (!array.data)
    return uattn_error_create(UATTN_ERROR_INTERNAL,
                              "no memory for %zu elements",
                              array.element_count);
  error = load_elements(
      &header, (const unsigned char *)bytes + header.data_offset, array.data);
  if (error)
    free(array.data);
  else
    *out_array = array;
  return error;
}

uattn_error_t *uattn_npy_read(const char *path, uattn_npy_array_t *out_array) {
  char *bytes = NULL;
  size_t size = 0;
  uattn_error_t *error = uattn_file_read(path, &bytes, &size);
  if (error)
    return error;
  error = uattn_npy_parse(bytes, size, out_array);
  free(bytes);
  return uattn_error_annotate(error, "cannot use `%s` as an array", path);
}

void uattn_npy_array_release(uattn_npy_array_t *array) {
  free(array->data);
  *array = (uattn_npy_array_t){0};
}

/* Magic, version 1.0 and the dictionary, padded so that data begins at a
 * multiple of 64 bytes. */
static void append_header(const uattn_npy_array_t *array,
                          uattn_string_t *file) {
  uattn_string_t text = {0};
  uattn_string_appendf(&text,
                       "{'descr': '%s', 'fortran_order': False, 'shape': (",
                       array->dtype == UATTN_DTYPE_I32 ? "<i4" : "<f4");
  for (int dim = 0; dim < array->rank; ++dim)
    uattn_string_appendf(&text, "%s%" PRId64, dim ? ", " : "",
                         array->shape[dim]);
  uattn_string_append(&text, array->rank == 1 ? ",), }" : "), }");

  enum { PREFIX_BYTES = 10, ALIGNMENT = 64 };
  size_t unpadded = PREFIX_BYTES + text.size + 1;
  size_t padding = (ALIGNMENT - unpadded % ALIGNMENT) % ALIGNMENT;
  size_t length = text.size + padding + 1;
  const unsigned char prefix[PREFIX_BYTES] = {0x93,
                                              'N',
                                              'U',
                                              'M',
                                              'P',
                                              'Y',
                                              1,
                                              0,
                                              (unsigned char)(length & 0xff),
                                              (unsigned char)(length >> 8)};
  uattn_string_append_bytes(file, prefix, sizeof prefix);
  uattn_string_append_bytes(file, uattn_string_get(&text), text.size);
  uattn_string_appendf(file, "%*s\n", (int)padding, "");
  uattn_string_release(&text);
}

/* The whole file; NULL where memory is short. Free with free(). */
static unsigned char *encode_file(const uattn_npy_array_t *array,
                                  size_t *out_size) {
  uattn_string_t header = {0};
  append_header(array, &header);
  size_t size = 0;
  unsigned char *file = NULL;
  if (uattn_size_multiply(array->element_count, 4, &size) &&
      uattn_size_add(size, header.size, &size))
    file = uattn_try_allocate(size);
  if (file) {
    memcpy(file, uattn_string_get(&header), header.size);
    unsigned char *at = file + header.size;
    for (size_t i = 0; i < array->element_count; ++i, at += 4) {
      uint32_t word = 0;
      memcpy(&word, (const char *)array->data + 4 * i, sizeof word);
      for (int byte = 0; byte < 4; ++byte)
        at[byte] = (unsigned char)(word >> (8 * byte) & 0xff);
    }
  }
  uattn_string_release(&header);
  *out_size = size;
  return file;
}

uattn_error_t *uattn_npy_write(const char *path,
                               const uattn_npy_array_t *array) {
  UATTN_CHECK(array->dtype == UATTN_DTYPE_F32 ||
              array->dtype == UATTN_DTYPE_I32);
  size_t size = 0;
  unsigned char *file = encode_file(array, &size);
  if (!file)
    return uattn_error_create(UATTN_ERROR_INTERNAL,
                              "no memory for the %zu elements of `%s`",
                              array->element_count, path);
  uattn_error_t *error = uattn_file_write(path, file, size);
  free(file);
  return error;
}
