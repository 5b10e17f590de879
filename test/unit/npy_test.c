/* Tests of the .npy reader and writer.
 * Layer: test. Must not know: anything above the layers that it tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "npy.h"
#include "support/support.h"

/* A file of version 1.0 with this dictionary and data. */
static uattn_string_t make_file(const char *dictionary, const void *data,
                                size_t data_size) {
  uattn_string_t file = {0};
  size_t length = strlen(dictionary);
  uattn_string_append_bytes(&file, "\x93NUMPY\x01\x00", 8);
  uattn_string_append_bytes(
      &file, (char[]){(char)(length & 0xff), (char)(length >> 8)}, 2);
  uattn_string_append(&file, dictionary);
  uattn_string_append_bytes(&file, data, data_size);
  return file;
}

static uattn_npy_array_t parse_file(uattn_string_t file) {
  uattn_npy_array_t array = {0};
  assert_ok(uattn_npy_parse(uattn_string_get(&file), file.size, &array));
  uattn_string_release(&file);
  return array;
}

static uattn_npy_array_t parse(const char *dictionary, const void *data,
                               size_t data_size) {
  return parse_file(make_file(dictionary, data, data_size));
}

/* From an exact allocation, so that a sanitizer sees any read past its end. */
static void assert_file_refused(uattn_string_t file, uattn_error_code_t code,
                                const char *message) {
  char *exact = malloc(file.size ? file.size : 1);
  assert_non_null(exact);
  memcpy(exact, uattn_string_get(&file), file.size);
  uattn_npy_array_t array = {0};
  assert_error(uattn_npy_parse(exact, file.size, &array), code, message);
  assert_null(array.data);
  free(exact);
  uattn_string_release(&file);
}

static void assert_refused(const char *dictionary, size_t data_size,
                           const char *message) {
  char *data = calloc(data_size + 1, 1);
  assert_file_refused(make_file(dictionary, data, data_size), UATTN_ERROR_IO,
                      message);
  free(data);
}

static void float32_is_read(void **state) {
  (void)state;
  const float data[] = {0.5f, -2, 3, 4, 5, 6};
  uattn_npy_array_t array =
      parse("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }    \n",
            data, sizeof data);
  assert_int_equal(array.dtype, UATTN_DTYPE_F32);
  assert_int_equal(array.rank, 2);
  assert_int_equal(array.shape[0], 2);
  assert_int_equal(array.shape[1], 3);
  assert_int_equal(array.element_count, 6);
  assert_memory_equal(array.data, data, sizeof data);
  uattn_npy_array_release(&array);
  assert_null(array.data);
}

static void float16_becomes_float(void **state) {
  (void)state;
  const unsigned char data[] = {0x00, 0x3c, 0x00, 0xc1, 0xff, 0x7b, 0x01, 0x00};
  const float wanted[] = {1, -2.5f, 65504, 0x1p-24f};
  uattn_npy_array_t array =
      parse("{'descr': '<f2', 'fortran_order': False, 'shape': (4,)}", data,
            sizeof data);
  assert_int_equal(array.dtype, UATTN_DTYPE_F32);
  assert_memory_equal(array.data, wanted, sizeof wanted);
  uattn_npy_array_release(&array);
}

static void integers_become_int32(void **state) {
  (void)state;
  const int32_t wanted[] = {-1, INT32_MAX, INT32_MIN};
  const int64_t wide[] = {-1, INT32_MAX, INT32_MIN};
  uattn_npy_array_t narrow =
      parse("{'descr': '<i4', 'fortran_order': False, 'shape': (3,)}", wanted,
            sizeof wanted);
  uattn_npy_array_t array =
      parse("{'descr': '<i8', 'fortran_order': False, 'shape': (3,)}", wide,
            sizeof wide);
  assert_int_equal(array.dtype, UATTN_DTYPE_I32);
  assert_memory_equal(narrow.data, wanted, sizeof wanted);
  assert_memory_equal(array.data, wanted, sizeof wanted);
  uattn_npy_array_release(&narrow);
  uattn_npy_array_release(&array);
}

