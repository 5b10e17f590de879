/* How far a long run is, told on a terminal.
 * Layer: tools. Must not know: what runs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_PROGRESS_H
#define UATTN_RUN_PROGRESS_H

#include <stdbool.h>

double run_seconds_now(void); /* of a clock that is never set */

/* Silent for the first second, and where stderr is no terminal. */
typedef struct {
  const char *what; /* "emulated" */
  double begin;
  double told_at;
  bool is_shown;
  bool has_line;
} run_progress_t;
run_progress_t run_progress_begin(const char *what);
/* `user_data` is the run_progress_t. */
void run_progress_tell(double done, void *user_data);
/* Removes the line. */
void run_progress_end(run_progress_t *progress);

#endif /* UATTN_RUN_PROGRESS_H */
