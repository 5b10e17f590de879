/* The numbers of Hopper (sm_90a) that plans are made with.
 * Layer: plan. Must not know: any kernel.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "plan/plan.h"

/* Sources: CUDA C++ Programming Guide, "Compute Capability 9.0" (227 KB of
 * shared memory a CTA, 64 K registers an SM, 255 registers a thread, 16
 * special-function results and 128 lanes a cycle an SM); 4096 dense bf16 FLOP
 * a cycle an SM follow from the H100's 989 TFLOP/s at 132 SMs and 1830 MHz. */
static const uattn_target_t sm90a = {
    .chip = "sm_90a",
    .smem_bytes_per_cta = 232448,
    .registers_per_sm = 65536,
    .max_registers_per_thread = 255,
    .tensor_flops_per_cycle = 4096,
    .special_function_per_cycle = 16,
    .lanes_per_cycle = 128,
};

const uattn_target_t *uattn_target_find(const char *chip) {
  return strcmp(chip, sm90a.chip) == 0 ? &sm90a : NULL;
}
