/* Executes bulk copies: reads their operands, checks them, starts the copy.
 * Layer: emulator. Must not know: PTX text, when copies happen.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "emulator/decode.h"
#include "emulator/decode_copy.h"
#include "emulator/hazards.h"
#include "emulator/timeline_record.h"
#include "emulator/trace.h"

enum {
  BULK_ALIGNMENT = 16,
  BOX_ALIGNMENT = 128,
  MAP_ALIGNMENT = 64,
  MAX_RANK = EMU_TENSOR_MAX_RANK
};

/* One lane's copy on its way to being checked. */
typedef struct {
  emu_warp_t *warp;
  const emu_insn_t *insn;
  const emu_copy_form_t *form;
  uint32_t lane;
  emu_copy_t copy;
} request_t;

static uint64_t address_of(const request_t *request, uint32_t row) {
  uint64_t addresses[EMU_LANES];
  emu_addresses(request->warp, request->insn->rows[row],
                request->insn->immediates[row], addresses);
  return addresses[request->lane];
}

static UATTN_PRINTF(2, 3) bool fault(const request_t *request,
                                     const char *format, ...) {
  uattn_string_t text = {0};
  va_list arguments;
  va_start(arguments, format);
  uattn_string_appendv(&text, format, arguments);
  va_end(arguments);
  emu_fault(request->warp->cta, request->warp, (int)request->lane,
            request->insn, "%s", uattn_string_get(&text));
  uattn_string_release(&text);
  return false;
}

/* ---- Tensors ---------------------------------------------------------------
 */

static ptx_type_t element_type(uattn_element_t element,
                               emu_reduce_t operation) {
  bool is_bitwise = operation >= EMU_REDUCE_AND;
  switch (element) {
  case UATTN_ELEMENT_U32:
    return is_bitwise ? PTX_TYPE_B32 : PTX_TYPE_U32;
  case UATTN_ELEMENT_I32:
    return is_bitwise ? PTX_TYPE_B32 : PTX_TYPE_S32;
  case UATTN_ELEMENT_U64:
    return is_bitwise ? PTX_TYPE_B64 : PTX_TYPE_U64;
  case UATTN_ELEMENT_I64:
    return is_bitwise ? PTX_TYPE_B64 : PTX_TYPE_S64;
  case UATTN_ELEMENT_F16:
    return PTX_TYPE_F16;
  case UATTN_ELEMENT_BF16:
    return PTX_TYPE_BF16;
  case UATTN_ELEMENT_F32:
    return PTX_TYPE_F32;
  case UATTN_ELEMENT_F64:
    return PTX_TYPE_F64;
  default:
    return PTX_TYPE_NONE;
  }
}

/* Rules that an H200 enforces (illegal instruction). */
static bool check_coordinates(const request_t *request) {
  const emu_copy_t *copy = &request->copy;
  size_t bytes = emu_element_bytes((uattn_element_t)copy->map.element);
  int64_t offset = copy->at[0] * (int64_t)bytes;
  if (offset % BULK_ALIGNMENT)
    return fault(request,
                 "coordinate 0 is %d, %" PRId64
                 " bytes: expected a multiple of %d bytes",
                 copy->at[0], offset, BULK_ALIGNMENT);
  for (uint32_t i = 0; i < request->form->rank; ++i)
    if (copy->kind == EMU_COPY_STORE && copy->at[i] < 0)
      return fault(request,
                   "coordinate %u of a store is %d: expected 0 or more", i,
                   copy->at[i]);
  return true;
}

static bool read_map(request_t *request) {
  uint64_t address = address_of(request, EMU_COPY_ROW_GLOBAL);
  const uint8_t *bytes = emu_memory_locate(
      request->warp, request->insn, request->lane, PTX_SPACE_GENERIC, address,
      EMU_TENSOR_MAP_BYTES, MAP_ALIGNMENT, false);
  if (!bytes)
    return false;
  emu_copy_t *copy = &request->copy;
  if (!emu_tensor_map_read(bytes, &copy->map))
    return fault(request,
                 "no tensor map at address 0x%" PRIx64
                 ": expected 128 bytes of uattn_emulator_encode_tensor_map",
                 address);
  if (copy->map.rank != request->form->rank)
    return fault(request, "a tensor map of %u dimensions: expected %u",
                 copy->map.rank, request->form->rank);
  for (uint32_t i = 0; i < request->form->rank; ++i)
    copy->at[i] = (int32_t)emu_words(
        request->warp, request->form->coordinates[i])[request->lane];
  copy->bytes = emu_box_rows(&copy->map) * emu_box_row_bytes(&copy->map);
  return check_coordinates(request);
}

static bool read_tensor(request_t *request) {
  emu_copy_t *copy = &request->copy;
  if (!read_map(request))
    return false;
  if (copy->reduction == EMU_REDUCE_NONE)
    return true;
  copy->type =
      element_type((uattn_element_t)copy->map.element, copy->reduction);
  return emu_reduce_is_valid(copy->reduction, copy->type, true) ||
         fault(request, "the tensor map's element type %u has no .%s",
               copy->map.element,
               emu_reduce_names[copy->reduction - EMU_REDUCE_ADD]);
}

