/* How far a long run is, told on a terminal.
 * Layer: tools. Must not know: what runs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const double silent_seconds = 1;
static const double pause_seconds = 0.2; /* between two lines */

double run_seconds_now(void) {
  struct timespec now = {0};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

run_progress_t run_progress_begin(const char *what) {
  return (run_progress_t){.what = what,
                          .begin = run_seconds_now(),
                          .is_shown = isatty(STDERR_FILENO) == 1};
}

void run_progress_tell(double done, void *user_data) {
  run_progress_t *progress = user_data;
  double now = run_seconds_now();
  double passed = now - progress->begin;
  if (!progress->is_shown || passed < silent_seconds ||
      now - progress->told_at < pause_seconds)
    return;
  progress->told_at = now;
  progress->has_line = true;
  fprintf(stderr, "\ruattn-run: %s %.0f %%, %.0f s left \033[K", progress->what,
          done * 100, done > 0 ? passed / done * (1 - done) : 0.0);
  fflush(stderr);
}

void run_progress_end(run_progress_t *progress) {
  if (progress->has_line)
    fprintf(stderr, "\r\033[K");
  progress->has_line = false;
}
