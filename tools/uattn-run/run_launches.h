/* Launches a function again and again and compares its results.
 * Layer: tools. Must not know: files, the reference.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_LAUNCHES_H
#define UATTN_RUN_LAUNCHES_H

#include "run_cuda.h"

/* After the first launch, whose results are `first_results` (of
 * run_cuda_results): launches until there are `launch_count`, each into memory
 * that is filled anew. Where results do not agree (run_agreement.h), says on
 * stderr which numbers and ends. */
UATTN_NODISCARD uattn_error_t *run_launches_compare(const run_cuda_t *cuda,
                                                    const run_values_t *values,
                                                    int64_t launch_count,
                                                    void *const *first_results,
                                                    bool *out_do_agree);

#endif /* UATTN_RUN_LAUNCHES_H */
