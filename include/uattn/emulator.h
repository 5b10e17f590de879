/* A CPU that executes Hopper PTX: load, set memory, launch, read results.
 * Layer: emulator (public). Must not know: MLIR, CUDA, how kernels are made.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_H
#define UATTN_EMULATOR_H

#include "uattn/artifact.h"
#include "uattn/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A parsed and decoded module. Immutable; may be launched from several threads
 * at once. */
typedef struct uattn_emulator uattn_emulator_t;

/* Parses PTX and decodes every entry. What the emulator does not execute gives
 * an error that names the instruction and its line, never a wrong result.
 * `name` is what messages call the text. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_emulator_create(const char *name, const char *ptx, size_t size,
                      uattn_emulator_t **out_emulator);
/* Accepts NULL. */
UATTN_EXPORT void uattn_emulator_destroy(uattn_emulator_t *emulator);

/* Entries by position in the text; names are borrowed. */
UATTN_EXPORT size_t
uattn_emulator_entry_count(const uattn_emulator_t *emulator);
UATTN_EXPORT const char *
uattn_emulator_entry_name(const uattn_emulator_t *emulator, size_t entry);

/* Host memory that a kernel may touch as global memory, at its own address.
 * Every access outside all of them ends the launch with an error that names
 * the nearest one. */
typedef struct {
  const char *name; /* for messages */
  void *data;
  size_t bytes;
  bool is_read_only;
} uattn_emulator_memory_t;

/* How a tensor map describes a tensor; the fields and limits of the driver's
 * cuTensorMapEncodeTiled, innermost dimension first. */
typedef enum {
  UATTN_SWIZZLE_NONE = 0,
  UATTN_SWIZZLE_32B = 1,
  UATTN_SWIZZLE_64B = 2,
  UATTN_SWIZZLE_128B = 3
} uattn_swizzle_t;
typedef enum {
  UATTN_ELEMENT_U8 = 0,
  UATTN_ELEMENT_U16 = 1,
  UATTN_ELEMENT_U32 = 2,
  UATTN_ELEMENT_I32 = 3,
  UATTN_ELEMENT_U64 = 4,
  UATTN_ELEMENT_I64 = 5,
  UATTN_ELEMENT_F16 = 6,
  UATTN_ELEMENT_F32 = 7,
  UATTN_ELEMENT_F64 = 8,
  UATTN_ELEMENT_BF16 = 9
} uattn_element_t;
typedef struct {
  uattn_element_t element;
  int32_t rank; /* 1 to 5 */
  void *data;   /* inside one of the memories, 16-byte aligned */
  uint64_t dims[5];
  uint64_t strides[4]; /* bytes, of dimensions 1 to rank - 1 */
  uint32_t box[5];
  uint32_t element_strides[5]; /* 1 as a rule; 0 means 1 */
  uattn_swizzle_t swizzle;
  bool fills_with_nan; /* outside the tensor: NaN instead of 0 */
} uattn_tensor_map_t;

/* Writes the emulator's own 128-byte form of a tensor map, for the parameter
 * block; an invalid one (by the driver's rules) is an error that says which
 * field. It is not the hardware's form. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_emulator_encode_tensor_map(const uattn_tensor_map_t *map,
                                 uint8_t out_bytes[128]);

/* ---- What a launch tells of itself ------------------------------------------
 */

/* A matrix to be told as text. Positions are those of messages: lines of the
 * PTX, CTAs by their linear number, x first. */
typedef enum {
  UATTN_TILE_A = 0, /* of wgmma.mma_async, 64 x 16, as it was multiplied */
  UATTN_TILE_B = 1, /* 16 x N */
  UATTN_TILE_D = 2, /* 64 x N, with the product */
  /* What cp.async.bulk.tensor, or its reduction, has brought to shared memory
   * or read from it: a row for each of the box's outer positions. */
  UATTN_TILE_BOX = 3,
  UATTN_TILE_SHARED = 4 /* shared memory when the CTA ends, in rows */
} uattn_tile_kind_t;
typedef struct {
  uattn_tile_kind_t kind;
  const char *entry; /* of the kernel; NULL: the first that fits */
  uint64_t cta;
  /* Of an instruction: where it begins, and which of its executions by the
   * CTA (a box) or the warpgroup, from 0. */
  int32_t line;
  uint64_t occurrence;
  const uint32_t *warpgroup; /* NULL: the first that executes it */
  /* Of shared memory: where it begins, and its rows, which follow each other
   * or, with a swizzle, lie 32, 64 or 128 bytes apart. */
  uint64_t offset;
  uint32_t rows;
  uint32_t columns;
  uattn_element_t element;
  uattn_swizzle_t swizzle;
} uattn_emulator_tile_t;

/* What to tell, and whom. Traced launches run on one host thread; the same
 * seed tells the same texts in the same order. */
typedef struct {
  size_t struct_size;
  /* Instructions whose text this POSIX extended regular expression matches
   * anywhere; NULL: none. Each execution by a warp is told with its place, its
   * lanes, its registers' values, and what it wrote. */
  const char *pattern;
  const uint64_t *cta;  /* this one alone; NULL: all */
  const uint32_t *warp; /* this one of each CTA alone; NULL: all */
  const uattn_emulator_tile_t *tiles;
  size_t tile_count;
  /* Texts of whole lines, borrowed during the call; a tile as a matrix whose
   * lines have a number each but those of '#', which explain it. NULL only
   * where nothing of its kind is asked for. */
  void (*tell_instruction)(const char *text, void *user_data);
  void (*tell_tile)(size_t tile, const char *text, void *user_data);
  void *user_data;
} uattn_emulator_trace_t;

