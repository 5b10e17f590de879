/* Writes a sample artifact for tests of the tools: make_artifact OUT WORD...
 * Layer: test. Must not know: the compiler, devices.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Words: dynamic temp lse cubin no_kernel chain alsc copy two_functions
 * no_function. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample_artifact.h"
#include "support/support.h"

typedef struct {
  sample_options_t sample;
  bool returns_argument;
  bool has_two_functions;
  bool has_no_function;
} wishes_t;

static bool add_wish(wishes_t *wishes, const char *word) {
  const struct {
    const char *word;
    bool *wish;
  } words[] = {
      {"dynamic", &wishes->sample.is_dynamic},
      {"temp", &wishes->sample.has_temp},
      {"lse", &wishes->sample.has_lse},
      {"cubin", &wishes->sample.has_cubin},
      {"no_kernel", &wishes->sample.has_no_kernel},
      {"copy", &wishes->returns_argument},
      {"two_functions", &wishes->has_two_functions},
      {"no_function", &wishes->has_no_function},
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
    if (strcmp(word, words[i].word) == 0)
      return *words[i].wish = true;
  if (strcmp(word, "chain") == 0)
    wishes->sample.op_count = 2;
  else if (strcmp(word, "alsc") == 0)
    wishes->sample.cap_method = UATTN_CAP_ALSC;
  else
    return false;
  return true;
}

static void add_function(uattn_artifact_t *artifact,
                         const sample_options_t *sample) {
  uattn_artifact_t *other = sample_artifact(sample);
  uattn_artifact_function_t *functions = uattn_allocate(2 * sizeof *functions);
  functions[0] = artifact->functions[0];
  functions[1] = other->functions[0];
  free(functions[1].name);
  functions[1].name = uattn_string_copy("other");
  free(artifact->functions);
  artifact->functions = functions;
  artifact->function_count = 2;
  other->function_count = 0;
  uattn_artifact_destroy(other);
}

static uattn_error_t *write_artifact(const wishes_t *wishes, const char *path) {
  uattn_artifact_t *artifact = wishes->has_no_function
                                   ? uattn_artifact_create()
                                   : sample_artifact(&wishes->sample);
  if (wishes->returns_argument)
    sample_artifact_return_argument(artifact);
  if (wishes->has_two_functions)
    add_function(artifact, &wishes->sample);
  uattn_error_t *error = uattn_artifact_validate(artifact);
  if (!error) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    uattn_artifact_serialize(artifact, &bytes, &size);
    error = uattn_file_write(path, bytes, size);
    free(bytes);
  }
  uattn_artifact_destroy(artifact);
  return error;
}

int main(int argument_count, char **arguments) {
  wishes_t wishes = {0};
  for (int i = 2; i < argument_count; ++i)
    if (!add_wish(&wishes, arguments[i])) {
      fprintf(stderr, "make_artifact: unknown word %s\n", arguments[i]);
      return 2;
    }
  if (argument_count < 2)
    return 2;
  uattn_error_t *error = write_artifact(&wishes, arguments[1]);
  if (error)
    fprintf(stderr, "make_artifact: %s\n", uattn_error_message(error));
  int exit_code = error ? 1 : 0;
  uattn_error_destroy(error);
  return exit_code;
}
