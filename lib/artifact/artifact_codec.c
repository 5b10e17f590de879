/* The bytes of an artifact, one description for writing and reading.
 * Layer: artifact. Must not know: MLIR, CUDA, what the records are used for.
 * SPDX-License-Identifier: Apache-2.0
 *
 * All numbers are little endian. The file is a header and three sections:
 *
 *   header    magic[8], major u32, minor u32, file bytes u64, checksum u64,
 *             section count u32, 0 u32
 *   section   tag u32, payload bytes u64, payload
 *   payload   count u32, records ("FUNC", "KERN", "IMAG" in this order)
 *
 * The checksum covers the file without its own eight bytes. A newer minor may
 * append sections, and fields at the end of a record: its reader takes them
 * where `minor` says that they are there. This reader refuses newer files.
 *
 *   minor 1   scratch of a step, and the members that need it: parameters made
 *             from scratch, grids of KV tiles, quantities of the backward op
 *   minor 2   scratch of records and of sums */
#include "artifact/artifact.h"

#include <inttypes.h>
#include <string.h>

#include "artifact/artifact_stream.h"

/* Neither text nor tolerant of a change of line ends or the eighth bit. */
static const char magic[8] = {'\x89', 'u', 'a', 't', 't', 'n', '\r', '\n'};

enum { HEADER_BYTES = 40, CHECKSUM_OFFSET = 24 };

static void exchange_value(uattn_stream_t *stream,
                           uattn_artifact_value_t *value) {
  uattn_stream_string(stream, &value->name);
  uattn_stream_enum(stream, &value->dtype);
  uattn_stream_i32(stream, &value->rank);
  for (int axis = 0; axis < 4; ++axis)
    uattn_stream_i64(stream, &value->shape[axis]);
}

static void exchange_problem(uattn_stream_t *stream, uattn_problem_t *problem) {
  uattn_stream_enum(stream, &problem->kind);
  uattn_stream_enum(stream, &problem->dtype);
  uattn_stream_enum(stream, &problem->temp_dtype);
  uattn_stream_i64(stream, &problem->batch);
  uattn_stream_i64(stream, &problem->q_tokens);
  uattn_stream_i64(stream, &problem->kv_tokens);
  uattn_stream_i64(stream, &problem->q_heads);
  uattn_stream_i64(stream, &problem->kv_heads);
  uattn_stream_i64(stream, &problem->head_dim);
  uattn_stream_enum(stream, &problem->cap.method);
  uattn_stream_f64(stream, &problem->cap.cap);
  uattn_stream_f64(stream, &problem->cap.alpha);
  uattn_stream_f64(stream, &problem->cap.beta);
  uattn_stream_f64(stream, &problem->sm_scale);
  uattn_stream_bool(stream, &problem->is_causal);
  uattn_stream_i64(stream, &problem->window_tokens);
  uattn_stream_i64(stream, &problem->q_offset);
  uattn_stream_f64(stream, &problem->z_loss_weight);
  uattn_stream_bool(stream, &problem->is_deterministic);
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i)
    uattn_stream_bool(stream, &problem->has_operand[i]);
  for (int i = 0; i < UATTN_RESULT_COUNT; ++i)
    uattn_stream_bool(stream, &problem->has_result[i]);
}

static void exchange_step(uattn_stream_t *stream, uattn_artifact_step_t *step) {
  exchange_problem(stream, &step->problem);
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i)
    uattn_stream_i32(stream, &step->operand_values[i]);
  for (int i = 0; i < UATTN_RESULT_COUNT; ++i)
    uattn_stream_i32(stream, &step->result_values[i]);
  uattn_stream_u32(stream, &step->first_kernel);
  uattn_stream_u32(stream, &step->kernel_count);
  uattn_stream_string(stream, &step->plan_text);
  if (stream->minor < 1)
    return;
  uattn_stream_count(stream, &step->scratch, &step->scratch_count,
                     sizeof *step->scratch, 4);
  for (uint32_t i = 0; i < step->scratch_count; ++i)
    uattn_stream_enum(stream, &step->scratch[i]);
}

