/* Whole files: read at once, written completely or not at all.
 * Layer: support. Must not know: any concept of attention, MLIR or CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uattn_error_t *system_error(const char *action, const char *path,
                                   int number) {
  const char *reason = strerror(number);
  return uattn_error_create(UATTN_ERROR_IO, "cannot %s `%s`: %c%s", action,
                            path, tolower((unsigned char)reason[0]),
                            reason + 1);
}

/* Reads to the end. The text keeps a terminator, which its size omits. */
static uattn_error_t *read_stream(int descriptor, const char *path,
                                  char **out_data, size_t *out_size) {
  size_t capacity = 65536;
  size_t size = 0;
  char *data = malloc(capacity);
  ssize_t got = data ? 1 : 0;
  while (data && got != 0) {
    if (size + 1 == capacity) {
      capacity *= 2;
      char *larger = realloc(data, capacity);
      if (!larger)
        free(data);
      data = larger;
      if (!data)
        break;
    }
    got = read(descriptor, data + size, capacity - 1 - size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0) {
      uattn_error_t *error = system_error("read", path, errno);
      free(data);
      return error;
    }
    size += (size_t)got;
  }
  if (!data)
    return system_error("read", path, ENOMEM);
  data[size] = '\0';
  *out_data = data;
  *out_size = size;
  return NULL;
}

uattn_error_t *uattn_file_read(const char *path, char **out_data,
                               size_t *out_size) {
  if (strcmp(path, "-") == 0)
    return read_stream(STDIN_FILENO, "stdin", out_data, out_size);
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return system_error("open", path, errno);
  uattn_error_t *error = read_stream(descriptor, path, out_data, out_size);
  close(descriptor);
  return error;
}

/* 0 or an errno. */
static int write_all(int descriptor, const char *data, size_t size) {
  while (size > 0) {
    ssize_t written = write(descriptor, data, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return errno;
    data += written;
    size -= (size_t)written;
  }
  return 0;
}

/* 0 or an errno; the descriptor is closed in any case. */
static int write_and_close(int descriptor, const void *data, size_t size) {
  int number = write_all(descriptor, data, size);
  if (close(descriptor) != 0 && number == 0)
    number = errno;
  return number;
}

/* A pipe or device has no rename: what was written stays written. */
static uattn_error_t *write_direct(const char *path, const void *data,
                                   size_t size) {
  int descriptor = open(path, O_WRONLY | O_CLOEXEC);
  if (descriptor < 0)
    return system_error("open", path, errno);
  int number = write_and_close(descriptor, data, size);
  return number ? system_error("write", path, number) : NULL;
}

/* A new file beside `path`; its name is to be freed. -1 and errno on failure.
 */
static int open_temporary(const char *path, mode_t mode, char **out_name) {
  const char *slash = strrchr(path, '/');
  size_t folder_size = slash ? (size_t)(slash - path) + 1 : 0;
  for (unsigned attempt = 0; attempt < 1000; ++attempt) {
    uattn_string_t name = {0};
    uattn_string_append_bytes(&name, path, folder_size);
    uattn_string_appendf(&name, ".uattn-%ld-%u.tmp", (long)getpid(), attempt);
    int descriptor = open(uattn_string_get(&name),
                          O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    *out_name = uattn_string_take(&name);
    if (descriptor >= 0 || errno != EEXIST)
      return descriptor;
    free(*out_name);
    *out_name = NULL;
  }
  errno = EEXIST;
  return -1;
}

static uattn_error_t *write_renamed(const char *path, mode_t mode,
                                    const void *data, size_t size) {
  char *name = NULL;
  int descriptor = open_temporary(path, mode, &name);
  if (descriptor < 0) {
    uattn_error_t *error = system_error("write", path, errno);
    free(name);
    return error;
  }
  int number = write_and_close(descriptor, data, size);
  if (number == 0 && rename(name, path) != 0)
    number = errno;
  if (number != 0)
    unlink(name);
  free(name);
  return number ? system_error("write", path, number) : NULL;
}

uattn_error_t *uattn_file_write(const char *path, const void *data,
                                size_t size) {
  if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {
    fflush(stdout);
    int number = write_all(STDOUT_FILENO, data, size);
    return number ? system_error("write", "stdout", number) : NULL;
  }
  struct stat status;
  if (stat(path, &status) != 0)
    return write_renamed(path, 0666, data, size);
  if (!S_ISREG(status.st_mode))
    return write_direct(path, data, size);
  if (access(path, W_OK) != 0)
    return system_error("write", path, errno);
  /* A symbolic link stays one: its target is replaced. */
  char *target = realpath(path, NULL);
  if (!target)
    return system_error("write", path, errno);
  uattn_error_t *error =
      write_renamed(target, status.st_mode & 0777, data, size);
  free(target);
  return error;
}

uattn_error_t *uattn_file_check_writable(const char *path) {
  struct stat status;
  if (strcmp(path, "-") == 0)
    return NULL;
  if (stat(path, &status) == 0) {
    if (S_ISDIR(status.st_mode))
      return system_error("write", path, EISDIR);
    return access(path, W_OK) == 0 ? NULL : system_error("write", path, errno);
  }
  const char *slash = strrchr(path, '/');
  uattn_string_t folder = {0};
  if (slash)
    uattn_string_append_bytes(&folder, path, (size_t)(slash - path) + 1);
  else
    uattn_string_append(&folder, ".");
  int number = access(uattn_string_get(&folder), W_OK | X_OK) == 0 ? 0 : errno;
  uattn_string_release(&folder);
  return number ? system_error("write", path, number) : NULL;
}

uattn_error_t *uattn_folder_create_scratch(const char *parent,
                                           char **out_path) {
  uattn_string_t name = {0};
  uattn_string_appendf(&name, "%s/uattn-XXXXXX",
                       parent && *parent ? parent : "/tmp");
  char *path = uattn_string_take(&name);
  if (mkdtemp(path)) {
    *out_path = path;
    return NULL;
  }
  uattn_error_t *error = system_error("make the folder", path, errno);
  free(path);
  return error;
}

uattn_error_t *uattn_stdout_flush(void) {
  errno = 0;
  bool is_lost = fflush(stdout) != 0 || ferror(stdout);
  return is_lost ? system_error("write", "stdout", errno ? errno : EIO) : NULL;
}

char *uattn_program_directory(void) {
  char path[PATH_MAX];
  ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
  if (size <= 0)
    return NULL;
  path[size] = '\0';
  char *slash = strrchr(path, '/');
  if (!slash)
    return NULL;
  *(slash == path ? slash + 1 : slash) = '\0';
  return uattn_string_copy(path);
}
