/* The emulated machine: memory, CTAs, warps, decoded instructions.
 * Layer: emulator. Must not know: PTX text, tensors, artifacts.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A warp executes one decoded instruction at a time for a set of its lanes.
 * Registers are rows of 32 lanes; an operand of an instruction is such a row,
 * of the warp or of the program's constants, so that executing is a loop over
 * lanes without a case distinction.
 *
 * Files: decode_*.c turn syntax into emu_insn_t and hold the functions that
 * execute them, one file a family; schedule.c picks warps and lets asynchronous
 * work finish; memory.c knows every byte that may be touched. */
#ifndef UATTN_EMULATOR_MACHINE_H
#define UATTN_EMULATOR_MACHINE_H

#include "emulator/ptx_syntax.h"
#include "support/support.h"

enum { EMU_LANES = 32 };
#define EMU_ALL_LANES 0xFFFFFFFFu

typedef struct emu_program emu_program_t;
typedef struct emu_launch emu_launch_t;
typedef struct emu_cta emu_cta_t;
typedef struct emu_warp emu_warp_t;
typedef struct emu_insn emu_insn_t;
typedef struct emu_hazards emu_hazards_t; /* hazards.h */
typedef struct emu_trace emu_trace_t;
typedef struct emu_recorder emu_recorder_t; /* timeline_record.h */

/* ---- Operands --------------------------------------------------------------
 */

typedef enum {
  EMU_ROW_NONE = 0,
  EMU_ROW_WORD,     /* 8 to 32 bits: uint32_t[32], unused high bits zero */
  EMU_ROW_LONG,     /* 64 bits: uint64_t[32] */
  EMU_ROW_PREDICATE /* one uint32_t, a bit a lane */
} emu_row_kind_t;

/* A row of the warp's registers or of the program's constants (immediates,
 * variables' addresses, repeated 32 times). */
typedef struct {
  emu_row_kind_t kind;
  bool is_constant;
  bool is_negated; /* predicates and -%r */
  uint32_t index;  /* in its kind */
} emu_row_t;

/* ---- Instructions ----------------------------------------------------------
 */

typedef enum {
  EMU_NEXT,    /* done: the lanes go on to the next instruction */
  EMU_BRANCH,  /* done: the lanes go on to insn->target */
  EMU_JUMPED,  /* the function has set the lanes' pc itself */
  EMU_BLOCKED, /* not done: try again once warp->wait is over */
  EMU_EXITED,  /* the lanes are gone */
  EMU_FAULT    /* emu_fault has been called; the launch ends */
} emu_outcome_t;

/* `lanes`: those that execute (guard true); never 0. Before it returns
 * EMU_BLOCKED a function sets warp->wait; on the next try it finds there what
 * it left. */
typedef emu_outcome_t (*emu_execute_t)(emu_warp_t *warp, const emu_insn_t *insn,
                                       uint32_t lanes);

enum { EMU_MAX_ROWS = 8 };
struct emu_insn {
  emu_execute_t execute;
  emu_row_t guard;              /* kind NONE: always */
  emu_row_t rows[EMU_MAX_ROWS]; /* what the family's decoder put there */
  int64_t immediates[4];
  const void *detail; /* of a family, in the program's arena */
  uint32_t target;    /* of a branch: instruction index */
  /* Executed once for the warp, all of whose live lanes must be there. */
  bool is_aligned;
  /* Registers that it reads, then those that it writes, by the decoders of
   * operands; a wgmma's own are not among them. */
  const emu_row_t *registers;
  uint16_t source_count;
  uint16_t target_count;
  bool touches_products; /* some are operands of a wgmma elsewhere */
  bool passes_on; /* its first target may be what its first source is: unset */
  /* Set by the program for all families from the opcode. */
  bool is_strong; /* an access that is not weak */
  bool is_poll;   /* asks for what others may do: ends the warp's turn */
  bool is_effect; /* others may see it: the CTA makes progress */
  bool is_event;  /* may end the wait of other warps */
  const ptx_instruction_t *syntax; /* for messages */
};

/* A decoder of one family: fills `insn` from its syntax. Every part of the
 * opcode must be understood; what is not gives an error that names the
 * instruction and its line (emu_unsupported). */
typedef struct emu_decoder emu_decoder_t;
typedef uattn_error_t *(*emu_decode_t)(emu_decoder_t *decoder,
                                       const ptx_instruction_t *syntax,
                                       emu_insn_t *insn);
typedef struct {
  /* The first part, or the first few: "mad", "cp.async.ca". The longest that
   * fits an instruction counts. */
  const char *opcode;
  emu_decode_t decode;
} emu_opcode_t;

