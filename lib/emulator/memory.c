/* Every byte that a kernel may touch: state spaces, generic addresses, bounds.
 * Layer: emulator. Must not know: instructions, scheduling.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "emulator/hazards.h"
#include "emulator/run_launch.h"

/* An access on its way to host memory. */
typedef struct {
  emu_cta_t *cta;
  const emu_warp_t *warp; /* NULL: work that has been deferred */
  int lane;
  const emu_insn_t *insn;
  uint64_t address;
  size_t bytes;
  size_t alignment;
  bool is_write;
} access_t;

static const char *verb(const access_t *access) {
  return access->is_write ? "write" : "read";
}

static uint8_t *misaligned(const access_t *access, const char *where) {
  emu_fault(access->cta, access->warp, access->lane, access->insn,
            "%s of %zu bytes at %s address 0x%" PRIx64
            " is misaligned: expected a multiple of %zu",
            verb(access), access->bytes, where, access->address,
            access->alignment);
  return NULL;
}

/* `offset` in a space of `size` bytes at `base`. */
static uint8_t *in_space(const access_t *access, const char *where,
                         uint8_t *base, uint64_t size, uint64_t offset) {
  if (offset & (access->alignment - 1))
    return misaligned(access, where);
  if (access->bytes <= size && offset <= size - access->bytes)
    return base + offset;
  emu_fault(access->cta, access->warp, access->lane, access->insn,
            "%s of %zu bytes at %s address %" PRIu64
            " is out of bounds: %s memory has %" PRIu64 " bytes",
            verb(access), access->bytes, where, offset, where, size);
  return NULL;
}

static bool is_inside(const access_t *access, const emu_memory_t *memory) {
  uint64_t offset = access->address - memory->address;
  return access->address >= memory->address && access->bytes <= memory->bytes &&
         offset <= memory->bytes - access->bytes;
}

static uint8_t *fault_outside(const access_t *access, uint32_t index) {
  const emu_launch_t *launch = access->cta->launch;
  if (launch->memory_count == 0) {
    emu_fault(access->cta, access->warp, access->lane, access->insn,
              "%s of %zu bytes at global address 0x%" PRIx64
              ": the launch has no memory",
              verb(access), access->bytes, access->address);
    return NULL;
  }
  /* The nearer of the memories before and after the address. */
  const emu_memory_t *memory = &launch->memories[index];
  const emu_memory_t *after =
      index + 1 < launch->memory_count ? memory + 1 : NULL;
  uint64_t end = memory->address + memory->bytes;
  if (after && access->address >= end &&
      after->address - access->address < access->address - end)
    memory = after;
  bool is_before = access->address < memory->address;
  end = memory->address + memory->bytes;
  uint64_t distance = is_before ? memory->address - access->address
                      : access->address >= end
                          ? access->address - end
                          : access->address - memory->address;
  emu_fault(access->cta, access->warp, access->lane, access->insn,
            "%s of %zu bytes at global address 0x%" PRIx64
            " is out of bounds: %" PRIu64 " bytes %s '%s' of %" PRIu64 " bytes",
            verb(access), access->bytes, access->address, distance,
            is_before                ? "before"
            : access->address >= end ? "past the end of"
                                     : "into",
            memory->name, memory->bytes);
  return NULL;
}

static uint8_t *in_global(const access_t *access) {
  emu_cta_t *cta = access->cta;
  const emu_launch_t *launch = cta->launch;
  if (access->address - EMU_GLOBAL_WINDOW < EMU_WINDOW_BYTES)
    return in_space(access, "module variable", launch->globals,
                    launch->program->global_bytes,
                    access->address - EMU_GLOBAL_WINDOW);
  uint32_t index = cta->last_memory;
  if (index >= launch->memory_count ||
      !is_inside(access, &launch->memories[index])) {
    uint32_t low = 0;
    uint32_t high = launch->memory_count;
    while (low + 1 < high) {
      uint32_t middle = low + (high - low) / 2;
      if (launch->memories[middle].address <= access->address)
        low = middle;
      else
        high = middle;
    }
    index = low;
    if (launch->memory_count == 0 ||
        !is_inside(access, &launch->memories[index]))
      return fault_outside(access, index);
    cta->last_memory = index;
  }
  const emu_memory_t *memory = &launch->memories[index];
  if (access->address & (access->alignment - 1))
    return misaligned(access, "global");
  if (access->is_write && memory->is_read_only) {
    emu_fault(cta, access->warp, access->lane, access->insn,
              "write of %zu bytes to '%s', which is read-only", access->bytes,
              memory->name);
    return NULL;
  }
  return memory->data + (access->address - memory->address);
}

static uint8_t *in_local(const access_t *access, uint64_t offset) {
  if (!access->warp) {
    emu_fault(access->cta, NULL, -1, access->insn,
              "a copy cannot touch local memory");
    return NULL;
  }
  size_t bytes = access->cta->launch->program->local_bytes;
  size_t thread = access->warp->index * EMU_LANES + (uint32_t)access->lane;
  return in_space(access, "local", access->cta->local + thread * bytes, bytes,
                  offset);
}

static uint8_t *read_only(const access_t *access, const char *where) {
  emu_fault(access->cta, access->warp, access->lane, access->insn,
            "write to %s memory, which is read-only", where);
  return NULL;
}