static void exchange_function(uattn_stream_t *stream,
                              uattn_artifact_function_t *function) {
  uattn_stream_string(stream, &function->name);
  uattn_stream_count(stream, &function->values, &function->value_count,
                     sizeof *function->values, 48);
  for (uint32_t i = 0; i < function->value_count; ++i)
    exchange_value(stream, &function->values[i]);
  uattn_stream_u32(stream, &function->argument_count);
  uattn_stream_count(stream, &function->result_values, &function->result_count,
                     sizeof *function->result_values, 4);
  for (uint32_t i = 0; i < function->result_count; ++i)
    uattn_stream_i32(stream, &function->result_values[i]);
  uattn_stream_count(stream, &function->steps, &function->step_count,
                     sizeof *function->steps, 200);
  for (uint32_t i = 0; i < function->step_count; ++i)
    exchange_step(stream, &function->steps[i]);
}

static void exchange_param(uattn_stream_t *stream,
                           uattn_kernel_param_t *param) {
  uattn_stream_enum(stream, &param->kind);
  /* Minor 0 had a truth value here: it is a result. */
  uattn_stream_small_enum(stream, &param->source);
  uattn_stream_i32(stream, &param->tensor_index);
  uattn_stream_i32(stream, &param->box_columns);
  uattn_stream_i32(stream, &param->box_rows);
  uattn_stream_enum(stream, &param->quantity);
}

static void exchange_kernel(uattn_stream_t *stream,
                            uattn_artifact_kernel_t *kernel) {
  uattn_stream_string(stream, &kernel->entry);
  uattn_stream_u32(stream, &kernel->image_index);
  uattn_stream_enum(stream, &kernel->grid_rule);
  uattn_stream_i32(stream, &kernel->rows_per_cta);
  uattn_stream_i32(stream, &kernel->threads);
  uattn_stream_i32(stream, &kernel->dynamic_smem_bytes);
  uattn_stream_i32(stream, &kernel->entry_registers);
  uattn_stream_i32(stream, &kernel->sm_scale_sign);
  uattn_stream_f64(stream, &kernel->largest_post_scale);
  uattn_stream_count(stream, &kernel->params, &kernel->param_count,
                     sizeof *kernel->params, 21);
  for (uint32_t i = 0; i < kernel->param_count; ++i)
    exchange_param(stream, &kernel->params[i]);
}

static void exchange_image(uattn_stream_t *stream,
                           uattn_artifact_image_t *image) {
  uattn_stream_string(stream, &image->chip);
  uattn_stream_string(stream, &image->ptx);
  uattn_stream_blob(stream, &image->cubin, &image->cubin_bytes);
}

static void exchange_functions(uattn_stream_t *stream,
                               uattn_artifact_t *artifact) {
  uattn_stream_count(stream, &artifact->functions, &artifact->function_count,
                     sizeof *artifact->functions, 24);
  for (uint32_t i = 0; i < artifact->function_count; ++i)
    exchange_function(stream, &artifact->functions[i]);
}

static void exchange_kernels(uattn_stream_t *stream,
                             uattn_artifact_t *artifact) {
  uattn_stream_count(stream, &artifact->kernels, &artifact->kernel_count,
                     sizeof *artifact->kernels, 40);
  for (uint32_t i = 0; i < artifact->kernel_count; ++i)
    exchange_kernel(stream, &artifact->kernels[i]);
}

static void exchange_images(uattn_stream_t *stream,
                            uattn_artifact_t *artifact) {
  uattn_stream_count(stream, &artifact->images, &artifact->image_count,
                     sizeof *artifact->images, 24);
  for (uint32_t i = 0; i < artifact->image_count; ++i)
    exchange_image(stream, &artifact->images[i]);
}

#define TAG(a, b, c, d)                                                        \
  ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 |                  \
   (uint32_t)(d) << 24)

