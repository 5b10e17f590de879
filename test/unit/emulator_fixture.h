/* Runs the body of a kernel on the emulator.
 * Layer: test. Must not know: how the emulator works.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_FIXTURE_H
#define UATTN_EMULATOR_FIXTURE_H

#include "unit_test.h"

#include "uattn/emulator.h"

/* A kernel's body and its launch. The body finds:
 * %out, %in: 64-bit addresses of the buffers; %map: of the tensor map;
 * %thread: %tid.x; %mine: %out + 4 * %thread;
 * smem: dynamic shared memory at shared address 0;
 * %p0 to %p15, %h0 .. 15 (b16), %r0 .. 255 (b32), %d0 .. 63 (b64),
 * %f0 .. 255 (f32). */
typedef struct {
  const char *body;
  uint32_t threads; /* 0: 32 */
  uint32_t ctas;    /* 0: 1 */
  size_t shared_bytes;
  void *out;
  size_t out_bytes;
  void *in; /* may be NULL */
  size_t in_bytes;
  const uattn_tensor_map_t *map; /* may be NULL */
  uint64_t seed;
  bool ignores_hazards;
} emulated_t;

uattn_error_t *emulated_run(const emulated_t *emulated);

/* Runs with several seeds: each must succeed; `check` looks at the result. */
void emulated_run_seeds(emulated_t *emulated, void (*check)(void *data),
                        void *data);

/* Fails with a message that contains `part`. */
void assert_emulated_fault(const emulated_t *emulated, const char *part);

/* One instruction, in a body of its own, is refused as not supported, with
 * itself and `part` in the message. */
void assert_refused(const char *instruction, const char *part);
void assert_accepted(const char *instruction);

/* Lets a thread wait for a phase of the mbarrier at a shared address. */
#define WAIT_PARITY(address, parity)                                           \
  "{ .reg .pred %done; WAIT: mbarrier.try_wait.parity.shared::cta.b64 %done, " \
  "[" address "], " parity "; @!%done bra WAIT; }\n"

/* Thread 0 makes `count` arrivals the mbarrier at `address`; all and their
 * copies see it, and what was stored before. */
#define INIT_MBARRIER(address, count)                                          \
  "setp.ne.u32 %p15, %thread, 0;\n"                                            \
  "@!%p15 mbarrier.init.shared::cta.b64 [" address "], " count ";\n"           \
  "fence.proxy.async;\nbar.sync 0;\n"

#endif /* UATTN_EMULATOR_FIXTURE_H */
