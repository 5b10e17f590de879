/* uattn-compile: a .mlir file to an artifact or to any level on the way.
 * Layer: tools. Must not know: how anything is compiled.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/support.h"
#include "uattn/compiler.h"

static const char usage[] =
    "uattn-compile FILE.mlir -o OUT [options]\n"
    "\n"
    "Compiles the uattn ops of a module; FILE - is stdin, OUT - is stdout.\n"
    "\n"
    "  -o OUT            where the result goes\n"
    "  --emit=WHAT       artifact (default), problem (an artifact without\n"
    "                    kernels, for the reference), planned, pipeline,\n"
    "                    thread, llvm, ptx or cubin\n"
    "  --chip=CHIP       sm_90a (default)\n"
    "  --dump-dir=D      writes every step's module, LLVM IR, PTX and plan to\n"
    "                    the folder D, which is made where it is missing\n"
    "  --ptxas=FILE      the assembler; else the first ptxas on PATH, in\n"
    "                    $CUDA_HOME/bin or in /usr/local/cuda/bin, else\n"
    "                    libnvJitLink; --ptxas=none leaves it to the driver\n"
    "  --help, --version\n"
    "\n"
    "Exit codes: 0 done, 2 the input or the command line is wrong or asks for\n"
    "what is not compiled yet, 4 the assembler failed or an internal error.\n";

static const struct {
  const char *name;
  uattn_emit_t emit;
} emit_names[] = {
    {"artifact", UATTN_EMIT_ARTIFACT}, {"problem", UATTN_EMIT_PROBLEM},
    {"planned", UATTN_EMIT_PLANNED},   {"pipeline", UATTN_EMIT_PIPELINE},
    {"thread", UATTN_EMIT_THREAD},     {"llvm", UATTN_EMIT_LLVM},
    {"ptx", UATTN_EMIT_PTX},           {"cubin", UATTN_EMIT_CUBIN},
};

/* Borrowed from the arguments. */
typedef struct {
  const char *input;
  const char *output;
  const char *emit;
  const char *chip;
  const char *dump_directory;
  const char *ptxas;
  bool asks_help;
  bool asks_version;
} command_t;

static uattn_error_t *wrong(const char *format, const char *text) {
  uattn_string_t message = {0};
  uattn_string_appendf(&message, "%s%s", format, text);
  uattn_error_t *error = uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                                            "%s; see uattn-compile --help",
                                            uattn_string_get(&message));
  uattn_string_release(&message);
  return error;
}

/* ---- Command line ---------------------------------------------------------
 */

static uattn_error_t *set_once(const char **field, const char *option,
                               const char *value) {
  if (!value || !*value)
    return wrong("option has no value: ", option);
  if (*field)
    return wrong("option is given twice: ", option);
  *field = value;
  return NULL;
}

/* "--name=value" -> value, else NULL. */
static const char *value_of(const char *argument, const char *name) {
  size_t length = strlen(name);
  return strncmp(argument, name, length) == 0 && argument[length] == '='
             ? argument + length + 1
             : NULL;
}

static uattn_error_t *take_option(command_t *command, const char *argument) {
  const struct {
    const char *name;
    const char **field;
  } options[] = {
      {"--emit", &command->emit},
      {"--chip", &command->chip},
      {"--dump-dir", &command->dump_directory},
      {"--ptxas", &command->ptxas},
  };
  for (size_t i = 0; i < sizeof options / sizeof *options; ++i) {
    const char *value = value_of(argument, options[i].name);
    if (value)
      return set_once(options[i].field, options[i].name, value);
    if (strcmp(argument, options[i].name) == 0)
      return wrong("option has no value (write --option=VALUE): ", argument);
  }
  return wrong("unknown option ", argument);
}

static uattn_error_t *parse_command(int count, char **arguments,
                                    command_t *command) {
  uattn_error_t *error = NULL;
  for (int i = 1; i < count && !error; ++i) {
    const char *argument = arguments[i];
    if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0)
      command->asks_help = true;
    else if (strcmp(argument, "--version") == 0)
      command->asks_version = true;
    else if (strcmp(argument, "-o") == 0)
      error = set_once(&command->output, "-o",
                       i + 1 < count ? arguments[++i] : NULL);
    else if (argument[0] == '-' && argument[1] != '\0')
      error = take_option(command, argument);
    else if (command->input)
      error = wrong("a second input file: ", argument);
    else
      command->input = argument;
  }
  if (error || command->asks_help || command->asks_version)
    return error;
  if (!command->input)
    return wrong("no input file is given: expected FILE.mlir, or - for stdin",
                 "");
  if (!command->output)
    return wrong("no output file is given: expected -o OUT", "");
  return NULL;
}

static uattn_error_t *parse_emit(const char *name, uattn_emit_t *out_emit) {
  if (!name)
    return NULL;
  for (size_t i = 0; i < sizeof emit_names / sizeof *emit_names; ++i)
    if (strcmp(name, emit_names[i].name) == 0) {
      *out_emit = emit_names[i].emit;
      return NULL;
    }
  return wrong("--emit is not artifact, problem, planned, pipeline, thread, "
               "llvm, ptx or cubin: ",
               name);
}

/* ---- The assembler --------------------------------------------------------
 */

/* A file, no folder, that can be read (X_OK: run). */
static bool is_file(const char *path, int access_mode) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
         access(path, access_mode) == 0;
}

