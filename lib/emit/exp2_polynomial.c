/* 2^x on the FMA units, for a share of a fragment.
 * Layer: emit. Must not know: plans, the dialect's ops, passes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * x = n + f with n whole and -1/2 <= f <= 1/2; 2^f is a cubic with minimax
 * relative error (7.5e-5, a 50th of a bf16 step); n is added to its exponent.
 * n comes from the low bits of x + 1.5 * 2^23, where it has been rounded. */
#include <stdlib.h>

#include "emit/thread_builder.h"

enum { GROUP = 4, MANTISSA_BITS = 23 };
static const double rounding_magic = 12582912.0;
static const double least_exponent = -125.0;
static const double coefficients[] = {0.05517166852951050, 0.2426111400127411,
                                      0.6932609677314758, 0.9999280571937561};

static MlirValue polynomial(const uattn_builder_t *b, MlirValue x) {
  MlirType type = mlirValueGetType(x);
  MlirType bits_type =
      uattn_type_vector1(uattn_type_i32(b), uattn_type_dim(type, 0));
  MlirValue magic = uattn_constant_splat(b, type, rounding_magic);
  MlirValue clamped = uattn_binary(
      b, "arith.maxnumf", x, uattn_constant_splat(b, type, least_exponent));
  MlirValue shifted = uattn_binary(b, "arith.addf", clamped, magic);
  MlirValue whole = uattn_binary(b, "arith.subf", shifted, magic);
  MlirValue rest = uattn_binary(b, "arith.subf", clamped, whole);
  MlirValue power = uattn_constant_splat(b, type, coefficients[0]);
  for (size_t i = 1; i < sizeof coefficients / sizeof *coefficients; ++i)
    power = uattn_ternary(b, "math.fma", power, rest,
                          uattn_constant_splat(b, type, coefficients[i]));
  MlirValue exponent = uattn_binary(
      b, "arith.shli", uattn_cast(b, "arith.bitcast", shifted, bits_type),
      uattn_constant_splat_i32(b, bits_type, MANTISSA_BITS));
  MlirValue bits =
      uattn_binary(b, "arith.addi", exponent,
                   uattn_cast(b, "arith.bitcast", power, bits_type));
  return uattn_cast(b, "arith.bitcast", bits, type);
}

MlirValue uattn_emit_fragment_exp2(const uattn_builder_t *b, MlirValue fragment,
                                   int64_t period) {
  int64_t count = uattn_type_dim(mlirValueGetType(fragment), 0);
  int64_t *taken = uattn_allocate((size_t)count * sizeof *taken);
  int64_t *left = uattn_allocate((size_t)count * sizeof *left);
  int64_t *merged = uattn_allocate((size_t)count * sizeof *merged);
  int taken_count = 0, left_count = 0;
  for (int64_t i = 0; i < count; ++i)
    if (i / GROUP % period == period - 1)
      taken[taken_count++] = i;
    else
      left[left_count++] = i;
  MlirValue result;
  if (taken_count == 0 || left_count == 0) {
    result = taken_count ? polynomial(b, fragment)
                         : uattn_unary_approximate(b, "math.exp2", fragment);
  } else {
    for (int i = 0; i < taken_count; ++i)
      merged[taken[i]] = i;
    for (int i = 0; i < left_count; ++i)
      merged[left[i]] = taken_count + i;
    MlirValue by_polynomial =
        polynomial(b, uattn_vector_shuffle(b, fragment, taken, taken_count));
    MlirValue by_instruction = uattn_unary_approximate(
        b, "math.exp2", uattn_vector_shuffle(b, fragment, left, left_count));
    result = uattn_vector_shuffle2(b, by_polynomial, by_instruction, merged,
                                   (int)count);
  }
  free(taken);
  free(left);
  free(merged);
  return result;
}