static void big_endian_is_swapped(void **state) {
  (void)state;
  const unsigned char data[] = {0xc0, 0x20, 0, 0}; /* -2.5 */
  uattn_npy_array_t array =
      parse("{'descr': '>f4', 'fortran_order': False, 'shape': ()}", data, 4);
  assert_int_equal(array.rank, 0);
  assert_int_equal(array.element_count, 1);
  assert_true(*(float *)array.data == -2.5f);
  uattn_npy_array_release(&array);
}

/* Element [i, j, k] is 100 i + 10 j + k. */
static void fortran_order_becomes_c_order(void **state) {
  (void)state;
  int32_t data[2 * 3 * 4];
  int32_t *at = data;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i)
        *at++ = 100 * i + 10 * j + k;
  uattn_npy_array_t array =
      parse("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3, 4)}", data,
            sizeof data);
  const int32_t *found = array.data;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k)
        assert_int_equal(*found++, 100 * i + 10 * j + k);
  uattn_npy_array_release(&array);
}

static void keys_may_come_in_any_order_and_quotes(void **state) {
  (void)state;
  const float data[] = {7};
  uattn_npy_array_t array =
      parse(" {\"shape\":(1,1,),\t\"fortran_order\":True,'descr':\"<f4\"}\n\n",
            data, sizeof data);
  assert_int_equal(array.rank, 2);
  assert_true(*(float *)array.data == 7);
  uattn_npy_array_release(&array);
}

static void later_versions_are_read(void **state) {
  (void)state;
  for (char version = 2; version <= 3; ++version) {
    const char *dictionary =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 5)}";
    uattn_string_t file = {0};
    uattn_string_append_bytes(&file, "\x93NUMPY", 6);
    uattn_string_append_bytes(
        &file, (char[]){version, 0, (char)strlen(dictionary), 0, 0, 0}, 6);
    uattn_string_append(&file, dictionary);
    uattn_npy_array_t array = parse_file(file);
    assert_int_equal(array.rank, 2);
    assert_int_equal(array.element_count, 0);
    assert_non_null(array.data);
    uattn_npy_array_release(&array);
  }
}

static void other_files_are_refused(void **state) {
  (void)state;
  const char *message = "the file is not a .npy file: expected it to begin "
                        "with \\x93NUMPY";
  uattn_string_t empty = {0};
  assert_file_refused(empty, UATTN_ERROR_IO, message);
  uattn_string_t zip = {0};
  uattn_string_append(&zip, "PK\x03\x04 and so on");
  assert_file_refused(zip, UATTN_ERROR_IO, message);
}

static void unknown_versions_are_refused(void **state) {
  (void)state;
  uattn_string_t file = {0};
  uattn_string_append_bytes(&file, "\x93NUMPY\x04\x00\x00\x00\x00\x00", 12);
  assert_file_refused(file, UATTN_ERROR_IO,
                      "the format version is 4.0: expected 1.0, 2.0 or 3.0");
}

/* Every prefix of a good file. */
static void truncated_files_are_refused(void **state) {
  (void)state;
  const float data[] = {1, 2, 3};
  uattn_string_t whole =
      make_file("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", data,
                sizeof data);
  for (size_t size = 0; size < whole.size; ++size) {
    char *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    memcpy(exact, uattn_string_get(&whole), size);
    uattn_npy_array_t array = {0};
    uattn_error_t *error = uattn_npy_parse(exact, size, &array);
    assert_non_null(error);
    assert_int_equal(uattn_error_code(error), UATTN_ERROR_IO);
    uattn_error_destroy(error);
    free(exact);
  }
  uattn_string_release(&whole);
}

static void data_of_another_size_is_refused(void **state) {
  (void)state;
  const char *dictionary =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}";
  assert_refused(dictionary, 23,
                 "the file holds 23 bytes of data: expected 6 elements of 4 "
                 "bytes");
  assert_refused(dictionary, 25,
                 "the file holds 25 bytes of data: expected 6 elements of 4 "
                 "bytes");
}