/* ---- Bytes -----------------------------------------------------------------
 */

static bool read_bytes(request_t *request) {
  emu_copy_t *copy = &request->copy;
  emu_warp_t *warp = request->warp;
  copy->bytes =
      emu_words(warp, request->insn->rows[EMU_COPY_ROW_SIZE])[request->lane];
  if (copy->bytes % BULK_ALIGNMENT)
    return fault(request, "%zu bytes: expected a multiple of %d", copy->bytes,
                 BULK_ALIGNMENT);
  uint64_t other = address_of(request, EMU_COPY_ROW_GLOBAL);
  bool is_local = copy->kind == EMU_COPY_LOCAL;
  if (is_local)
    copy->source = other;
  else
    copy->global = other;
  return emu_memory_locate(warp, request->insn, request->lane,
                           is_local ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL,
                           other, copy->bytes, BULK_ALIGNMENT,
                           copy->kind == EMU_COPY_STORE) != NULL;
}

/* ---- All -------------------------------------------------------------------
 */

static bool check_shared(request_t *request) {
  emu_copy_t *copy = &request->copy;
  copy->shared = address_of(request, EMU_COPY_ROW_SHARED);
  size_t bytes = copy->bytes;
  if (copy->is_tensor)
    bytes = (emu_box_rows(&copy->map) - 1) * emu_box_pitch_bytes(&copy->map) +
            emu_box_row_bytes(&copy->map);
  return emu_memory_locate(request->warp, request->insn, request->lane,
                           PTX_SPACE_SHARED, copy->shared, bytes,
                           copy->is_tensor ? BOX_ALIGNMENT : BULK_ALIGNMENT,
                           copy->kind != EMU_COPY_STORE) != NULL;
}

static bool check_mbarrier(request_t *request) {
  if (request->copy.kind == EMU_COPY_STORE)
    return true;
  request->copy.mbarrier = address_of(request, EMU_COPY_ROW_MBARRIER);
  emu_actor_t actor = {.cta = request->warp->cta,
                       .warp = request->warp,
                       .lane = (int)request->lane,
                       .insn = request->insn};
  const emu_mbarrier_t *mbarrier =
      emu_mbarrier_find(&actor, request->copy.mbarrier);
  if (!mbarrier)
    return false;
  request->copy.phase = mbarrier->phase;
  emu_hazards_mbarrier_copy(&actor, request->copy.mbarrier);
  return true;
}

static bool check_mask(const request_t *request) {
  emu_row_t row = request->insn->rows[EMU_COPY_ROW_MASK];
  if (row.kind == EMU_ROW_NONE)
    return true;
  uint32_t mask = emu_words(request->warp, row)[request->lane];
  return mask == 1 ||
         fault(request, "CTA mask 0x%x: expected 0x1 in a cluster of one CTA",
               mask);
}

static void record(const request_t *request) {
  const emu_copy_t *copy = &request->copy;
  emu_warp_t *warp = request->warp;
  if (copy->kind == EMU_COPY_STORE) {
    emu_record_copy(warp, request->insn, EMU_FAMILY_BULK, true, copy->bytes);
    return;
  }
  emu_actor_t actor = {.cta = warp->cta, .warp = warp, .insn = request->insn};
  emu_record_load(warp, request->insn, copy->mbarrier,
                  emu_mbarrier_find(&actor, copy->mbarrier)->phase,
                  copy->bytes);
}

static bool start(request_t *request) {
  const emu_copy_form_t *form = request->form;
  request->copy = (emu_copy_t){
      .kind = form->kind,
      .insn = request->insn,
      .party = {request->warp->index, 1u << request->lane, request->insn},
      .is_tensor = form->is_tensor,
      .reduction = form->reduction,
      .type = form->type};
  bool is_right = form->is_tensor ? read_tensor(request) : read_bytes(request);
  if (!is_right || !check_shared(request) || !check_mbarrier(request) ||
      !check_mask(request))
    return false;
  if (request->warp->cta->recorder)
    record(request);
  if (request->warp->cta->trace)
    emu_trace_copy(request->warp->cta, &request->copy);
  if (form->kind == EMU_COPY_STORE)
    emu_store_start(request->warp, request->lane, &request->copy);
  else
    emu_copy_start(request->warp, request->lane, &request->copy);
  return true;
}

emu_outcome_t emu_execute_copy(emu_warp_t *warp, const emu_insn_t *insn,
                               uint32_t lanes) {
  request_t request = {.warp = warp, .insn = insn, .form = insn->detail};
  EMU_FOR_LANES(lane, lanes) {
    request.lane = lane;
    if (!start(&request))
      return EMU_FAULT;
  }
  return EMU_NEXT;
}
