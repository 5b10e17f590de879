/* Parses PTX files and prints what they say, in full or as a line each.
 * Layer: test. Must not know: how instructions are executed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ptx_dump.h"

#include <stdlib.h>
#include <string.h>

static void print_summary(const ptx_module_t *module) {
  for (uint32_t i = 0; i < module->entry_count; ++i) {
    const ptx_entry_t *entry = &module->entries[i];
    printf("%s: %u parameters of %zu bytes, %u registers, %u instructions\n",
           entry->name, entry->param_count, entry->param_bytes,
           entry->register_count, entry->instruction_count);
  }
}

static uattn_error_t *dump_file(const char *path, bool is_summary) {
  char *data = NULL;
  size_t size = 0;
  ptx_module_t *module = NULL;
  const char *slash = strrchr(path, '/');
  uattn_error_t *error = uattn_file_read(path, &data, &size);
  if (!error)
    error = ptx_module_parse(slash ? slash + 1 : path, data, size, &module);
  free(data); /* the module holds nothing of the text */
  if (error)
    return error;
  uattn_string_t text = {0};
  ptx_dump_module(module, &text);
  if (is_summary)
    print_summary(module);
  else
    fputs(uattn_string_get(&text), stdout);
  uattn_string_release(&text);
  ptx_module_destroy(module);
  return NULL;
}

/* ptx_dump [--summary] FILE... */
int main(int argc, char **argv) {
  bool is_summary = argc > 1 && strcmp(argv[1], "--summary") == 0;
  int exit_code = argc > (is_summary ? 2 : 1) ? 0 : 2;
  for (int i = is_summary ? 2 : 1; i < argc; ++i) {
    uattn_error_t *error = dump_file(argv[i], is_summary);
    if (!error)
      continue;
    fprintf(stderr, "%s\n", uattn_error_message(error));
    exit_code = uattn_error_exit_code(error);
    uattn_error_destroy(error);
  }
  return exit_code;
}