static const struct {
  uint32_t tag;
  const char *name;
  void (*exchange)(uattn_stream_t *stream, uattn_artifact_t *artifact);
} sections[] = {
    {TAG('F', 'U', 'N', 'C'), "functions", exchange_functions},
    {TAG('K', 'E', 'R', 'N'), "kernels", exchange_kernels},
    {TAG('I', 'M', 'A', 'G'), "images", exchange_images},
};
enum { SECTION_COUNT = sizeof sections / sizeof *sections };

/* FNV-1a over 64 bits: each byte is folded in by a bijection, so no change of
 * one byte goes unseen. */
static uint64_t fold(uint64_t hash, const uint8_t *bytes, size_t size) {
  for (size_t i = 0; i < size; ++i)
    hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
  return hash;
}

static uint64_t file_checksum(const uint8_t *bytes, size_t size) {
  uint64_t hash = fold(UINT64_C(0xcbf29ce484222325), bytes, CHECKSUM_OFFSET);
  return fold(hash, bytes + CHECKSUM_OFFSET + 8, size - CHECKSUM_OFFSET - 8);
}

static void append_section(uattn_string_t *file, int index,
                           uattn_artifact_t *artifact) {
  uattn_string_t payload = {0};
  uattn_stream_t inner = {.output = &payload,
                          .minor = UATTN_ARTIFACT_FORMAT_MINOR,
                          .section = sections[index].name};
  sections[index].exchange(&inner, artifact);
  uattn_stream_t outer = {.output = file, .section = sections[index].name};
  uint32_t tag = sections[index].tag;
  uint64_t size = payload.size;
  uattn_stream_u32(&outer, &tag);
  uattn_stream_u64(&outer, &size);
  uattn_stream_bytes(&outer, payload.data, payload.size);
  uattn_string_release(&payload);
}

void uattn_artifact_serialize(const uattn_artifact_t *artifact,
                              uint8_t **out_bytes, size_t *out_size) {
  uattn_artifact_t view = *artifact; /* a writing stream changes nothing */
  uattn_string_t file = {0};
  uattn_stream_t stream = {.output = &file, .section = "header"};
  uint32_t major = UATTN_ARTIFACT_FORMAT_MAJOR;
  uint32_t minor = UATTN_ARTIFACT_FORMAT_MINOR;
  uint32_t section_count = SECTION_COUNT;
  uint32_t reserved = 0;
  uint64_t later = 0;
  uattn_stream_bytes(&stream, (void *)(uintptr_t)magic, sizeof magic);
  uattn_stream_u32(&stream, &major);
  uattn_stream_u32(&stream, &minor);
  uattn_stream_u64(&stream, &later);
  uattn_stream_u64(&stream, &later);
  uattn_stream_u32(&stream, &section_count);
  uattn_stream_u32(&stream, &reserved);
  for (int i = 0; i < SECTION_COUNT; ++i)
    append_section(&file, i, &view);
  *out_size = file.size;
  *out_bytes = (uint8_t *)uattn_string_take(&file);
  for (int i = 0; i < 8; ++i)
    (*out_bytes)[16 + i] = (uint8_t)((uint64_t)*out_size >> (8 * i));
  uint64_t checksum = file_checksum(*out_bytes, *out_size);
  for (int i = 0; i < 8; ++i)
    (*out_bytes)[CHECKSUM_OFFSET + i] = (uint8_t)(checksum >> (8 * i));
}

