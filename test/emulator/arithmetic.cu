/* Arithmetic of every width, conversions, tables and branches.
 * Layer: test. Must not know: the emulator.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A thread computes on its own inputs; result r of thread i is to[r * count +
 * i]. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void integers32(const int *x, const int *y, int *to,
                                      int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  int a = x[i], b = y[i];
  unsigned ua = (unsigned)a, ub = (unsigned)b;
  int r[] = {
      a + b,
      a - b,
      a * b,
      b == 0 ? 0 : a / b,
      b == 0 ? 0 : a % b,
      b == 0 ? 0 : (int)(ua / ub),
      b == 0 ? 0 : (int)(ua % ub),
      a / 7,
      (int)(ua / 10u),
      a % 12,
      __mulhi(a, b),
      (int)__umulhi(ua, ub),
      a << (b & 31),
      a >> (b & 31),
      (int)(ua >> (b & 31)),
      (a & b) ^ (a | ~b),
      min(a, b),
      max(a, b),
      (int)min(ua, ub),
      abs(a),
      __popc(ua),
      __clz(a),
      __ffs(a),
      (int)__brev(ua),
      (int)__byte_perm(ua, ub, 0x5140),
      (int)__byte_perm(ua, ub, ub),
      (int)__funnelshift_l(ua, ub, ub & 31),
      (int)__funnelshift_r(ua, ub, ua & 31),
      a > b ? 1 : a == b ? 2 : 3,
      ua > ub,
      __hadd(a, b),
      (int)__sad(a, b, 5u),
      (signed char)a + (short)b,
      (unsigned char)a - (unsigned short)b,
      __dp4a(a, b, 9),
      (int)__dp4a(ua, ub, 9u),
      a >> 3 & 0x1F,
      (int)(__int_as_float(a & 0x3FFFFFFF | 0x00800000) > 1.0f),
  };
  for (int k = 0; k < (int)(sizeof r / sizeof *r); ++k)
    to[k * count + i] = r[k];
}

extern "C" __global__ void integers64(const long long *x, const long long *y,
                                      long long *to, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  long long a = x[i], b = y[i];
  unsigned long long ua = (unsigned long long)a, ub = (unsigned long long)b;
  long long r[] = {
      a + b,
      a - b,
      a * b,
      b == 0 ? 0 : a / b,
      b == 0 ? 0 : a % b,
      b == 0 ? 0 : (long long)(ua / ub),
      b == 0 ? 0 : (long long)(ua % ub),
      a / 1000000007,
      __mul64hi(a, b),
      (long long)__umul64hi(ua, ub),
      a << (b & 63),
      a >> (b & 63),
      (long long)(ua >> (b & 63)),
      (a & b) ^ (a | ~b),
      min(a, b),
      (long long)max(ua, ub),
      __popcll(ua),
      __clzll(a),
      (long long)__brevll(ua),
      (long long)(int)a * (int)b,
      (long long)((unsigned long long)(unsigned)a * (unsigned)b) + b,
      a < b,
      ua < ub,
      (long long)(unsigned)a,
      (long long)(short)a,
  };
  for (int k = 0; k < (int)(sizeof r / sizeof *r); ++k)
    to[k * count + i] = r[k];
}

/* All of these round correctly. */
extern "C" __global__ void floats32(const float *x, const float *y, float *to,
                                    int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  float a = x[i], b = y[i];
  float r[] = {
      __fadd_rn(a, b),
      __fsub_rn(a, b),
      __fmul_rn(a, b),
      __fmaf_rn(a, b, 1.5f),
      __fdiv_rn(a, b),
      __fsqrt_rn(fabsf(a)),
      __frcp_rn(b),
      __fadd_rz(a, b),
      __fmul_ru(a, b),
      __fmaf_rd(a, b, -a),
      fminf(a, b),
      fmaxf(a, b),
      fabsf(a),
      -a,
      floorf(a),
      ceilf(a),
      truncf(a),
      rintf(a),
      __saturatef(a),
      copysignf(a, b),
      (float)(int)a,
      (float)(a < b),
      (float)(a >= b || isnan(a)),
      __int2float_rn(__float2int_rn(a)),
      __uint2float_rn(__float2uint_rz(a)),
      __ll2float_rn(__float2ll_rd(a)),
      __int2float_rz(__float_as_int(a)),
      __uint2float_ru((unsigned)__float_as_int(b)),
      __half2float(__float2half_rn(a)),
      __half2float(__float2half_rz(b)),
      __bfloat162float(__float2bfloat16_rn(a)),
      __half2float(__hadd(__float2half_rn(a), __float2half_rn(b))),
      __low2float(__hmul2(__floats2half2_rn(a, b), __floats2half2_rn(b, a))),
      __bfloat162float(
          __hfma(__float2bfloat16_rn(a), __float2bfloat16_rn(b),
                 __float2bfloat16_rn(1.0f))),
      (float)(signed char)(__float_as_int(a) >> 8),
      (float)((double)a * (double)b),
  };
  for (int k = 0; k < (int)(sizeof r / sizeof *r); ++k)
    to[k * count + i] = r[k];
}

