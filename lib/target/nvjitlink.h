/* PTX to cubin through libnvJitLink, opened at run time.
 * Layer: target. Must not know: plans, what a kernel does.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_TARGET_NVJITLINK_H
#define UATTN_TARGET_NVJITLINK_H

#include "target/target.h"

UATTN_NODISCARD uattn_error_t *
uattn_nvjitlink_assemble(const char *library_path, const char *ptx,
                         const char *chip, uattn_assembly_t *out_assembly);

#endif /* UATTN_TARGET_NVJITLINK_H */
