/* The host memory that the kernels of a call may touch.
 * Layer: emulator. Must not know: instructions, how kernels run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/program_memories.h"

#include <stdlib.h>

#include "support/support.h"

/* From the first element to the last; strides are not negative. */
static size_t span_bytes(const uattn_tensor_t *tensor) {
  int64_t last = 0;
  for (int axis = 0; axis < tensor->rank; ++axis)
    if (tensor->shape[axis] > 1)
      last += (tensor->shape[axis] - 1) * tensor->strides[axis];
  return ((size_t)last + 1) * uattn_dtype_bytes(tensor->dtype);
}

static void add(emu_program_memories_t *memories, const char *name, void *data,
                size_t bytes, bool is_read_only) {
  memories->list[memories->count++] = (uattn_emulator_memory_t){
      uattn_string_copy(name), data, bytes, is_read_only};
}

static int compare(const void *left, const void *right) {
  uintptr_t a = (uintptr_t)((const uattn_emulator_memory_t *)left)->data;
  uintptr_t b = (uintptr_t)((const uattn_emulator_memory_t *)right)->data;
  return a < b ? -1 : a > b;
}

/* Takes `next`, which begins inside of `memory`. */
static void merge(uattn_emulator_memory_t *memory,
                  const uattn_emulator_memory_t *next) {
  uintptr_t begin = (uintptr_t)memory->data;
  uintptr_t next_end = (uintptr_t)next->data + next->bytes;
  uattn_string_t name = {0};
  uattn_string_appendf(&name, "%s and %s", memory->name, next->name);
  free((char *)(uintptr_t)memory->name);
  free((char *)(uintptr_t)next->name);
  memory->name = uattn_string_take(&name);
  if (next_end > begin + memory->bytes)
    memory->bytes = next_end - begin;
  memory->is_read_only = memory->is_read_only && next->is_read_only;
}

static void merge_all(emu_program_memories_t *memories) {
  size_t kept = 0;
  qsort(memories->list, memories->count, sizeof *memories->list, compare);
  for (size_t i = 1; i < memories->count; ++i) {
    uattn_emulator_memory_t *last = &memories->list[kept];
    uattn_emulator_memory_t *next = &memories->list[i];
    if ((uintptr_t)next->data < (uintptr_t)last->data + last->bytes)
      merge(last, next);
    else
      memories->list[++kept] = *next;
  }
  memories->count = memories->count ? kept + 1 : 0;
}

static void add_scratch(const uattn_call_t *call, uint32_t step,
                        emu_program_memories_t *memories) {
  for (uint32_t i = 0; i < call->function->steps[step].scratch_count; ++i) {
    uattn_tensor_t tensor = uattn_call_scratch(call, step, i);
    uattn_string_t name = {0};
    uattn_string_appendf(&name, "op %u scratch %u", step, i);
    add(memories, uattn_string_get(&name), tensor.data, span_bytes(&tensor),
        false);
    uattn_string_release(&name);
  }
}

void emu_program_memories_find(const uattn_call_t *call, uint32_t step,
                               emu_program_memories_t *out_memories) {
  const uattn_artifact_function_t *function = call->function;
  size_t most = (size_t)function->argument_count + function->result_count + 1 +
                function->steps[step].scratch_count;
  emu_program_memories_t memories = {
      .list = uattn_allocate(most * sizeof *memories.list)};
  for (uint32_t i = 0; i < function->argument_count; ++i) {
    const uattn_value_use_t *use = &call->facts->uses[i];
    const uattn_tensor_t *tensor = &call->arguments[i];
    if (use->is_mapped || use->is_pointed)
      add(&memories, function->values[i].name, tensor->data, span_bytes(tensor),
          true);
  }
  for (uint32_t i = 0; i < function->result_count; ++i)
    if (call->results[i].data)
      add(&memories, function->values[function->result_values[i]].name,
          call->results[i].data, span_bytes(&call->results[i]), false);
  size_t values_bytes = uattn_call_values_bytes(call);
  if (values_bytes > 0)
    add(&memories, "workspace", call->workspace, values_bytes, false);
  add_scratch(call, step, &memories);
  merge_all(&memories);
  *out_memories = memories;
}

void emu_program_memories_release(emu_program_memories_t *memories) {
  for (size_t i = 0; i < memories->count; ++i)
    free((char *)(uintptr_t)memories->list[i].name);
  free(memories->list);
  *memories = (emu_program_memories_t){0};
}