/* These approximate: the test knows how well. */
extern "C" __global__ void approximations(const float *x, float *to,
                                          int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  float a = x[i];
  float tanh_a;
  float exp2_a;
  asm("tanh.approx.f32 %0, %1;" : "=f"(tanh_a) : "f"(a));
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(exp2_a) : "f"(a));
  float r[] = {
      __expf(a),  __logf(fabsf(a) + 0.25f), __sinf(a),
      __cosf(a),  rsqrtf(fabsf(a) + 0.5f),  __fdividef(1.0f, a + 100.0f),
      tanh_a,     exp2_a,                   __log2f(fabsf(a) + 1.0f),
      expf(a),    logf(fabsf(a) + 0.25f),   tanhf(a),
      erff(a),    exp2f(a),                 log1pf(fabsf(a)),
      cbrtf(a),
  };
  for (int k = 0; k < (int)(sizeof r / sizeof *r); ++k)
    to[k * count + i] = r[k];
}

extern "C" __global__ void floats64(const double *x, const double *y,
                                    double *to, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  double a = x[i], b = y[i];
  double r[] = {
      __dadd_rn(a, b),
      __dsub_rn(a, b),
      __dmul_rn(a, b),
      __fma_rn(a, b, 0.1),
      __ddiv_rn(a, b),
      __dsqrt_rn(fabs(a)),
      __drcp_rn(b),
      __dadd_rz(a, b),
      __dmul_rd(a, b),
      fmin(a, b),
      fmax(a, b),
      fabs(a),
      floor(a),
      ceil(a),
      trunc(a),
      rint(a),
      (double)(int)a,
      (double)(long long)a,
      (double)(unsigned)fabs(a),
      (double)__double2float_rn(a),
      (double)__double2float_rz(b),
      (double)(a < b),
      __longlong_as_double(__double_as_longlong(a) ^ 1),
      __hiloint2double(__double2hiint(b), __double2loint(a)),
      __ll2double_rn(__double_as_longlong(a)),
      __ull2double_rz((unsigned long long)__double_as_longlong(b)),
  };
  for (int k = 0; k < (int)(sizeof r / sizeof *r); ++k)
    to[k * count + i] = r[k];
}

__constant__ int squares[8] = {0, 1, 4, 9, 16, 25, 36, 49};
__device__ int calls[2] = {5, -3};

/* A table, a jump table, an array that is indexed at run time, and threads of
 * a warp that loop for different times. */
extern "C" __global__ void control(const int *x, int *to, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  int a = x[i];
  int chosen;
  switch (a & 7) {
  case 0: chosen = a * 3; break;
  case 1: chosen = to[i] + 7; break;
  case 2: chosen = a ^ i; break;
  case 3: chosen = squares[i & 7]; break;
  case 4: chosen = a - i * i; break;
  case 5: chosen = ~to[i]; break;
  case 6: chosen = a % (i + 1); break;
  default: chosen = __brev((unsigned)a); break;
  }
  int digits[10] = {0};
  int steps = 0;
  for (unsigned rest = (unsigned)a; rest != 0; rest /= 10) {
    ++digits[rest % 10];
    ++steps;
  }
  int collatz = 0;
  for (unsigned n = ((unsigned)a & 0xFF) + 1; n != 1; ++collatz) {
    n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    if (collatz == 40)
      break;
  }
  to[i] = chosen;
  to[count + i] = digits[i % 10] * 100 + steps;
  to[2 * count + i] = collatz;
  to[3 * count + i] = squares[a & 7] + calls[i & 1];
}
