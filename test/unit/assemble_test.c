/* Tests of the assemblers: scripts that stand for ptxas, then ptxas and
 * nvJitLink themselves where the command line names them.
 * Layer: test. Must not know: what a kernel does.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include <sys/stat.h>

#include "target/target.h"

static const char good_ptx[] = ".version 8.3\n"
                               ".target sm_90a\n"
                               ".address_size 64\n"
                               ".visible .entry k(.param .u64 p)\n"
                               "{\n"
                               "  .reg .b64 %rd<3>;\n"
                               "  ld.param.u64 %rd1, [p];\n"
                               "  cvta.to.global.u64 %rd2, %rd1;\n"
                               "  st.global.u64 [%rd2], %rd1;\n"
                               "  ret;\n"
                               "}\n";
static const char bad_ptx[] = ".version 8.3\n"
                              ".target sm_90a\n"
                              ".address_size 64\n"
                              ".visible .entry k() { frobnicate.b32 %r1; }\n";

static const char *folder; /* for the scripts */
static const char *ptxas_path;
static const char *nvjitlink_path;

/* ---- Scripts --------------------------------------------------------------
 */

static char *write_script(const char *name, const char *body) {
  uattn_string_t path = {0}, text = {0};
  uattn_string_appendf(&path, "%s/%s", folder, name);
  uattn_string_appendf(&text, "#!/bin/sh\n%s\n", body);
  assert_ok(uattn_file_write(uattn_string_get(&path), uattn_string_get(&text),
                             text.size));
  assert_int_equal(chmod(uattn_string_get(&path), 0755), 0);
  uattn_string_release(&text);
  return uattn_string_take(&path);
}

static uattn_error_t *assemble(const char *ptxas, const char *nvjitlink,
                               const char *ptx, uattn_assembly_t *out) {
  const uattn_assembler_t assembler = {.ptxas_path = ptxas,
                                       .nvjitlink_path = nvjitlink};
  return uattn_target_assemble(&assembler, ptx, "sm_90a", out);
}

/* Takes `error`: a toolchain's, whose message has `part`; `out` is as it was.
 */
static void assert_toolchain_error(uattn_error_t *error, const char *part,
                                   const uattn_assembly_t *out) {
  assert_non_null(error);
  assert_int_equal(uattn_error_code(error), UATTN_ERROR_TOOLCHAIN);
  if (!strstr(uattn_error_message(error), part))
    fail_msg("'%s' is not in '%s'", part, uattn_error_message(error));
  uattn_error_destroy(error);
  assert_null(out->cubin);
  assert_null(out->messages);
}

/* The script is called as ptxas is, its files vanish with the call. */
static void ptxas_is_called_on_files_that_vanish(void **state) {
  (void)state;
  uattn_assembly_t out = {NULL, 0, NULL, {0}};
  uattn_string_t path = {0};
  char *record = NULL;
  size_t size = 0;
  char *script = write_script(
      "record", "dir=$(dirname \"$0\"); echo \"$@\" > \"$dir/arguments\"\n"
                "cp \"$3\" \"$dir/ptx\"; printf '\\177ELFCUBIN' > \"$5\"\n"
                "echo 'ptxas info    : Used 40 registers, used 1 barriers'");
  assert_ok(assemble(script, NULL, good_ptx, &out));
  assert_int_equal(out.cubin_bytes, 9);
  assert_memory_equal(out.cubin, "\177ELFCUBIN", 9);
  assert_int_equal(out.report.registers, 40);
  assert_string_equal(out.messages,
                      "ptxas info    : Used 40 registers, used 1 barriers\n");

  uattn_string_appendf(&path, "%s/arguments", folder);
  assert_ok(uattn_file_read(uattn_string_get(&path), &record, &size));
  char ptx[64], cubin[64], extra;
  assert_int_equal(
      sscanf(record, "-v -arch=sm_90a %63s -o %63s %c", ptx, cubin, &extra), 2);
  assert_int_not_equal(access(ptx, F_OK), 0);
  assert_int_not_equal(access(cubin, F_OK), 0);
  *strrchr(ptx, '/') = '\0';
  assert_int_not_equal(access(ptx, F_OK), 0);
  free(record);

  uattn_string_release(&path);
  uattn_string_appendf(&path, "%s/ptx", folder);
  assert_ok(uattn_file_read(uattn_string_get(&path), &record, &size));
  assert_string_equal(record, good_ptx);
  free(record);
  uattn_string_release(&path);
  free(script);
  free(out.cubin);
  free(out.messages);
}

static void failing_ptxas_tells_why(void **state) {
  (void)state;
  uattn_assembly_t out = {NULL, 0, NULL, {0}};
  char *script =
      write_script("fail", "echo 'ptxas fatal : out of luck' >&2\nexit 255");
  assert_toolchain_error(assemble(script, NULL, good_ptx, &out),
                         "/fail ended with exit code 255: ptxas fatal : out of "
                         "luck",
                         &out);
  free(script);
}

static void killed_ptxas_is_an_error(void **state) {
  (void)state;
  uattn_assembly_t out = {NULL, 0, NULL, {0}};
  char *script = write_script("die", "kill -9 $$");
  assert_toolchain_error(assemble(script, NULL, good_ptx, &out),
                         "/die ended with exit code 137: no message", &out);
  free(script);
}