static void forged_shapes_are_refused_before_memory_is_taken(void **state) {
  (void)state;
  assert_refused("{'descr': '<f4', 'fortran_order': False, 'shape': "
                 "(4611686018427387904,)}",
                 4,
                 "the file holds 4 bytes of data: expected 4611686018427387904 "
                 "elements of 4 bytes");
  assert_refused("{'descr': '<f4', 'fortran_order': False, 'shape': "
                 "(4294967296, 4294967296)}",
                 4,
                 "the shape has too many elements for memory: expected a "
                 "product below 2^64");
  assert_refused("{'descr': '<f4', 'fortran_order': False, 'shape': "
                 "(9223372036854775808,)}",
                 4,
                 "the header has `9223372036854775808,)}`: expected a "
                 "dimension from 0 to 2^63 - 1");
  assert_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", 4,
                 "the header has `-1,)}`: expected a dimension from 0 to 2^63 "
                 "- 1");
  assert_refused("{'descr': '<f4', 'fortran_order': False, 'shape': "
                 "(1,1,1,1,1,1,1,1,1)}",
                 4, "the shape has more than 8 dimensions: expected at most 8");
}

static void other_element_types_are_refused(void **state) {
  (void)state;
  assert_refused("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", 8,
                 "element type '<f8' is not supported: expected float32 "
                 "('<f4'), float16 ('<f2'), int32 ('<i4') or int64 ('<i8')");
  assert_refused("{'descr': 'f4', 'fortran_order': False, 'shape': (1,)}", 4,
                 "element type 'f4' is not supported: expected float32 "
                 "('<f4'), float16 ('<f2'), int32 ('<i4') or int64 ('<i8')");
  assert_refused("{'descr': '', 'fortran_order': False, 'shape': (1,)}", 4,
                 "element type '' is not supported: expected float32 ('<f4'), "
                 "float16 ('<f2'), int32 ('<i4') or int64 ('<i8')");
  assert_refused("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': "
                 "(1,)}",
                 4,
                 "the header has `[('a', '<f4')], 'fortran`: expected the name "
                 "of one element type");
}

static void malformed_dictionaries_are_refused(void **state) {
  (void)state;
  assert_refused("", 0, "the header has ``: expected '{' and a dictionary");
  assert_refused("{'descr", 0,
                 "the header has `descr`: expected a short text and its "
                 "closing quote");
  assert_refused("{'descr' '<f4'}", 0,
                 "the header has `'<f4'}`: expected ':' after a key");
  assert_refused("{'descr': '<f4' 'shape': ()}", 0,
                 "the header has `'shape': ()}`: expected ',' or '}' after an "
                 "entry");
  assert_refused("{'descr': '<f4', 'fortran_order': 1, 'shape': ()}", 4,
                 "the header has `1, 'shape': ()}`: expected True or False for "
                 "fortran_order");
  assert_refused("{'descr': '<f4', 'fortran_order': False, 'shape': [1]}", 4,
                 "the header has `[1]}`: expected '(' and a shape");
  assert_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}", 4,
                 "the header has `2)}`: expected ',' or ')' in the shape");
  assert_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (1,", 4,
                 "the header has ``: expected a dimension from 0 to 2^63 - 1");
  assert_refused("{'descr': '<f4', 'shape': ()}", 4,
                 "the header lacks 'fortran_order': expected 'descr', "
                 "'fortran_order' and 'shape'");
  assert_refused("{'descr': '<f4', 'descr': '<f2'}", 4,
                 "the header has the key 'descr' twice: expected it once");
  assert_refused("{'colour': 'red'}", 4,
                 "the header has the key 'colour': expected 'descr', "
                 "'fortran_order' and 'shape'");
  assert_refused("{'descr': '<f4', 'fortran_order': False, 'shape': ()} + 1", 4,
                 "the header has `+ 1`: expected spaces after the dictionary");
}