/* An instruction without choices at run time, by its whole opcode. `kinds` are
 * the operands, the written one first, a letter each: b 8, h 16, w 32, l 64
 * bits; f f32, d f64, e f16, g bf16, x f16x2, y bf16x2; p predicate. They are
 * rows[0], rows[1] and so on. */
typedef struct {
  const char *opcode; /* "mul.wide.u32" */
  const char *kinds;  /* "lww" */
  emu_execute_t execute;
} emu_variant_t;

/* One table a family, ended by a NULL opcode; opcode_tables.c lists those that
 * are looked through. */
extern const emu_variant_t emu_integer_variants[];  /* integer_arithmetic.c */
extern const emu_variant_t emu_wide_variants[];     /* integer_multiply.c */
extern const emu_variant_t emu_carry_variants[];    /* integer_carry.c */
extern const emu_variant_t emu_bit_variants[];      /* integer_bits.c */
extern const emu_variant_t emu_logic_variants[];    /* integer_logic.c */
extern const emu_opcode_t emu_float_opcodes[];      /* decode_float.c */
extern const emu_opcode_t emu_convert_opcodes[];    /* decode_convert.c */
extern const emu_opcode_t emu_move_opcodes[];       /* decode_move.c */
extern const emu_opcode_t emu_compare_opcodes[];    /* decode_compare.c */
extern const emu_opcode_t emu_control_opcodes[];    /* decode_control.c */
extern const emu_opcode_t emu_memory_opcodes[];     /* decode_memory.c */
extern const emu_opcode_t emu_atomic_opcodes[];     /* decode_atomic.c */
extern const emu_opcode_t emu_warp_opcodes[];       /* decode_warp.c */
extern const emu_opcode_t emu_warp_sync_opcodes[];  /* decode_warp_sync.c */
extern const emu_opcode_t emu_async_copy_opcodes[]; /* decode_async_copy.c */
extern const emu_opcode_t emu_address_opcodes[];    /* decode_address.c */
extern const emu_opcode_t emu_barrier_opcodes[];    /* decode_barrier.c */
extern const emu_opcode_t emu_mbarrier_opcodes[];   /* decode_mbarrier.c */
extern const emu_opcode_t emu_copy_opcodes[];       /* decode_copy.c: cp.* */
extern const emu_opcode_t emu_matrix_opcodes[];     /* decode_matrix.c */
extern const emu_opcode_t emu_wgmma_opcodes[];      /* decode_wgmma.c */

/* ---- For decoders ----------------------------------------------------------
 */

enum { EMU_MAX_OPERANDS = 144 }; /* of a wgmma: 128 of D, 4 of A, others */

struct emu_decoder {
  const ptx_module_t *module;
  const ptx_entry_t *entry;
  emu_program_t *program;
  uattn_arena_t *arena; /* the program's */
  /* Registers of the instruction being decoded. */
  emu_row_t sources[EMU_MAX_OPERANDS];
  emu_row_t targets[EMU_MAX_OPERANDS];
  uint32_t source_count;
  uint32_t target_count;
};

UATTN_NODISCARD uattn_error_t *emu_unsupported(const emu_decoder_t *decoder,
                                               const ptx_instruction_t *syntax,
                                               const char *format, ...)
    UATTN_PRINTF(3, 4);

/* The row of an operand that is read (register, immediate, special register,
 * address of a variable) or written (register, sink) as `type`; an operand
 * that cannot be gives an error. Immediates are converted to `type`. */
UATTN_NODISCARD uattn_error_t *
emu_decode_source(emu_decoder_t *decoder, const ptx_instruction_t *syntax,
                  const ptx_operand_t *operand, ptx_type_t type,
                  emu_row_t *out_row);
UATTN_NODISCARD uattn_error_t *
emu_decode_target(emu_decoder_t *decoder, const ptx_instruction_t *syntax,
                  const ptx_operand_t *operand, ptx_type_t type,
                  emu_row_t *out_row);

/* [base + offset]: the base's row, WORD or LONG, and the offset. A variable as
 * base is a constant row. */
UATTN_NODISCARD uattn_error_t *
emu_decode_address(emu_decoder_t *decoder, const ptx_instruction_t *syntax,
                   const ptx_operand_t *operand, emu_row_t *out_base,
                   int64_t *out_offset);

/* ---- Warps -----------------------------------------------------------------
 */

/* What a blocked warp waits for, for the scheduler and for the report of a
 * deadlock. */
