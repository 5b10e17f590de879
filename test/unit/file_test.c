/* Tests of whole files: reading, writing, and leaving nothing behind.
 * Layer: test. Must not know: anything above the layer that it tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "support/support.h"

static char folder[] = "/tmp/uattn-file-test-XXXXXX";

/* A name in the test's own folder; valid until the next call but three. */
static const char *in_folder(const char *name) {
  static char paths[4][512];
  static unsigned next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

static int make_folder(void **state) {
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

static int entries(const char *path) {
  DIR *directory = opendir(path);
  assert_non_null(directory);
  int count = 0;
  for (struct dirent *entry; (entry = readdir(directory));)
    count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
  closedir(directory);
  return count;
}

static int remove_folder(void **state) {
  (void)state;
  DIR *directory = opendir(folder);
  for (struct dirent *entry; directory && (entry = readdir(directory));)
    remove(in_folder(entry->d_name));
  closedir(directory);
  return rmdir(folder);
}

static void assert_holds(const char *path, const char *text, size_t size) {
  char *data = NULL;
  size_t found = 0;
  assert_ok(uattn_file_read(path, &data, &found));
  assert_int_equal(found, size);
  assert_memory_equal(data, text, size);
  assert_int_equal(data[size], 0);
  free(data);
}

/* Takes `error`: an action on `path` failed for `reason`. */
static void assert_file_error(uattn_error_t *error, const char *action,
                              const char *path, const char *reason) {
  uattn_string_t message = {0};
  uattn_string_appendf(&message, "cannot %s `%s`: %s", action, path, reason);
  assert_error(error, UATTN_ERROR_IO, uattn_string_get(&message));
  uattn_string_release(&message);
}

static void what_is_written_is_read(void **state) {
  (void)state;
  const char *path = in_folder("bytes");
  assert_ok(uattn_file_write(path, "a\0b", 3));
  assert_holds(path, "a\0b", 3);
  assert_ok(uattn_file_write(path, "", 0));
  assert_holds(path, "", 0);
}

static void large_files_are_whole(void **state) {
  (void)state;
  size_t size = 300001;
  char *text = uattn_allocate(size);
  for (size_t i = 0; i < size; ++i)
    text[i] = (char)(i * 7 + i / 256);
  const char *path = in_folder("large");
  assert_ok(uattn_file_write(path, text, size));
  assert_holds(path, text, size);
  free(text);
}

static void missing_file_is_named(void **state) {
  (void)state;
  char *data = NULL;
  size_t size = 0;
  const char *path = in_folder("absent");
  assert_file_error(uattn_file_read(path, &data, &size), "open", path,
                    "no such file or directory");
  assert_null(data);
}

static void folder_is_no_file(void **state) {
  (void)state;
  char *data = NULL;
  size_t size = 0;
  assert_file_error(uattn_file_read(folder, &data, &size), "read", folder,
                    "is a directory");
  assert_file_error(uattn_file_write(folder, "x", 1), "open", folder,
                    "is a directory");
}

static void missing_folder_is_named(void **state) {
  (void)state;
  const char *path = in_folder("no/such/file");
  assert_file_error(uattn_file_write(path, "x", 1), "write", path,
                    "no such file or directory");
}

/* A limit on file sizes makes a write fail halfway, for root too. */
static void failed_write_leaves_old_file_and_nothing_else(void **state) {
  (void)state;
  const char *path = in_folder("kept");
  const char *fresh = in_folder("fresh");
  assert_ok(uattn_file_write(path, "old", 3));
  int count = entries(folder);
  struct rlimit before;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit small = {1000, before.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  char *text = uattn_allocate(5000);
  uattn_error_t *replaced = uattn_file_write(path, text, 5000);
  uattn_error_t *created = uattn_file_write(fresh, text, 5000);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  free(text);
  assert_file_error(replaced, "write", path, "file too large");
  assert_file_error(created, "write", fresh, "file too large");
  assert_int_equal(entries(folder), count);
  assert_holds(path, "old", 3);
}

static void permissions_of_a_replaced_file_stay(void **state) {
  (void)state;
  const char *path = in_folder("script");
  assert_ok(uattn_file_write(path, "old", 3));
  assert_int_equal(chmod(path, 0750), 0);
  assert_ok(uattn_file_write(path, "new", 3));
  struct stat status;
  assert_int_equal(stat(path, &status), 0);
  assert_int_equal(status.st_mode & 0777, 0750);
}

static void link_stays_a_link(void **state) {
  (void)state;
  const char *target = in_folder("target");
  const char *name = in_folder("link");
  assert_ok(uattn_file_write(target, "old", 3));
  assert_int_equal(symlink(target, name), 0);
  assert_ok(uattn_file_write(name, "new", 3));
  struct stat status;
  assert_int_equal(lstat(name, &status), 0);
  assert_true(S_ISLNK(status.st_mode));
  assert_holds(target, "new", 3);
}

static void pipe_is_written_directly(void **state) {
  (void)state;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  char path[64];
  snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
  assert_ok(uattn_file_write(path, "text", 4));
  char data[8] = {0};
  assert_int_equal(read(ends[0], data, sizeof data), 4);
  assert_string_equal(data, "text");
  close(ends[0]);
  close(ends[1]);
}

static void program_directory_holds_the_program(void **state) {
  (void)state;
  char *directory = uattn_program_directory();
  assert_non_null(directory);
  char path[4200];
  snprintf(path, sizeof path, "%s/file", directory);
  assert_int_equal(access(path, X_OK), 0);
  free(directory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_written_is_read),
      cmocka_unit_test(large_files_are_whole),
      cmocka_unit_test(missing_file_is_named),
      cmocka_unit_test(folder_is_no_file),
      cmocka_unit_test(missing_folder_is_named),
      cmocka_unit_test(failed_write_leaves_old_file_and_nothing_else),
      cmocka_unit_test(permissions_of_a_replaced_file_stay),
      cmocka_unit_test(link_stays_a_link),
      cmocka_unit_test(pipe_is_written_directly),
      cmocka_unit_test(program_directory_holds_the_program),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
