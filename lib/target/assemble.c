/* PTX to cubin: ptxas, or else nvJitLink.
 * Layer: target. Must not know: plans, what a kernel does.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/nvjitlink.h"
#include "target/target.h"

/* The files of one run of ptxas, in a folder of their own. */
typedef struct {
  char *folder;
  char *ptx;
  char *cubin;
} scratch_t;

static char *join(const char *folder, const char *name) {
  uattn_string_t path = {0};
  uattn_string_appendf(&path, "%s/%s", folder, name);
  return uattn_string_take(&path);
}

static uattn_error_t *scratch_create(const char *parent, scratch_t *scratch) {
  uattn_error_t *error = uattn_folder_create_scratch(parent, &scratch->folder);
  if (error)
    return error;
  scratch->ptx = join(scratch->folder, "k.ptx");
  scratch->cubin = join(scratch->folder, "k.cubin");
  return NULL;
}

static void scratch_remove(scratch_t *scratch) {
  unlink(scratch->ptx);
  unlink(scratch->cubin);
  rmdir(scratch->folder);
  free(scratch->ptx);
  free(scratch->cubin);
  free(scratch->folder);
}

static uattn_error_t *exit_error(const char *ptxas, int exit_code,
                                 const uattn_string_t *messages) {
  const char *text = uattn_string_get(messages);
  size_t size = strlen(text);
  while (size > 0 && text[size - 1] == '\n')
    --size;
  if (size == 0)
    text = "no message";
  return uattn_error_create(UATTN_ERROR_TOOLCHAIN,
                            "%s ended with exit code %d: %.*s", ptxas,
                            exit_code, (int)(size ? size : strlen(text)), text);
}

/* A driver loads the file much later, perhaps on another machine: whatever is
 * no ELF file must be refused here. */
static uattn_error_t *read_cubin(const char *ptxas, const char *path,
                                 char **out_cubin, size_t *out_size) {
  static const char elf[] = {'\177', 'E', 'L', 'F'};
  uattn_error_t *cause = uattn_file_read(path, out_cubin, out_size);
  if (cause) {
    uattn_error_t *error = uattn_error_create(
        UATTN_ERROR_TOOLCHAIN, "%s ended well but left no cubin: %s", ptxas,
        uattn_error_message(cause));
    uattn_error_destroy(cause);
    return error;
  }
  if (*out_size > sizeof elf && memcmp(*out_cubin, elf, sizeof elf) == 0)
    return NULL;
  free(*out_cubin);
  *out_cubin = NULL;
  return uattn_error_create(UATTN_ERROR_TOOLCHAIN,
                            "%s ended well but left %zu bytes that are no "
                            "cubin: expected an ELF file",
                            ptxas, *out_size);
}

static uattn_error_t *run_ptxas(const char *ptxas, const scratch_t *scratch,
                                const char *chip, uattn_assembly_t *out) {
  uattn_string_t arch = {0}, messages = {0};
  uattn_string_appendf(&arch, "-arch=%s", chip);
  const char *arguments[] = {ptxas,        "-v", uattn_string_get(&arch),
                             scratch->ptx, "-o", scratch->cubin,
                             NULL};
  int exit_code = 0;
  char *cubin = NULL;
  uattn_error_t *error = uattn_process_run(arguments, &messages, &exit_code);
  if (!error && exit_code != 0)
    error = exit_error(ptxas, exit_code, &messages);
  size_t cubin_bytes = 0;
  if (!error)
    error = read_cubin(ptxas, scratch->cubin, &cubin, &cubin_bytes);
  if (!error) {
    out->cubin = (uint8_t *)cubin;
    out->cubin_bytes = cubin_bytes;
    out->report = uattn_assembly_report_parse(uattn_string_get(&messages));
    out->messages = uattn_string_copy(uattn_string_get(&messages));
  }
  uattn_string_release(&arch);
  uattn_string_release(&messages);
  return error;
}

static uattn_error_t *assemble_with_ptxas(const uattn_assembler_t *assembler,
                                          const char *ptx, const char *chip,
                                          uattn_assembly_t *out) {
  scratch_t scratch = {0};
  uattn_error_t *error = scratch_create(assembler->scratch_directory, &scratch);
  if (error)
    return error;
  error = uattn_file_write(scratch.ptx, ptx, strlen(ptx));
  if (!error)
    error = run_ptxas(assembler->ptxas_path, &scratch, chip, out);
  scratch_remove(&scratch);
  return error;
}

uattn_error_t *uattn_target_assemble(const uattn_assembler_t *assembler,
                                     const char *ptx, const char *chip,
                                     uattn_assembly_t *out_assembly) {
  UATTN_CHECK(assembler->ptxas_path || assembler->nvjitlink_path);
  uattn_assembly_t assembly = {0};
  uattn_error_t *error =
      assembler->ptxas_path
          ? assemble_with_ptxas(assembler, ptx, chip, &assembly)
          : uattn_nvjitlink_assemble(assembler->nvjitlink_path, ptx, chip,
                                     &assembly);
  if (!error)
    *out_assembly = assembly;
  return error;
}