static void wide_integers_out_of_range_are_refused(void **state) {
  (void)state;
  const int64_t data[] = {0, INT64_C(2147483648)};
  assert_file_refused(
      make_file("{'descr': '<i8', 'fortran_order': False, 'shape': (2,)}", data,
                sizeof data),
      UATTN_ERROR_INVALID_ARGUMENT,
      "element 1 is 2147483648: expected a number of 32 bits");
}

static void missing_file_is_named(void **state) {
  (void)state;
  uattn_npy_array_t array = {0};
  assert_error(uattn_npy_read("no/such.npy", &array), UATTN_ERROR_IO,
               "cannot open `no/such.npy`: no such file or directory");
}

/* In a new folder within the current one, which the test removes. */
static void written_arrays_are_read_back(void **state) {
  (void)state;
  char folder[] = "npy-XXXXXX";
  assert_non_null(mkdtemp(folder));
  char path[64];
  snprintf(path, sizeof path, "%s/a.npy", folder);
  for (int rank = 0; rank <= UATTN_NPY_MAX_RANK; ++rank) {
    uint32_t data[256];
    uattn_npy_array_t written = {.dtype = rank % 2 ? UATTN_DTYPE_I32
                                                   : UATTN_DTYPE_F32,
                                 .rank = rank,
                                 .element_count = (size_t)1 << rank,
                                 .data = data};
    for (uint32_t i = 0; i < 256; ++i)
      data[i] = 0x3f800000u + 77777u * i;
    for (int dim = 0; dim < rank; ++dim)
      written.shape[dim] = 2;
    assert_ok(uattn_npy_write(path, &written));
    char *bytes = NULL;
    size_t size = 0;
    assert_ok(uattn_file_read(path, &bytes, &size));
    assert_int_equal((size - 4 * written.element_count) % 64, 0);
    free(bytes);
    uattn_npy_array_t found = {0};
    assert_ok(uattn_npy_read(path, &found));
    assert_int_equal(found.dtype, written.dtype);
    assert_int_equal(found.rank, rank);
    assert_memory_equal(found.shape, written.shape, sizeof found.shape);
    assert_memory_equal(found.data, data, 4 * written.element_count);
    uattn_npy_array_release(&found);
  }
  assert_int_equal(unlink(path), 0);
  assert_int_equal(rmdir(folder), 0);
}

static void unwritable_path_is_named(void **state) {
  (void)state;
  float number = 1;
  uattn_npy_array_t array = {
      .dtype = UATTN_DTYPE_F32, .element_count = 1, .data = &number};
  uattn_error_t *error = uattn_npy_write("no/such/folder/a.npy", &array);
  assert_non_null(error);
  assert_int_equal(uattn_error_code(error), UATTN_ERROR_IO);
  assert_non_null(strstr(uattn_error_message(error), "no/such/folder/a.npy"));
  uattn_error_destroy(error);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(float32_is_read),
      cmocka_unit_test(float16_becomes_float),
      cmocka_unit_test(integers_become_int32),
      cmocka_unit_test(big_endian_is_swapped),
      cmocka_unit_test(fortran_order_becomes_c_order),
      cmocka_unit_test(keys_may_come_in_any_order_and_quotes),
      cmocka_unit_test(later_versions_are_read),
      cmocka_unit_test(other_files_are_refused),
      cmocka_unit_test(unknown_versions_are_refused),
      cmocka_unit_test(truncated_files_are_refused),
      cmocka_unit_test(data_of_another_size_is_refused),
      cmocka_unit_test(forged_shapes_are_refused_before_memory_is_taken),
      cmocka_unit_test(other_element_types_are_refused),
      cmocka_unit_test(malformed_dictionaries_are_refused),
      cmocka_unit_test(wide_integers_out_of_range_are_refused),
      cmocka_unit_test(missing_file_is_named),
      cmocka_unit_test(written_arrays_are_read_back),
      cmocka_unit_test(unwritable_path_is_named)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