/* It was once the user's mistake: a file that cannot be read. */
static void
ptxas_that_leaves_no_cubin_is_an_error_of_the_toolchain(void **state) {
  (void)state;
  uattn_assembly_t out = {NULL, 0, NULL, {0}};
  char *script = write_script("idle", "exit 0");
  assert_toolchain_error(assemble(script, NULL, good_ptx, &out),
                         "/idle ended well but left no cubin: cannot open",
                         &out);
  free(script);
}

static void
ptxas_that_leaves_no_elf_file_is_an_error_of_the_toolchain(void **state) {
  (void)state;
  uattn_assembly_t out = {NULL, 0, NULL, {0}};
  char *script = write_script("text", "echo no cubin > \"$5\"");
  assert_toolchain_error(assemble(script, NULL, good_ptx, &out),
                         "/text ended well but left 9 bytes that are no "
                         "cubin: expected an ELF file",
                         &out);
  free(script);
  script = write_script("empty", ": > \"$5\"");
  assert_toolchain_error(assemble(script, NULL, good_ptx, &out),
                         "/empty ended well but left 0 bytes", &out);
  free(script);
}

static void missing_ptxas_is_an_error(void **state) {
  (void)state;
  uattn_assembly_t out = {NULL, 0, NULL, {0}};
  assert_toolchain_error(
      assemble("/nonexistent/ptxas", NULL, good_ptx, &out),
      "cannot run /nonexistent/ptxas: No such file or directory", &out);
}

static void ptxas_comes_before_nvjitlink(void **state) {
  (void)state;
  uattn_assembly_t out = {NULL, 0, NULL, {0}};
  char *script = write_script("first", "printf '\\177ELFX' > \"$5\"");
  assert_ok(assemble(script, "/nonexistent/libnvJitLink.so", good_ptx, &out));
  assert_int_equal(out.cubin_bytes, 5);
  free(script);
  free(out.cubin);
  free(out.messages);
}

static void library_that_is_none_is_an_error(void **state) {
  (void)state;
  uattn_assembly_t out = {NULL, 0, NULL, {0}};
  assert_toolchain_error(
      assemble(NULL, "/nonexistent/libnvJitLink.so.13", good_ptx, &out),
      "cannot open /nonexistent/libnvJitLink.so.13: ", &out);
  assert_toolchain_error(assemble(NULL, "libc.so.6", good_ptx, &out),
                         "libc.so.6 has no nvJitLinkCreate", &out);
}

/* ---- The assemblers themselves --------------------------------------------
 */

static void assert_assembles(const char *ptxas, const char *nvjitlink) {
  uattn_assembly_t out = {NULL, 0, NULL, {0}};
  assert_ok(assemble(ptxas, nvjitlink, good_ptx, &out));
  assert_true(out.cubin_bytes > 4);
  assert_memory_equal(out.cubin, "\177ELF", 4);
  assert_true(out.report.registers > 0);
  assert_int_equal(out.report.spill_store_bytes, 0);
  assert_false(out.report.is_wgmma_serialized);
  free(out.cubin);
  free(out.messages);
}

static void assert_refuses(const char *ptxas, const char *nvjitlink) {
  uattn_assembly_t out = {NULL, 0, NULL, {0}};
  assert_toolchain_error(assemble(ptxas, nvjitlink, bad_ptx, &out),
                         "frobnicate", &out);
}

static void ptxas_makes_a_cubin(void **state) {
  (void)state;
  if (!ptxas_path)
    skip();
  assert_assembles(ptxas_path, NULL);
  assert_refuses(ptxas_path, NULL);
}

static void nvjitlink_makes_a_cubin(void **state) {
  (void)state;
  if (!nvjitlink_path)
    skip();
  assert_assembles(NULL, nvjitlink_path);
  assert_refuses(NULL, nvjitlink_path);
}

int main(int argument_count, char **arguments) {
  if (argument_count < 2) {
    fprintf(stderr,
            "usage: assemble FOLDER [--ptxas=FILE] [--nvjitlink=FILE]\n");
    return 2;
  }
  folder = arguments[1];
  for (int i = 2; i < argument_count; ++i) {
    if (strncmp(arguments[i], "--ptxas=", 8) == 0)
      ptxas_path = arguments[i] + 8;
    if (strncmp(arguments[i], "--nvjitlink=", 12) == 0)
      nvjitlink_path = arguments[i] + 12;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ptxas_is_called_on_files_that_vanish),
      cmocka_unit_test(failing_ptxas_tells_why),
      cmocka_unit_test(killed_ptxas_is_an_error),
      cmocka_unit_test(ptxas_that_leaves_no_cubin_is_an_error_of_the_toolchain),
      cmocka_unit_test(
          ptxas_that_leaves_no_elf_file_is_an_error_of_the_toolchain),
      cmocka_unit_test(missing_ptxas_is_an_error),
      cmocka_unit_test(ptxas_comes_before_nvjitlink),
      cmocka_unit_test(library_that_is_none_is_an_error),
      cmocka_unit_test(ptxas_makes_a_cubin),
      cmocka_unit_test(nvjitlink_makes_a_cubin),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
