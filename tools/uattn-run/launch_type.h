/* Element types of a launch description and their numbers.
 * Layer: tools. Must not know: descriptions' text, PTX, files.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_LAUNCH_TYPE_H
#define UATTN_RUN_LAUNCH_TYPE_H

#include "launch_description.h"

const char *launch_type_name(launch_type_t type);
bool launch_type_parse(const char *name, launch_type_t *out_type);
/* "i8, u8, ..." */
const char *launch_type_list(void);
size_t launch_type_bytes(launch_type_t type);
bool launch_type_is_float(launch_type_t type);
/* The type of a tensor map's element; false where there is none. */
bool launch_type_element(launch_type_t type, uattn_element_t *out_element);

/* A number of a text as an element; false where it is none or does not fit. */
bool launch_type_read(launch_type_t type, const char *text, void *out_element);

/* Elements from and to numbers: float for float types, else int32_t. False
 * where an integer does not fit, with its index in `*out_index`. */
bool launch_type_pack(launch_type_t type, const void *numbers, size_t count,
                      void *out_elements, size_t *out_index);
bool launch_type_unpack(launch_type_t type, const void *elements, size_t count,
                        void *out_numbers, size_t *out_index);

#endif /* UATTN_RUN_LAUNCH_TYPE_H */