/* FOLDER/NAME where that can be read (run, for a program); else NULL. */
static char *find_in(const char *folder, size_t folder_size, const char *name,
                     int access_mode) {
  uattn_string_t path = {0};
  uattn_string_append_bytes(&path, folder, folder_size);
  uattn_string_appendf(&path, "/%s", name);
  if (folder_size > 0 && is_file(uattn_string_get(&path), access_mode))
    return uattn_string_take(&path);
  uattn_string_release(&path);
  return NULL;
}

static char *find_on_path(const char *name) {
  const char *at = getenv("PATH");
  while (at && *at) {
    size_t size = strcspn(at, ":");
    char *found = find_in(at, size, name, X_OK);
    if (found)
      return found;
    at += size + (at[size] == ':');
  }
  return NULL;
}

/* The toolkit's file `name`, under $CUDA_HOME or the usual place. */
static char *find_in_toolkit(const char *folder, const char *name, int mode) {
  const char *roots[] = {getenv("CUDA_HOME"), "/usr/local/cuda"};
  char *found = NULL;
  for (size_t i = 0; i < sizeof roots / sizeof *roots && !found; ++i) {
    uattn_string_t path = {0};
    if (!roots[i])
      continue;
    uattn_string_appendf(&path, "%s/%s", roots[i], folder);
    found = find_in(uattn_string_get(&path), path.size, name, mode);
    uattn_string_release(&path);
  }
  return found;
}

static uattn_error_t *find_assembler(const command_t *command, char **out_ptxas,
                                     char **out_nvjitlink) {
  if (command->ptxas && strcmp(command->ptxas, "none") == 0)
    return NULL;
  if (command->ptxas) {
    if (!is_file(command->ptxas, X_OK))
      return uattn_error_create(
          UATTN_ERROR_INVALID_ARGUMENT,
          "--ptxas=%s is no program that can be run: expected "
          "one, or none",
          command->ptxas);
    *out_ptxas = uattn_string_copy(command->ptxas);
    return NULL;
  }
  *out_ptxas = find_on_path("ptxas");
  if (!*out_ptxas)
    *out_ptxas = find_in_toolkit("bin", "ptxas", X_OK);
  if (!*out_ptxas)
    *out_nvjitlink = find_in_toolkit("lib64", "libnvJitLink.so.13", R_OK);
  if (!*out_ptxas && !*out_nvjitlink)
    *out_nvjitlink = find_in_toolkit("lib", "libnvJitLink.so.13", R_OK);
  return NULL;
}

/* ---- Running --------------------------------------------------------------
 */

static void report(uattn_severity_t severity, const char *text,
                   void *user_data) {
  (void)severity;
  (void)user_data;
  fputs(text, stderr);
}

/* A module that its own artifact replaced would be lost. */
static uattn_error_t *refuse_same_file(const char *input, const char *output) {
  struct stat in, out;
  if (stat(input, &in) != 0 || stat(output, &out) != 0 ||
      !S_ISREG(out.st_mode) || in.st_dev != out.st_dev ||
      in.st_ino != out.st_ino)
    return NULL;
  return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                            "input and output are both `%s`: expected two "
                            "files",
                            output);
}

static uattn_error_t *make_dump_directory(const char *path) {
  struct stat status;
  if (!path || mkdir(path, 0777) == 0 ||
      (stat(path, &status) == 0 && S_ISDIR(status.st_mode)))
    return NULL;
  return uattn_error_create(
      UATTN_ERROR_IO, "--dump-dir=%s is no folder and cannot be made", path);
}

static uattn_error_t *compile(const command_t *command,
                              const uattn_compile_options_t *options) {
  char *source = NULL;
  uint8_t *bytes = NULL;
  size_t source_size = 0, size = 0;
  uattn_error_t *error = refuse_same_file(command->input, command->output);
  if (!error)
    error = uattn_file_read(command->input, &source, &source_size);
  if (!error)
    error = make_dump_directory(command->dump_directory);
  if (!error)
    error = uattn_compile(source, source_size, options, &bytes, &size);
  if (!error)
    error = uattn_file_write(command->output, bytes, size);
  free(source);
  free(bytes);
  return error;
}

static uattn_error_t *run(const command_t *command) {
  char *ptxas = NULL, *nvjitlink = NULL;
  uattn_compile_options_t options;
  uattn_compile_options_init(&options);
  options.source_name =
      strcmp(command->input, "-") == 0 ? "<stdin>" : command->input;
  options.chip = command->chip;
  options.dump_directory = command->dump_directory;
  options.report = report;
  options.scratch_directory = getenv("TMPDIR");
  uattn_error_t *error = parse_emit(command->emit, &options.emit);
  if (!error)
    error = find_assembler(command, &ptxas, &nvjitlink);
  options.ptxas_path = ptxas;
  options.nvjitlink_path = nvjitlink;
  if (!error)
    error = compile(command, &options);
  free(ptxas);
  free(nvjitlink);
  return error;
}

int main(int argument_count, char **arguments) {
  command_t command = {NULL};
  uattn_error_t *error = parse_command(argument_count, arguments, &command);
  if (!error && command.asks_help) {
    error = uattn_file_write("-", usage, sizeof usage - 1);
  } else if (!error && command.asks_version) {
    uattn_version_t version = uattn_version();
    uattn_string_t text = {0};
    uattn_string_appendf(&text, "uattn-compile, ABI %d.%d\n", version.abi_major,
                         version.abi_minor);
    error = uattn_file_write("-", uattn_string_get(&text), text.size);
    uattn_string_release(&text);
  } else if (!error) {
    error = run(&command);
  }
  int exit_code = uattn_error_exit_code(error);
  if (error)
    fprintf(stderr, "uattn-compile: error: %s\n", uattn_error_message(error));
  uattn_error_destroy(error);
  return exit_code;
}
