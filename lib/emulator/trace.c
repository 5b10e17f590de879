/* The life of a trace: what is asked for, in which launches it is.
 * Layer: emulator. Must not know: how instructions and tiles are told.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/trace_parts.h"

#define USAGE_ERROR(...)                                                       \
  uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

/* ---- Creating --------------------------------------------------------------
 */

static uattn_error_t *compile_pattern(emu_trace_t *trace) {
  const char *pattern = trace->options.pattern;
  int code = regcomp(&trace->expression, pattern, REG_EXTENDED | REG_NOSUB);
  trace->has_expression = code == 0;
  if (code == 0)
    return NULL;
  char why[256];
  (void)regerror(code, &trace->expression, why, sizeof why);
  return USAGE_ERROR("trace: the pattern is '%s': %s: expected a POSIX "
                     "extended regular expression",
                     pattern, why);
}

static uattn_error_t *check_options(const uattn_emulator_trace_t *options) {
  if (options->pattern && !options->tell_instruction)
    return USAGE_ERROR("trace: a pattern without tell_instruction");
  if (options->tile_count > 0 && !options->tell_tile)
    return USAGE_ERROR("trace: tiles without tell_tile");
  uattn_error_t *error = NULL;
  for (size_t i = 0; i < options->tile_count && !error; ++i)
    error = emu_trace_tile_check(&options->tiles[i]);
  return error;
}

uattn_error_t *emu_trace_create(const uattn_emulator_trace_t *options,
                                emu_trace_t **out_trace) {
  if (!options)
    return NULL;
  emu_trace_t *trace = uattn_allocate(sizeof *trace);
  size_t bytes = options->struct_size < sizeof trace->options
                     ? options->struct_size
                     : sizeof trace->options;
  memcpy(&trace->options, options, bytes);
  uattn_error_t *error = check_options(&trace->options);
  if (!error && trace->options.pattern)
    error = compile_pattern(trace);
  size_t count = trace->options.tile_count;
  trace->tiles = uattn_allocate((count + 1) * sizeof *trace->tiles);
  for (size_t i = 0; i < count; ++i)
    trace->tiles[i] =
        (emu_trace_tile_t){.wanted = &trace->options.tiles[i], .warpgroup = -1};
  if (error)
    emu_trace_destroy(trace);
  else
    *out_trace = trace;
  return error;
}

void emu_trace_destroy(emu_trace_t *trace) {
  if (!trace)
    return;
  if (trace->has_expression)
    regfree(&trace->expression);
  for (size_t i = 0; i < trace->options.tile_count; ++i)
    free(trace->tiles[i].values);
  free(trace->tiles);
  free(trace->programs);
  free(trace->matches);
  uattn_string_release(&trace->before);
  free(trace);
}

/* ---- Programs --------------------------------------------------------------
 */

void emu_trace_expect(emu_trace_t *trace, const emu_program_t *program) {
  for (size_t i = 0; i < trace->program_count; ++i)
    if (trace->programs[i] == program)
      return;
  const emu_program_t **programs =
      uattn_allocate((trace->program_count + 1) * sizeof *programs);
  if (trace->program_count)
    memcpy(programs, trace->programs, trace->program_count * sizeof *programs);
  programs[trace->program_count++] = program;
  free(trace->programs);
  trace->programs = programs;
}

static bool matches(const emu_trace_t *trace, const emu_insn_t *insn) {
  return insn->syntax->line > 0 &&
         regexec(&trace->expression, insn->syntax->text, 0, NULL, 0) == 0;
}

static bool has_match(const emu_trace_t *trace) {
  for (size_t i = 0; i < trace->program_count; ++i)
    for (uint32_t k = 0; k < trace->programs[i]->insn_count; ++k)
      if (matches(trace, &trace->programs[i]->insns[k]))
        return true;
  return false;
}