typedef enum {
  EMU_WAIT_NONE,
  EMU_WAIT_BARRIER,   /* named barrier `barrier` */
  EMU_WAIT_MBARRIER,  /* phase of the mbarrier at shared offset `address` */
  EMU_WAIT_LANES,     /* other lanes of the warp (shfl.sync and the like) */
  EMU_WAIT_WARPGROUP, /* the other warps, to issue the same products */
  EMU_WAIT_REGISTERS  /* of the CTA's pool, for setmaxnreg.inc */
} emu_wait_kind_t;

typedef struct {
  emu_wait_kind_t kind;
  uint32_t barrier;
  uint32_t address;
  uint32_t parity;
  uint32_t lanes; /* EMU_WAIT_LANES: those that have not come */
} emu_wait_t;

struct emu_warp {
  emu_cta_t *cta;
  uint32_t index; /* in the CTA */
  uint32_t live;  /* lanes that have not exited */
  /* Of lanes that are not being executed just now. */
  uint32_t pc[EMU_LANES];
  uint32_t blocked; /* lanes that are not tried again in this turn */
  uint32_t waiting; /* lanes whose lane_wait counts */
  uint32_t yielded; /* lanes that let the others of the warp go first */
  uint32_t met;     /* lanes whose bar.warp.sync is over: others have come */
  uint32_t lone_instructions; /* of one group of lanes while others could run */
  uint32_t *words;            /* rows of 32 */
  uint64_t *longs;
  uint32_t *predicates;
  const uint32_t *constant_words; /* the program's */
  const uint64_t *constant_longs;
  const uint32_t *constant_predicates;
  emu_wait_t wait; /* of the lanes being executed */
  emu_wait_t lane_wait[EMU_LANES];
  uint64_t executed;       /* instructions */
  uint32_t priority;       /* of EMU_WARPS_PRIORITY */
  uint32_t register_count; /* a thread's, of setmaxnreg */
  void *products;          /* of decode_wgmma.c: products in flight */
  void *stores;            /* of decode_copy.c: bulk groups */
  void *copies;            /* of decode_async_copy.c; one block of malloc */
};

/* Rows of an operand, to read and to write. Writing goes through the _set
 * functions or honours `lanes` itself. */
static inline const uint32_t *emu_words(const emu_warp_t *warp, emu_row_t row) {
  return (row.is_constant ? warp->constant_words : warp->words) +
         (size_t)row.index * EMU_LANES;
}
static inline const uint64_t *emu_longs(const emu_warp_t *warp, emu_row_t row) {
  return (row.is_constant ? warp->constant_longs : warp->longs) +
         (size_t)row.index * EMU_LANES;
}
/* Bit a lane, negation applied. */
static inline uint32_t emu_predicate(const emu_warp_t *warp, emu_row_t row) {
  uint32_t bits = (row.is_constant ? warp->constant_predicates
                                   : warp->predicates)[row.index];
  return row.is_negated ? ~bits : bits;
}
/* Rows of kind NONE (sinks) are ignored. */
void emu_set_words(emu_warp_t *warp, emu_row_t row, uint32_t lanes,
                   const uint32_t values[EMU_LANES]);
void emu_set_longs(emu_warp_t *warp, emu_row_t row, uint32_t lanes,
                   const uint64_t values[EMU_LANES]);
void emu_set_predicate(emu_warp_t *warp, emu_row_t row, uint32_t lanes,
                       uint32_t values);
/* A row of either kind as 64-bit addresses plus `offset`. */
void emu_addresses(const emu_warp_t *warp, emu_row_t base, int64_t offset,
                   uint64_t out_addresses[EMU_LANES]);

/* True where all live lanes of `members` are among `lanes`; else sets the
 * warp's wait for those missing, and the caller returns EMU_BLOCKED. */
bool emu_lanes_have_come(emu_warp_t *warp, uint32_t lanes, uint32_t members);

/* ---- Findings (findings.h) -------------------------------------------------
 */

/* Who: lanes of a warp at an instruction, or what such an instruction began
 * (`insn` NULL: nobody). */
typedef struct {
  uint32_t warp;
  uint32_t lanes; /* 0: all */
  const emu_insn_t *insn;
} emu_party_t;

/* Each begins its messages with its name; README.md lists them. */
typedef enum {
  EMU_FINDING_RACE,
  EMU_FINDING_PROXY_FENCE,
  EMU_FINDING_PROXY_FENCE_READ,
  EMU_FINDING_OPERAND_OVERWRITTEN,
  EMU_FINDING_ACCUMULATOR_IN_FLIGHT,
  EMU_FINDING_WGMMA_FENCE,
  EMU_FINDING_UNINITIALISED_SHARED,
  EMU_FINDING_UNINITIALISED_REGISTER,
  EMU_FINDING_TRANSACTION_COUNT,
  EMU_FINDING_REGISTER_COUNT,
  EMU_FINDING_NON_UNIFORM,
  EMU_FINDING_EXIT_IN_FLIGHT,
  EMU_FINDING_HALF_DONE_BARRIER,
  EMU_FINDING_REPEATED_ARRIVAL
} emu_finding_kind_t;

