/* Element types of a launch description and their numbers.
 * Layer: tools. Must not know: descriptions' text, PTX, files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "launch_type.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "spec/spec.h"

static const struct {
  const char *name;
  size_t bytes;
  int64_t least; /* of integers */
  int64_t most;  /* that an int64_t can say */
  int element;   /* of tensor maps, or -1 */
} types[LAUNCH_TYPE_COUNT] = {
    [LAUNCH_I8] = {"i8", 1, INT8_MIN, INT8_MAX, -1},
    [LAUNCH_U8] = {"u8", 1, 0, UINT8_MAX, UATTN_ELEMENT_U8},
    [LAUNCH_I16] = {"i16", 2, INT16_MIN, INT16_MAX, -1},
    [LAUNCH_U16] = {"u16", 2, 0, UINT16_MAX, UATTN_ELEMENT_U16},
    [LAUNCH_I32] = {"i32", 4, INT32_MIN, INT32_MAX, UATTN_ELEMENT_I32},
    [LAUNCH_U32] = {"u32", 4, 0, UINT32_MAX, UATTN_ELEMENT_U32},
    [LAUNCH_I64] = {"i64", 8, INT64_MIN, INT64_MAX, UATTN_ELEMENT_I64},
    [LAUNCH_U64] = {"u64", 8, 0, INT64_MAX, UATTN_ELEMENT_U64},
    [LAUNCH_F16] = {"f16", 2, 0, 0, UATTN_ELEMENT_F16},
    [LAUNCH_BF16] = {"bf16", 2, 0, 0, UATTN_ELEMENT_BF16},
    [LAUNCH_F32] = {"f32", 4, 0, 0, UATTN_ELEMENT_F32},
    [LAUNCH_F64] = {"f64", 8, 0, 0, UATTN_ELEMENT_F64},
};

const char *launch_type_name(launch_type_t type) { return types[type].name; }

bool launch_type_parse(const char *name, launch_type_t *out_type) {
  for (int i = 0; i < LAUNCH_TYPE_COUNT; ++i)
    if (strcmp(types[i].name, name) == 0) {
      *out_type = (launch_type_t)i;
      return true;
    }
  return false;
}

const char *launch_type_list(void) {
  return "i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32 or f64";
}

size_t launch_type_bytes(launch_type_t type) { return types[type].bytes; }

bool launch_type_is_float(launch_type_t type) { return type >= LAUNCH_F16; }

bool launch_type_element(launch_type_t type, uattn_element_t *out_element) {
  if (types[type].element < 0)
    return false;
  *out_element = (uattn_element_t)types[type].element;
  return true;
}

/* ---- One element -----------------------------------------------------------
 */

static void store_float(launch_type_t type, double number, void *out) {
  float single = (float)number;
  uint16_t half = type == LAUNCH_F16 ? uattn_f16_from_float(single)
                                     : uattn_bf16_from_float(single);
  if (type == LAUNCH_F64)
    memcpy(out, &number, sizeof number);
  else if (type == LAUNCH_F32)
    memcpy(out, &single, sizeof single);
  else
    memcpy(out, &half, sizeof half);
}

static float load_float(launch_type_t type, const void *element) {
  double number = 0;
  float single = 0;
  uint16_t half = 0;
  if (type == LAUNCH_F64) {
    memcpy(&number, element, sizeof number);
    return (float)number;
  }
  if (type == LAUNCH_F32) {
    memcpy(&single, element, sizeof single);
    return single;
  }
  memcpy(&half, element, sizeof half);
  return type == LAUNCH_F16 ? uattn_f16_to_float(half)
                            : uattn_bf16_to_float(half);
}

/* Little endian: the first bytes are the low ones. */
static bool store_integer(launch_type_t type, int64_t number, void *out) {
  memcpy(out, &number, types[type].bytes);
  return number >= types[type].least && number <= types[type].most;
}

/* False for a u64 that an int64_t cannot say. */
static bool load_integer(launch_type_t type, const void *element,
                         int64_t *out_number) {
  uint64_t bits = 0;
  memcpy(&bits, element, types[type].bytes);
  int shift = 64 - 8 * (int)types[type].bytes;
  *out_number =
      types[type].least < 0 ? (int64_t)(bits << shift) >> shift : (int64_t)bits;
  return *out_number >= types[type].least;
}

bool launch_type_read(launch_type_t type, const char *text, void *out_element) {
  char *end = NULL;
  errno = 0;
  if (launch_type_is_float(type)) {
    double number = strtod(text, &end);
    store_float(type, number, out_element);
    return end != text && !*end;
  }
  int base = strncmp(text, "0x", 2) == 0 ? 16 : 10;
  if (type == LAUNCH_U64 && *text != '-') {
    unsigned long long bits = strtoull(text, &end, base);
    memcpy(out_element, &bits, sizeof bits);
    return end != text && !*end && errno == 0;
  }
  long long number = strtoll(text, &end, base);
  return end != text && !*end && errno == 0 &&
         store_integer(type, number, out_element);
}

/* ---- Arrays ----------------------------------------------------------------
 */

bool launch_type_pack(launch_type_t type, const void *numbers, size_t count,
                      void *out_elements, size_t *out_index) {
  const float *floats = numbers;
  const int32_t *integers = numbers;
  char *element = out_elements;
  for (size_t i = 0; i < count; ++i, element += types[type].bytes) {
    *out_index = i;
    if (launch_type_is_float(type))
      store_float(type, (double)floats[i], element);
    else if (!store_integer(type, integers[i], element))
      return false;
  }
  return true;
}

bool launch_type_unpack(launch_type_t type, const void *elements, size_t count,
                        void *out_numbers, size_t *out_index) {
  float *floats = out_numbers;
  int32_t *integers = out_numbers;
  const char *element = elements;
  for (size_t i = 0; i < count; ++i, element += types[type].bytes) {
    int64_t number = 0;
    *out_index = i;
    if (launch_type_is_float(type))
      floats[i] = load_float(type, element);
    else if (!load_integer(type, element, &number) || number > INT32_MAX ||
             number < INT32_MIN)
      return false;
    else
      integers[i] = (int32_t)number;
  }
  return true;
}
