/* The command line of uattn-run as plain data.
 * Layer: tools. Must not know: artifacts, devices, how the work is done.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define USAGE_ERROR(...)                                                       \
  uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

/* `value` is NULL for a switch. */
typedef uattn_error_t *(*read_value_t)(run_command_t *command,
                                       const char *value);

static uattn_error_t *read_function(run_command_t *command, const char *value) {
  command->function = value;
  return NULL;
}

static uattn_error_t *read_device(run_command_t *command, const char *value) {
  static const char *const names[] = {[RUN_DEVICE_AUTO] = "auto",
                                      [RUN_DEVICE_CUDA] = "cuda",
                                      [RUN_DEVICE_EMULATOR] = "emulator",
                                      [RUN_DEVICE_REFERENCE] = "reference"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (strcmp(value, names[i]) == 0) {
      command->device = (run_device_t)i;
      return NULL;
    }
  return USAGE_ERROR(
      "--device is '%s': expected auto, cuda, emulator or reference", value);
}

static uattn_error_t *read_input(run_command_t *command, const char *value) {
  command->inputs[command->input_count++] = value;
  return NULL;
}

static uattn_error_t *read_output(run_command_t *command, const char *value) {
  for (size_t i = 0; i < command->output_count; ++i)
    if (strcmp(command->outputs[i], value) == 0)
      return USAGE_ERROR("--output=%s is given twice: expected a file for "
                         "each result",
                         value);
  command->outputs[command->output_count++] = value;
  return NULL;
}

static bool parse_shape(const char *text, run_shape_option_t *shape) {
  char *copy = uattn_string_copy(text);
  char *rest = copy;
  bool is_right = true;
  for (char *size = strsep(&rest, "x"); size && is_right;
       size = strsep(&rest, "x"))
    is_right = shape->rank < 4 &&
               uattn_parse_int64(size, &shape->shape[shape->rank++]) &&
               shape->shape[shape->rank - 1] > 0;
  free(copy);
  return is_right;
}

static uattn_error_t *read_shape(run_command_t *command, const char *value) {
  const char *colon = strchr(value, ':');
  run_shape_option_t shape = {0};
  if (!colon || colon == value || !parse_shape(colon + 1, &shape))
    return USAGE_ERROR("--shape is '%s': expected ARGUMENT:SIZExSIZE..., such "
                       "as q:2x1024x16x128",
                       value);
  shape.argument = uattn_string_copy(value);
  shape.argument[colon - value] = '\0';
  command->shapes[command->shape_count++] = shape;
  return NULL;
}

static uattn_error_t *read_number(const char *option, const char *value,
                                  int64_t least, int64_t *out_number) {
  int64_t number = 0;
  if (!uattn_parse_int64(value, &number) || number < least)
    return USAGE_ERROR("--%s is '%s': expected a whole number from %" PRId64,
                       option, value, least);
  *out_number = number;
  return NULL;
}

static uattn_error_t *read_seed(run_command_t *command, const char *value) {
  int64_t seed = 0;
  uattn_error_t *error = read_number("seed", value, 0, &seed);
  command->seed = (uint64_t)seed;
  return error;
}

static uattn_error_t *read_schedule_seed(run_command_t *command,
                                         const char *value) {
  int64_t seed = 0;
  uattn_error_t *error = read_number("schedule-seed", value, 0, &seed);
  command->schedule_seed = (uint64_t)seed;
  return error;
}

static uattn_error_t *read_schedules(run_command_t *command,
                                     const char *value) {
  return read_number("schedules", value, 1, &command->schedule_count);
}

static uattn_error_t *read_launches(run_command_t *command, const char *value) {
  return read_number("launches", value, 1, &command->launch_count);
}

static uattn_error_t *read_launch(run_command_t *command, const char *value) {
  command->launch = value;
  return NULL;
}

static uattn_error_t *read_trace(run_command_t *command, const char *value) {
  return run_trace_read_pattern(&command->trace, value);
}

static uattn_error_t *read_trace_cta(run_command_t *command,
                                     const char *value) {
  int64_t cta = 0;
  uattn_error_t *error = read_number("trace-cta", value, 0, &cta);
  command->trace.cta = (uint64_t)cta;
  command->trace.has_cta = true;
  return error;
}

static uattn_error_t *read_trace_warp(run_command_t *command,
                                      const char *value) {
  int64_t warp = 0;
  uattn_error_t *error = read_number("trace-warp", value, 0, &warp);
  if (!error && warp > UINT32_MAX)
    error = USAGE_ERROR("--trace-warp is '%s': expected the number of a warp",
                        value);
  command->trace.warp = (uint32_t)warp;
  command->trace.has_warp = true;
  return error;
}

static uattn_error_t *read_dump_tile(run_command_t *command,
                                     const char *value) {
  return run_trace_read_tile(&command->trace, value);
}

static uattn_error_t *read_timeline(run_command_t *command, const char *value) {
  command->timeline = value;
  return NULL;
}

static uattn_error_t *read_timeline_cta(run_command_t *command,
                                        const char *value) {
  return read_number("timeline-cta", value, 0, &command->timeline_cta);
}

static uattn_error_t *read_timeline_range(run_command_t *command,
                                          const char *value) {
  char *begin = uattn_string_copy(value);
  char *end = strchr(begin, ':');
  if (end)
    *end++ = '\0';
  bool is_right = end && uattn_parse_int64(begin, &command->timeline_begin) &&
                  uattn_parse_int64(end, &command->timeline_end) &&
                  command->timeline_begin >= 0 &&
                  command->timeline_end > command->timeline_begin;
  free(begin);
  return is_right ? NULL
                  : USAGE_ERROR("--timeline-range is '%s': expected "
                                "BEGIN:END in cycles, such as 4000:9000",
                                value);
}

static uattn_error_t *read_check(run_command_t *command, const char *value) {
  (void)value;
  command->is_checked = true;
  return NULL;
}

static uattn_error_t *read_bench(run_command_t *command, const char *value) {
  (void)value;
  command->is_timed = true;
  return NULL;
}

static uattn_error_t *read_help(run_command_t *command, const char *value) {
  (void)value;
  command->asks_help = true;
  return NULL;
}

static uattn_error_t *read_version(run_command_t *command, const char *value) {
  (void)value;
  command->asks_version = true;
  return NULL;
}

static const struct {
  const char *name;
  const char *value_name; /* NULL: a switch */
  bool is_repeated;
  read_value_t read;
  const char *summary;
} options[] = {
    {"function", "NAME", false, read_function,
     "run this function; needed where the file has several"},
    {"device", "NAME", false, read_device,
     "auto (default), cuda, emulator or reference; auto is cuda\n"
     "where a driver and an sm_90 GPU are, else the emulator"},
    {"input", "F.npy", true, read_input,
     "read the next argument; missing ones are drawn"},
    {"output", "F.npy", true, read_output, "write the next result"},
    {"shape", "ARG:2x16x4x64", true, read_shape,
     "sizes of an argument with dynamic dimensions, by its name\n"
     "or position (q, arg0, 0)"},
    {"seed", "N", false, read_seed, "of the drawn inputs (0)"},
    {"check", NULL, false, read_check,
     "compare every result with the float64 reference"},
    {"bench", NULL, false, read_bench, "print the time as a line of JSON"},
    {"schedules", "N", false, read_schedules,
     "emulator: run N times, in other orders of warps and of\n"
     "asynchronous work; results must agree bit for bit, but\n"
     "dq where its kernels add it up in any order"},
    {"launches", "N", false, read_launches,
     "cuda: launch N times; results must agree likewise"},
    {"schedule-seed", "N", false, read_schedule_seed,
     "emulator: of the first order (0)"},
    {"trace", "REGEX", false, read_trace,
     "emulator: print each executed instruction whose text\n"
     "matches, with its registers, to stderr"},
    {"trace-cta", "N", false, read_trace_cta,
     "trace this CTA alone, by its linear number"},
    {"trace-warp", "N", false, read_trace_warp,
     "trace this warp of each CTA alone"},
    {"dump-tile", "SPEC", true, read_dump_tile,
     "emulator: print a matrix to stdout: LINE:a, LINE:b or\n"
     "LINE:d of the wgmma at a line of the PTX, LINE:box of a\n"
     "tensor copy, shared:OFFSET:ROWSxCOLUMNS:TYPE[:SWIZZLE]\n"
     "at a CTA's end; behind it /WARPGROUP, @CTA, #N, before\n"
     "it ENTRY: say which"},
    {"launch", "F", false, read_launch,
     "how to launch the kernel of a .ptx: a launch description,\n"
     "see lib/emulator/README.md"},
    {"timeline", "F.svg", false, read_timeline,
     "emulator: draw who does what when, in emulated cycles:\n"
     "warpgroups, copies, wgmma; of one CTA of each kernel"},
    {"timeline-cta", "N", false, read_timeline_cta,
     "of this CTA, counted from 0 (0)"},
    {"timeline-range", "B:E", false, read_timeline_range,
     "of cycles B to E (the first 16000)"},
    {"help", NULL, true, read_help, "print this text"},
    {"version", NULL, true, read_version, "print the version"},
};
enum { OPTION_COUNT = sizeof options / sizeof *options };

static int find_option(const char *name, size_t size) {
  for (int i = 0; i < OPTION_COUNT; ++i)
    if (strlen(options[i].name) == size &&
        memcmp(options[i].name, name, size) == 0)
      return i;
  return -1;
}

/* `*index` stands at the option and is moved to its value where that is an
 * argument of its own. */
static uattn_error_t *read_option(char **arguments, int *index, bool *was_given,
                                  run_command_t *command) {
  const char *name = arguments[*index];
  name += name[0] == '-' && name[1] == '-' ? 2 : 1;
  size_t size = strcspn(name, "=");
  int option = find_option(name, size);
  if (option < 0)
    return USAGE_ERROR("unknown option %s: expected one of those that --help "
                       "lists",
                       arguments[*index]);
  if (was_given[option] && !options[option].is_repeated)
    return USAGE_ERROR("--%s is given twice: expected it once",
                       options[option].name);
  was_given[option] = true;
  const char *value = name[size] ? name + size + 1 : NULL;
  if (!options[option].value_name && value)
    return USAGE_ERROR("--%s has the value '%s': expected none",
                       options[option].name, value);
  if (options[option].value_name && !value && arguments[*index + 1])
    value = arguments[++*index];
  if (options[option].value_name && (!value || !*value))
    return USAGE_ERROR("--%s has no value: expected %s", options[option].name,
                       options[option].value_name);
  return options[option].read(command, value);
}

static uattn_error_t *read_file(const char *argument, run_command_t *command) {
  if (command->file)
    return USAGE_ERROR("two files are given, '%s' and '%s': expected one",
                       command->file, argument);
  command->file = argument;
  return NULL;
}

static bool has_suffix(const char *text, const char *suffix) {
  size_t size = strlen(text);
  size_t suffix_size = strlen(suffix);
  return size > suffix_size && strcmp(text + size - suffix_size, suffix) == 0;
}

static uattn_error_t *check_trace(const run_command_t *command) {
  const run_trace_t *trace = &command->trace;
  if ((trace->has_cta || trace->has_warp) && !trace->pattern)
    return USAGE_ERROR("--trace-cta and --trace-warp go with --trace: expected "
                       "--trace=REGEX");
  if (run_trace_is_asked(trace) && command->device != RUN_DEVICE_AUTO &&
      command->device != RUN_DEVICE_EMULATOR)
    return USAGE_ERROR("--trace and --dump-tile go with the emulator: expected "
                       "--device=emulator");
  return NULL;
}

/* Functions are what the other options speak of. */
static uattn_error_t *check_ptx(const run_command_t *command) {
  if (!command->launch)
    return USAGE_ERROR("no --launch is given for '%s': expected a launch "
                       "description",
                       command->file);
  if (command->device != RUN_DEVICE_AUTO &&
      command->device != RUN_DEVICE_EMULATOR)
    return USAGE_ERROR("a .ptx runs on the emulator: expected no --device or "
                       "--device=emulator");
  if (command->function || command->shape_count > 0 || command->is_checked ||
      command->launch_count > 1)
    return USAGE_ERROR("--function, --shape, --check and --launches go with a "
                       ".mlir or a .uattn, the file is '%s'",
                       command->file);
  return NULL;
}

static uattn_error_t *check_timeline(const run_command_t *command) {
  bool has_part = command->timeline_cta > 0 || command->timeline_end > 0;
  if (!command->timeline)
    return has_part ? USAGE_ERROR("--timeline-cta and --timeline-range go with "
                                  "--timeline, which is not given")
                    : NULL;
  if (command->device == RUN_DEVICE_CUDA ||
      command->device == RUN_DEVICE_REFERENCE)
    return USAGE_ERROR("--timeline goes with the emulator: expected "
                       "--device=emulator");
  for (size_t i = 0; i < command->output_count; ++i)
    if (strcmp(command->outputs[i], command->timeline) == 0)
      return USAGE_ERROR("--timeline and --output are both '%s': expected two "
                         "files",
                         command->timeline);
  return NULL;
}

static uattn_error_t *check_launches(const run_command_t *command) {
  bool is_emulated = command->schedule_count > 1 ||
                     command->schedule_seed > 0 || command->timeline ||
                     run_trace_is_asked(&command->trace);
  bool is_on_cuda = command->device == RUN_DEVICE_CUDA ||
                    (command->device == RUN_DEVICE_AUTO && !is_emulated);
  if (command->launch_count > 1 && !is_on_cuda)
    return USAGE_ERROR("--launches goes with a GPU: expected --device=cuda");
  return NULL;
}

static uattn_error_t *check_together(const run_command_t *command) {
  if (command->asks_help || command->asks_version)
    return NULL;
  if (!command->file)
    return USAGE_ERROR("no file is given: expected a .mlir, .uattn or .ptx");
  bool is_ptx = has_suffix(command->file, ".ptx");
  if (!has_suffix(command->file, ".mlir") &&
      !has_suffix(command->file, ".uattn") && !is_ptx)
    return USAGE_ERROR("the file is '%s': expected a .mlir, .uattn or .ptx",
                       command->file);
  uattn_error_t *error = check_timeline(command);
  if (!error)
    error = check_launches(command);
  if (error)
    return error;
  if (is_ptx)
    return check_ptx(command);
  if (command->launch)
    return USAGE_ERROR("--launch goes with a .ptx, the file is '%s'",
                       command->file);
  bool is_emulated = command->device == RUN_DEVICE_EMULATOR ||
                     command->device == RUN_DEVICE_AUTO;
  if ((command->schedule_count > 1 || command->schedule_seed > 0) &&
      !is_emulated)
    return USAGE_ERROR("--schedules and --schedule-seed go with the emulator: "
                       "expected --device=emulator");
  return NULL;
}

uattn_error_t *run_command_parse(int argument_count, char **arguments,
                                 run_command_t *out_command) {
  size_t most = (size_t)argument_count;
  bool was_given[OPTION_COUNT] = {false};
  *out_command = (run_command_t){
      .inputs = uattn_allocate(most * sizeof *out_command->inputs),
      .outputs = uattn_allocate(most * sizeof *out_command->outputs),
      .shapes = uattn_allocate(most * sizeof *out_command->shapes),
      .schedule_count = 1,
      .launch_count = 1,
  };
  run_trace_prepare(&out_command->trace, most);
  uattn_error_t *error = NULL;
  for (int index = 1; index < argument_count && !error; ++index) {
    const char *argument = arguments[index];
    error = argument[0] == '-' && argument[1]
                ? read_option(arguments, &index, was_given, out_command)
                : read_file(argument, out_command);
  }
  if (!error)
    error = check_together(out_command);
  if (!error)
    error = check_trace(out_command);
  /* Not what there happens to be: both are the emulator's alone. */
  bool is_emulated =
      out_command->timeline != NULL || run_trace_is_asked(&out_command->trace);
  if (is_emulated && out_command->device == RUN_DEVICE_AUTO)
    out_command->device = RUN_DEVICE_EMULATOR;
  if (out_command->launch_count > 1 && out_command->device == RUN_DEVICE_AUTO)
    out_command->device = RUN_DEVICE_CUDA;
  return error;
}

void run_command_release(run_command_t *command) {
  for (size_t i = 0; i < command->shape_count; ++i)
    free(command->shapes[i].argument);
  free(command->inputs);
  free(command->outputs);
  free(command->shapes);
  run_trace_release(&command->trace);
}

/* A line of the summary each; the first beside the option. */
static void append_option(uattn_string_t *text, int option) {
  char head[40];
  snprintf(head, sizeof head, "--%s%s%s", options[option].name,
           options[option].value_name ? "=" : "",
           options[option].value_name ? options[option].value_name : "");
  const char *line = options[option].summary;
  for (const char *left = head; line; left = "") {
    size_t size = strcspn(line, "\n");
    uattn_string_appendf(text, "  %-22s %.*s\n", left, (int)size, line);
    line = line[size] ? line + size + 1 : NULL;
  }
}

void run_command_append_help(uattn_string_t *text) {
  uattn_string_append(
      text,
      "Runs a function of uattn ops from a .mlir or .uattn file, or a kernel "
      "from a\n.ptx file.\n\n"
      "usage: uattn-run FILE [options]\n\n");
  for (int i = 0; i < OPTION_COUNT; ++i)
    if (options[i].summary)
      append_option(text, i);
  uattn_string_append(
      text,
      "\nInputs are float32 or float16 (rounded to the argument's type) or "
      "int32 arrays;\noutputs are float32 or int32 arrays. A .mlir is compiled "
      "by the uattn-compile\nbeside this program.\n\n"
      "looking into a kernel, on the emulator (lib/emulator/README.md):\n"
      "  uattn-run k.ptx --launch=k.launch --trace='setp|wgmma' --trace-cta=2\n"
      "  uattn-run k.mlir --dump-tile='194:d/1@2#0' > d.txt\n"
      "    D of the wgmma at line 194: of warpgroup 1, CTA 2, its first "
      "execution\n\n"
      "environment:\n"
      "  UATTN_CUDA_DRIVER      the CUDA driver's library (libcuda.so.1)\n\n"
      "exit code: 0 right, 1 a result is over its bound, schedules or launches "
      "differ\n"
      "or the emulator found a fault, 2 wrong use or file, 3 device or driver\n"
      "failure, 4 internal or toolchain failure\n");
}