typedef struct {
  emu_finding_kind_t kind;
  const emu_insn_t *insn;
  const emu_insn_t *other;
  uint64_t cta;
  uint32_t order; /* among those of the CTA */
  uint64_t count; /* in that CTA */
  char *text;     /* owned */
} emu_finding_t;

typedef struct {
  emu_finding_t *list;
  uint32_t count;
  uint32_t capacity;
} emu_findings_t;

/* ---- CTAs ------------------------------------------------------------------
 */

/* Work that finishes later: bulk copies. `run` does it; false ends the launch
 * (emu_fault has been called). */
typedef struct emu_async {
  bool (*run)(emu_cta_t *cta, struct emu_async *work);
  struct emu_async *next;
  uint64_t due; /* the CTA's clock at which it happens */
} emu_async_t;

/* How a CTA's work is put in order. One rule finds what another does not: no
 * warp gets far alone where turns are drawn evenly, no copy is late where
 * delays are short. Drawn from the seed for each CTA. */
typedef enum {
  EMU_ASYNC_MIXED,    /* short and long delays, equally often */
  EMU_ASYNC_LATE,     /* when nothing else can happen, or after long */
  EMU_ASYNC_EARLY,    /* at once */
  EMU_ASYNC_EXTREMES, /* either */
  EMU_ASYNC_STYLES
} emu_async_style_t;
typedef enum {
  EMU_WARPS_EVEN,     /* any warp that can go on */
  EMU_WARPS_PRIORITY, /* one before all others, until it cannot go on */
  EMU_WARPS_STYLES
} emu_warp_style_t;

/* How long nothing has happened that others could see. */
typedef struct {
  uint64_t idle_instructions;
  uint64_t idle_polls;
} emu_progress_t;

struct emu_cta {
  emu_launch_t *launch;
  uint32_t index[3]; /* ctaid */
  uint64_t linear_index;
  emu_warp_t *warps;
  uint32_t warp_count;
  uint32_t thread_count;
  uint32_t live_warps;   /* bit a warp: has live lanes */
  uint32_t asleep_warps; /* bit a warp: blocked until something happens */
  uint32_t last_warp;    /* to have had a turn */
  bool has_retried;      /* all warps, since something was executed */
  uint8_t *shared;       /* static variables, then dynamic memory */
  size_t shared_bytes;
  uint8_t *local; /* of all threads */
  uint64_t clock; /* instructions executed by its warps */
  uint64_t random_state;
  emu_async_style_t async_style;
  emu_warp_style_t warp_style;
  emu_async_t *pending;     /* in order of `due` */
  void *barriers;           /* of named_barrier.c, mbarrier_state.c */
  emu_progress_t *progress; /* own, or of all CTAs that run interleaved */
  emu_progress_t own_progress;
  uint32_t register_pool; /* free ones, of setmaxnreg */
  uint32_t last_memory;   /* where the last global access was found */
  uattn_error_t *fault;   /* the first one */
  emu_findings_t findings;
  emu_hazards_t *hazards;   /* NULL: the launch does not ask for them */
  emu_trace_t *trace;       /* NULL as a rule: nothing of it is to be told */
  emu_recorder_t *recorder; /* of the launch's timeline; NULL in other CTAs */
};

/* Queues `owned_work` (malloc) to finish at a moment drawn from the seed. */
void emu_cta_defer(emu_cta_t *cta, emu_async_t *owned_work);
/* A number below `bound` from the CTA's seeded stream. */
uint64_t emu_random(emu_cta_t *cta, uint64_t bound);

/* ---- Memory ----------------------------------------------------------------
 */

/* Generic addresses: shared memory of the executing CTA is a window, global
 * memory is where the host has it. The shared window's 32-bit offsets are what
 * .shared instructions use. No host address is as high as the windows. */
#define EMU_SHARED_WINDOW 0x0100000000000000u
#define EMU_LOCAL_WINDOW 0x0100010000000000u
#define EMU_PARAM_WINDOW 0x0100020000000000u
#define EMU_CONST_WINDOW 0x0100030000000000u
#define EMU_GLOBAL_WINDOW 0x0100040000000000u /* the module's variables */
#define EMU_WINDOW_BYTES 0x0000010000000000u