uattn_error_t *emu_trace_check(const emu_trace_t *trace) {
  if (trace->has_expression && !has_match(trace))
    return USAGE_ERROR("trace: the pattern '%s' matches no instruction of a "
                       "kernel that is launched",
                       trace->options.pattern);
  for (size_t i = 0; i < trace->options.tile_count; ++i) {
    const uattn_emulator_tile_t *tile = &trace->options.tiles[i];
    bool is_there = false;
    for (size_t k = 0; k < trace->program_count; ++k)
      is_there |= emu_trace_tile_fits(trace->programs[k], tile);
    if (!is_there)
      return emu_trace_tile_missing(trace->programs, trace->program_count,
                                    tile);
  }
  return NULL;
}

/* ---- Launches --------------------------------------------------------------
 */

static void note_places(emu_trace_t *trace) {
  const emu_launch_t *launch = trace->launch;
  const uint64_t *cta = trace->options.cta;
  const uint32_t *warp = trace->options.warp;
  uint32_t warps = (launch->thread_count + EMU_LANES - 1) / EMU_LANES;
  trace->has_cta |= !cta || *cta < launch->cta_count;
  trace->has_warp |= !warp || *warp < warps;
}

static void find_matches(emu_trace_t *trace) {
  const emu_program_t *program = trace->launch->program;
  trace->matches =
      uattn_allocate((program->insn_count + 1) * sizeof *trace->matches);
  for (uint32_t i = 0; i < program->insn_count; ++i)
    trace->matches[i] = matches(trace, &program->insns[i]);
}

uattn_error_t *emu_trace_begin(emu_trace_t *trace, emu_launch_t *launch) {
  launch->trace = trace;
  trace->launch = launch;
  note_places(trace);
  if (trace->has_expression)
    find_matches(trace);
  uattn_error_t *error = NULL;
  for (size_t i = 0; i < trace->options.tile_count && !error; ++i) {
    emu_trace_tile_t *tile = &trace->tiles[i];
    if (tile->is_bound || !emu_trace_tile_fits(launch->program, tile->wanted))
      continue;
    tile->is_bound = true;
    tile->insn = emu_trace_tile_insn(launch->program, tile->wanted);
    error = emu_trace_tile_check_launch(launch, tile->wanted);
  }
  return error;
}

uattn_error_t *emu_trace_end(emu_trace_t *trace, uattn_error_t *owned_error) {
  uattn_error_t *error = owned_error;
  for (size_t i = 0; i < trace->options.tile_count && !error; ++i)
    if (trace->tiles[i].is_bound && !trace->tiles[i].is_told)
      error = emu_trace_tile_end(trace->launch, &trace->tiles[i]);
  free(trace->matches);
  trace->matches = NULL;
  trace->launch = NULL;
  return error;
}

uattn_error_t *emu_trace_check_places(const emu_trace_t *trace) {
  if (!trace->has_cta)
    return USAGE_ERROR("trace: there is no cta %" PRIu64 " in any grid",
                       *trace->options.cta);
  if (!trace->has_warp)
    return USAGE_ERROR("trace: no cta has a warp %" PRIu32,
                       *trace->options.warp);
  return NULL;
}

/* ---- CTAs ------------------------------------------------------------------
 */

emu_trace_t *emu_trace_of_cta(const emu_cta_t *cta) {
  emu_trace_t *trace = cta->launch->trace;
  if (!trace)
    return NULL;
  const uint64_t *chosen = trace->options.cta;
  bool is_wanted = trace->matches && (!chosen || *chosen == cta->linear_index);
  for (size_t i = 0; i < trace->options.tile_count; ++i)
    is_wanted |= trace->tiles[i].is_bound && !trace->tiles[i].is_told &&
                 trace->tiles[i].wanted->cta == cta->linear_index;
  return is_wanted ? trace : NULL;
}

void emu_trace_append_cta(uattn_string_t *text, const emu_cta_t *cta) {
  uattn_string_appendf(text, "cta %" PRIu64 " (%u, %u, %u)", cta->linear_index,
                       cta->index[0], cta->index[1], cta->index[2]);
}