/* Everything that must hold before the sections can be believed. */
static uattn_error_t *check_header(uattn_stream_t *stream, size_t size,
                                   uattn_artifact_t *artifact) {
  char found_magic[sizeof magic] = {0};
  uint32_t major = 0;
  uint32_t minor = 0;
  uint64_t file_bytes = 0;
  uint64_t checksum = 0;
  uattn_stream_bytes(stream, found_magic, sizeof found_magic);
  uattn_stream_u32(stream, &major);
  uattn_stream_u32(stream, &minor);
  uattn_stream_u64(stream, &file_bytes);
  uattn_stream_u64(stream, &checksum);
  if (memcmp(found_magic, magic, sizeof magic) != 0)
    return uattn_error_create(UATTN_ERROR_IO,
                              "not an artifact: wanted the mark of a .uattn "
                              "file in its first 8 bytes");
  if (major != UATTN_ARTIFACT_FORMAT_MAJOR ||
      minor > UATTN_ARTIFACT_FORMAT_MINOR)
    return uattn_error_create(UATTN_ERROR_UNSUPPORTED,
                              "artifact format %" PRIu32 ".%" PRIu32
                              ": this library reads %d.0 to %d.%d",
                              major, minor, UATTN_ARTIFACT_FORMAT_MAJOR,
                              UATTN_ARTIFACT_FORMAT_MAJOR,
                              UATTN_ARTIFACT_FORMAT_MINOR);
  if (file_bytes != size)
    return uattn_error_create(
        UATTN_ERROR_IO, "torn artifact: %zu bytes found, %" PRIu64 " written",
        size, file_bytes);
  if (checksum != file_checksum(stream->bytes, size))
    return uattn_error_create(UATTN_ERROR_IO,
                              "damaged artifact: its checksum does not match "
                              "its contents");
  artifact->format_major = (int32_t)major;
  artifact->format_minor = (int32_t)minor;
  stream->minor = minor;
  return NULL;
}

static void read_section(uattn_stream_t *stream, int index,
                         uattn_artifact_t *artifact) {
  uint32_t tag = 0;
  uint64_t size = 0;
  stream->section = sections[index].name;
  uattn_stream_u32(stream, &tag);
  uattn_stream_u64(stream, &size);
  if (!uattn_stream_have(stream, size))
    return;
  if (tag != sections[index].tag) {
    uattn_stream_fail(stream, uattn_error_create(UATTN_ERROR_IO,
                                                 "section tag 0x%08" PRIx32
                                                 ": wanted 0x%08" PRIx32 ", %s",
                                                 tag, sections[index].tag,
                                                 sections[index].name));
    return;
  }
  size_t file_end = stream->end;
  stream->end = stream->offset + (size_t)size;
  sections[index].exchange(stream, artifact);
  if (!stream->error && stream->offset != stream->end)
    uattn_stream_fail(
        stream,
        uattn_error_create(UATTN_ERROR_IO, "section %s has %zu bytes too many",
                           stream->section, stream->end - stream->offset));
  stream->end = file_end;
}

static void read_sections(uattn_stream_t *stream, uattn_artifact_t *artifact) {
  uint32_t section_count = 0;
  uint32_t reserved = 0;
  uattn_stream_u32(stream, &section_count);
  uattn_stream_u32(stream, &reserved);
  if (section_count != SECTION_COUNT || reserved != 0) {
    uattn_stream_fail(stream, uattn_error_create(UATTN_ERROR_IO,
                                                 "artifact of %" PRIu32
                                                 " sections: wanted %d",
                                                 section_count, SECTION_COUNT));
    return;
  }
  for (int i = 0; i < SECTION_COUNT; ++i)
    read_section(stream, i, artifact);
  if (!stream->error && stream->offset != stream->end)
    uattn_stream_fail(stream,
                      uattn_error_create(UATTN_ERROR_IO,
                                         "%zu bytes follow the last section",
                                         stream->end - stream->offset));
}

uattn_error_t *uattn_artifact_parse(const void *bytes, size_t size,
                                    uattn_artifact_t **out_artifact) {
  if (size < HEADER_BYTES)
    return uattn_error_create(UATTN_ERROR_IO,
                              "not an artifact: %zu bytes found, wanted at "
                              "least %d",
                              size, HEADER_BYTES);
  uattn_artifact_t *artifact = uattn_artifact_create();
  uattn_stream_t stream = {.bytes = bytes, .end = size, .section = "header"};
  uattn_stream_fail(&stream, check_header(&stream, size, artifact));
  if (!stream.error)
    read_sections(&stream, artifact);
  if (!stream.error)
    uattn_stream_fail(&stream, uattn_artifact_validate(artifact));
  if (stream.error)
    uattn_artifact_destroy(artifact);
  else
    *out_artifact = artifact;
  return stream.error;
}
