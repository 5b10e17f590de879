/* Runs a fuzz target on mutated seeds where libFuzzer is not at hand.
 * Layer: test. Must not know: what is tested.
 * SPDX-License-Identifier: Apache-2.0
 *
 * NAME [--runs=N] [--seconds=N] [--seed=N] [--save=FILE] SEED...
 *
 * First every seed as it is, then mutated ones: the same seed of random
 * numbers gives the same inputs. Without --runs and --seconds the files alone
 * are run, which is how an input that crashed is tried again. An input that
 * makes a sanitizer, a check or the clock stop the program is written to
 * --save (fuzz-crash.ptx). */
#include "fuzz.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SLOWEST_SECONDS = 10 };

/* The sanitizers ask for these; their reports end in SIGABRT then, as our own
 * checks do. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "abort_on_error=1"; }
__attribute__((visibility("default"))) const char *
__ubsan_default_options(void);
const char *__ubsan_default_options(void) {
  return "abort_on_error=1:print_stacktrace=1";
}

static const char *save_path = "fuzz-crash.ptx";
static fuzz_input_t current;

static void save_current(void) {
  FILE *file = fopen(save_path, "wb");
  if (!file)
    return;
  fwrite(current.data, 1, current.size, file);
  fclose(file);
  fprintf(stderr, "fuzz: the input is in %s\n", save_path);
}

static void save_and_die(int number) {
  save_current();
  signal(number, SIG_DFL);
  raise(number);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void run_input(fuzz_input_t input) {
  current = input;
  double start = now();
  LLVMFuzzerTestOneInput(input.data, input.size);
  if (now() - start <= SLOWEST_SECONDS)
    return;
  fprintf(stderr, "fuzz: an input took %g s\n", now() - start);
  save_current();
  exit(1);
}

typedef struct {
  int64_t runs;
  int64_t seconds;
  int64_t seed;
} options_t;

/* False where `argument` is no option. */
static bool parse_option(const char *argument, options_t *options) {
  static const char *const names[] = {"--runs=", "--seconds=", "--seed="};
  int64_t *values[] = {&options->runs, &options->seconds, &options->seed};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    size_t size = strlen(names[i]);
    if (strncmp(argument, names[i], size) != 0)
      continue;
    if (!uattn_parse_int64(argument + size, values[i]) || *values[i] < 0) {
      fprintf(stderr, "fuzz: found %s: expected a number\n", argument);
      exit(2);
    }
    return true;
  }
  if (strncmp(argument, "--save=", 7) != 0)
    return false;
  save_path = argument + 7;
  return true;
}

static void add_seed(fuzz_corpus_t *corpus, const char *path) {
  fuzz_input_t *input = &corpus->seeds[corpus->seed_count++];
  char *data = NULL;
  uattn_error_t *error = uattn_file_read(path, &data, &input->size);
  if (error) {
    fprintf(stderr, "fuzz: %s\n", uattn_error_message(error));
    exit(2);
  }
  input->data = (uint8_t *)data;
}

int main(int argc, char **argv) {
  options_t options = {.seed = 1};
  fuzz_corpus_t corpus = {0};
  corpus.seeds = uattn_allocate((size_t)argc * sizeof *corpus.seeds);
  for (int i = 1; i < argc; ++i)
    if (!parse_option(argv[i], &options))
      add_seed(&corpus, argv[i]);
  if (corpus.seed_count == 0) {
    fprintf(stderr, "fuzz: no seed: expected files\n");
    exit(2);
  }
  signal(SIGABRT, save_and_die);
  for (size_t i = 0; i < corpus.seed_count; ++i)
    run_input(corpus.seeds[i]);
  corpus.random = (uint64_t)options.seed;
  double end = now() + (double)options.seconds;
  int64_t runs = 0;
  while (runs < options.runs || (options.seconds > 0 && now() < end)) {
    fuzz_input_t input = fuzz_mutate(&corpus);
    run_input(input);
    free(input.data);
    ++runs;
  }
  printf("fuzz: %zu seeds, %lld mutated inputs\n", corpus.seed_count,
         (long long)runs);
  for (size_t i = 0; i < corpus.seed_count; ++i)
    free(corpus.seeds[i].data);
  free(corpus.seeds);
  return 0;
}