static uint8_t *in_param(const access_t *access, uint64_t offset) {
  const emu_launch_t *launch = access->cta->launch;
  if (access->is_write)
    return read_only(access, "parameter");
  return in_space(access, "parameter", launch->params,
                  launch->program->entry->param_bytes, offset);
}

static uint8_t *in_const(const access_t *access, uint64_t offset) {
  const emu_launch_t *launch = access->cta->launch;
  if (access->is_write)
    return read_only(access, "constant");
  return in_space(access, "constant", launch->consts,
                  launch->program->const_bytes, offset);
}

static uint8_t *in_shared(const access_t *access, uint64_t offset) {
  return in_space(access, "shared", access->cta->shared,
                  access->cta->shared_bytes, offset);
}

static uint8_t *in_generic(const access_t *access) {
  uint64_t address = access->address;
  if (address - EMU_SHARED_WINDOW < EMU_WINDOW_BYTES)
    return in_shared(access, address - EMU_SHARED_WINDOW);
  if (address - EMU_LOCAL_WINDOW < EMU_WINDOW_BYTES)
    return in_local(access, address - EMU_LOCAL_WINDOW);
  if (address - EMU_PARAM_WINDOW < EMU_WINDOW_BYTES)
    return in_param(access, address - EMU_PARAM_WINDOW);
  if (address - EMU_CONST_WINDOW < EMU_WINDOW_BYTES)
    return in_const(access, address - EMU_CONST_WINDOW);
  return in_global(access);
}

uint8_t *emu_memory_locate(emu_warp_t *warp, const emu_insn_t *insn,
                           uint32_t lane, ptx_space_t space, uint64_t address,
                           size_t bytes, size_t alignment, bool is_write) {
  access_t access = {warp->cta, warp,  (int)lane, insn,
                     address,   bytes, alignment, is_write};
  switch (space) {
  case PTX_SPACE_SHARED:
    return in_shared(&access, address);
  case PTX_SPACE_GLOBAL:
    return in_global(&access);
  case PTX_SPACE_LOCAL:
    return in_local(&access, address);
  case PTX_SPACE_PARAM:
    return in_param(&access, address);
  case PTX_SPACE_CONST:
    return in_const(&access, address);
  default:
    return in_generic(&access);
  }
}

uint8_t *emu_memory(emu_warp_t *warp, const emu_insn_t *insn, uint32_t lane,
                    ptx_space_t space, uint64_t address, size_t bytes,
                    size_t alignment, bool is_write) {
  uint8_t *memory = emu_memory_locate(warp, insn, lane, space, address, bytes,
                                      alignment, is_write);
  const emu_cta_t *cta = warp->cta;
  if (!memory || !cta->hazards)
    return memory;
  uintptr_t offset = (uintptr_t)memory - (uintptr_t)cta->shared;
  bool is_shared = offset < cta->shared_bytes;
  if (is_shared || insn->is_strong)
    emu_hazards_access(warp, insn, lane, is_shared, offset, bytes, is_write);
  return memory;
}

uint8_t *emu_cta_shared(emu_cta_t *cta, const emu_insn_t *insn,
                        uint64_t address, size_t bytes, size_t alignment) {
  access_t access = {cta, NULL, -1, insn, address, bytes, alignment, true};
  if (address - EMU_SHARED_WINDOW < EMU_WINDOW_BYTES)
    address -= EMU_SHARED_WINDOW;
  return in_shared(&access, address);
}

uint8_t *emu_cta_global(emu_cta_t *cta, const emu_insn_t *insn,
                        uint64_t address, size_t bytes, size_t alignment,
                        bool is_write) {
  access_t access = {cta, NULL, -1, insn, address, bytes, alignment, is_write};
  return in_global(&access);
}

/* ---- The host's memories ---------------------------------------------------
 */

static int compare_memories(const void *left, const void *right) {
  const emu_memory_t *a = left;
  const emu_memory_t *b = right;
  return a->address < b->address ? -1 : a->address > b->address;
}

static uattn_error_t *check_apart(const emu_memory_t *memories,
                                  uint32_t count) {
  for (uint32_t i = 1; i < count; ++i)
    if (memories[i].address - memories[i - 1].address < memories[i - 1].bytes)
      return uattn_error_create(
          UATTN_ERROR_INVALID_ARGUMENT,
          "memories '%s' and '%s' overlap: expected them apart",
          memories[i - 1].name, memories[i].name);
  return NULL;
}

uattn_error_t *emu_memories_create(const uattn_emulator_memory_t *memories,
                                   size_t count, emu_memory_t **out_memories,
                                   uint32_t *out_count) {
  emu_memory_t *sorted = uattn_allocate((count + 1) * sizeof *sorted);
  uint32_t used = 0;
  uattn_error_t *error = NULL;
  for (size_t i = 0; i < count && !error; ++i) {
    uint64_t address = (uint64_t)(uintptr_t)memories[i].data;
    const char *name = memories[i].name ? memories[i].name : "unnamed";
    if (memories[i].bytes == 0)
      continue;
    if (!memories[i].data)
      error = uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                                 "memory '%s' has no data", name);
    sorted[used++] =
        (emu_memory_t){name, memories[i].data, address, memories[i].bytes,
                       memories[i].is_read_only};
  }
  if (!error) {
    qsort(sorted, used, sizeof *sorted, compare_memories);
    error = check_apart(sorted, used);
  }
  if (error) {
    free(sorted);
    return error;
  }
  *out_memories = sorted;
  *out_count = used;
  return NULL;
}