/* Host memory of `bytes` bytes at `address` in `space`, aligned to
 * `alignment`; NULL after emu_fault, which names the access, the allocation
 * that it missed or the alignment that it lacks. */
uint8_t *emu_memory(emu_warp_t *warp, const emu_insn_t *insn, uint32_t lane,
                    ptx_space_t space, uint64_t address, size_t bytes,
                    size_t alignment, bool is_write);
/* The same where the lane itself does not touch the bytes now: barriers, what
 * copies will do. */
uint8_t *emu_memory_locate(emu_warp_t *warp, const emu_insn_t *insn,
                           uint32_t lane, ptx_space_t space, uint64_t address,
                           size_t bytes, size_t alignment, bool is_write);

/* The same for work that no warp executes any more (a copy that lands). A
 * shared address may be an offset or generic. */
uint8_t *emu_cta_shared(emu_cta_t *cta, const emu_insn_t *insn,
                        uint64_t address, size_t bytes, size_t alignment);
uint8_t *emu_cta_global(emu_cta_t *cta, const emu_insn_t *insn,
                        uint64_t address, size_t bytes, size_t alignment,
                        bool is_write);

/* Ends the launch with an error that names CTA, warp, lane (-1: all), PTX line
 * and instruction, then what was wrong. The first fault stays. */
void emu_fault(emu_cta_t *cta, const emu_warp_t *warp, int lane,
               const emu_insn_t *insn, const char *format, ...)
    UATTN_PRINTF(5, 6);

/* ---- mbarriers (mbarrier_state.c) -------------------------------------------
 * State lives beside shared memory; the 8 bytes in it hold a trace of the
 * state, so that a store that overwrites a barrier is found. */

/* Counts `bytes` of a copy of `party` that has landed and was issued in
 * `phase`. */
bool emu_mbarrier_complete_tx(emu_cta_t *cta, const emu_party_t *party,
                              uint64_t address, uint64_t bytes, uint32_t phase);
/* "phase 3, 2 of 8 arrivals pending, 4096 bytes pending", for reports. */
void emu_mbarrier_describe(emu_cta_t *cta, uint64_t address,
                           uattn_string_t *text);

/* ---- Named barriers (named_barrier.c) ---------------------------------------
 * wait.barrier is 0 to 15, or EMU_CLUSTER_BARRIER. */

enum { EMU_CLUSTER_BARRIER = 16 };
/* "barrier 1, 2 of 8 warps arrived", for reports. */
void emu_barrier_describe(emu_cta_t *cta, uint32_t barrier,
                          uattn_string_t *text);

/* What the families keep behind the void pointers above is made when first
 * needed and freed by these, after all of `pending` has run: the scheduler runs
 * it before the CTA ends and frees each work after its run. */
void emu_barriers_release(emu_cta_t *cta);   /* cta->barriers */
void emu_products_release(emu_warp_t *warp); /* warp->products */
void emu_copies_release(emu_warp_t *warp);   /* warp->stores */

/* ---- Program and launch ----------------------------------------------------
 */

/* A special register that is constant in a thread's life, and its row. */
typedef struct {
  uint32_t special; /* index into the table of special_registers.c */
  emu_row_t row;
} emu_special_t;

struct emu_program {
  uattn_arena_t *arena;
  const ptx_module_t *module;
  const ptx_entry_t *entry;
  emu_insn_t *insns; /* the last one is an exit that the text does not have */
  uint32_t insn_count;
  /* Rows a warp needs. */
  uint32_t word_rows;
  uint32_t long_rows;
  uint32_t predicate_rows;
  emu_row_t *register_rows; /* of entry->registers[i] */
  bool *product_rows;       /* word rows that are operands of a wgmma */
  uint32_t *constant_words; /* rows of 32 */
  uint64_t *constant_longs;
  uint32_t *constant_predicates; /* none, then all lanes */
  uint32_t constant_word_count;
  uint32_t constant_long_count;
  emu_special_t *specials;
  uint32_t special_count;
  uint64_t *variable_offsets; /* in its space, of module->variables[i] */
  size_t static_shared_bytes; /* where dynamic shared memory starts */
  size_t local_bytes;         /* a thread */
  size_t global_bytes;        /* of the module's variables */
  size_t const_bytes;
  /* CTAs influence each other through memory (atomics, reductions, polling):
   * they run on one host thread, in a repeatable order. */
  bool has_global_communication;
  emu_row_t carry; /* predicate row of the carry flag */
};

#endif /* UATTN_EMULATOR_MACHINE_H */