/* What one CTA of each launch that is given it does, drawn over a virtual
 * clock: see uattn_emulator_timeline_svg. For one launch or call at a time. */
typedef struct uattn_emulator_timeline uattn_emulator_timeline_t;

typedef struct {
  size_t struct_size;
  uint32_t grid[3];
  uint32_t block[3];
  size_t dynamic_shared_bytes;
  /* Parameters in order: pointers to their values, and their sizes, which must
   * be those of the entry. */
  const void *const *params;
  const size_t *param_bytes;
  size_t param_count;
  const uattn_emulator_memory_t *memories;
  size_t memory_count;
  uint64_t seed;        /* of the order of warps and of asynchronous work */
  int32_t thread_count; /* host threads; 0: as many as there are CPUs */
  /* Called now and then with the share of CTAs that are done, from one thread
   * at a time; may be NULL. */
  void (*progress)(double done, void *user_data);
  void *progress_data;
  /* Run faster, without looking for hazards: a fault is found all the same. */
  bool ignores_hazards;
  /* May be NULL. A pattern that fits no instruction, a tile that there is not
   * or whose instruction was not executed so often: an error. */
  const uattn_emulator_trace_t *trace;
  /* Takes the launch, where it ends without an error, as one more kernel; may
   * be NULL. */
  uattn_emulator_timeline_t *timeline;
} uattn_emulator_launch_t;

typedef struct {
  uint64_t instructions; /* warp instructions executed */
  uint64_t ctas;
} uattn_emulator_statistics_t;

/* Runs one entry to its end. The same seed gives the same interleaving and the
 * same bits, whatever the number of host threads. A fault of the kernel (an
 * access out of bounds or misaligned, a deadlock with who waits for what, an
 * instruction used against its rules) ends the run; hazards (a race, a missing
 * fence, memory that nothing has written and the like) are gathered, and the
 * run goes on. Either is UATTN_ERROR_FAULT with a line each; memories then hold
 * what was written until then. `out_statistics` may be NULL. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_emulator_run(const uattn_emulator_t *emulator, size_t entry,
                   const uattn_emulator_launch_t *launch,
                   uattn_emulator_statistics_t *out_statistics);

/* ---- Timelines -------------------------------------------------------------
 */

typedef struct {
  size_t struct_size;   /* sizeof(uattn_emulator_timeline_options_t) */
  uint64_t cta;         /* which, x first; a launch with fewer is refused */
  uint64_t begin_cycle; /* of each kernel: what is drawn of it */
  uint64_t end_cycle;   /* 0: as much as can be read */
} uattn_emulator_timeline_options_t;

UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_emulator_timeline_create(const uattn_emulator_timeline_options_t *options,
                               uattn_emulator_timeline_t **out_timeline);
/* Accepts NULL. */
UATTN_EXPORT void
uattn_emulator_timeline_destroy(uattn_emulator_timeline_t *timeline);

/* An SVG of the kernels so far, one below the other: a lane for each warpgroup,
 * the copy engine and the tensor cores, over the cycles of a clock whose costs
 * lib/emulator/README.md lists. Static, without scripts, below 500 KB.
 * Zero-terminated; borrowed until the timeline is drawn again or destroyed. The
 * order of warps and copies that the seed draws does not matter where the
 * kernel's synchronisation fixes what each warp does. */
UATTN_EXPORT const char *
uattn_emulator_timeline_svg(uattn_emulator_timeline_t *timeline,
                            size_t *out_size);

/* ---- Functions of artifacts ------------------------------------------------
 */

/* An artifact whose kernels' PTX is decoded. Immutable; its functions may be
 * run from several threads at once. */
typedef struct uattn_emulator_program uattn_emulator_program_t;

/* `artifact` is borrowed until the program is destroyed. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_emulator_program_create(const uattn_artifact_t *artifact,
                              uattn_emulator_program_t **out_program);
/* Accepts NULL. */
UATTN_EXPORT void
uattn_emulator_program_destroy(uattn_emulator_program_t *program);

/* The results that a call with these arguments wants: dense, data NULL.
 * `out_results` has room for all results of the function. Of the arguments
 * only rank, shape and dtype are read. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_emulator_program_results(const uattn_emulator_program_t *program,
                               size_t function, const uattn_tensor_t *arguments,
                               size_t argument_count,
                               uattn_tensor_t *out_results);

/* Tensors in host memory; the rest is of the meaning that it has in
 * uattn_launch_t and uattn_emulator_launch_t. */
typedef struct {
  size_t struct_size; /* sizeof(uattn_emulator_call_t) */
  const uattn_tensor_t *arguments;
  size_t argument_count;
  const uattn_tensor_t *results; /* their memory is written */
  size_t result_count;
  const double *sm_scale;
  const uattn_cap_t *cap;
  uint64_t seed;
  int32_t thread_count;
  void (*progress)(double done, void *user_data);
  void *progress_data;
  bool ignores_hazards;                /* as in uattn_emulator_launch_t */
  const uattn_emulator_trace_t *trace; /* of all kernels; may be NULL */
  uattn_emulator_timeline_t *timeline; /* takes each kernel; may be NULL */
} uattn_emulator_call_t;

/* Runs a function's kernels, one after the other, by the rules of
 * uattn_function_launch and with the same checks. Kernels can reach the tensors
 * of the call alone; arguments are read-only where they share no memory with
 * results. What flows between ops is allocated here. The statistics are of all
 * kernels together. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_emulator_program_run(const uattn_emulator_program_t *program,
                           size_t function, const uattn_emulator_call_t *call,
                           uattn_emulator_statistics_t *out_statistics);

#ifdef __cplusplus
}
#endif

#endif /* UATTN_EMULATOR_H */
