/* Holds ffi_abi.h to the header that jaxlib installs: compiles, or does not.
 * Layer: test. Must not know: anything else of uattn.
 * SPDX-License-Identifier: Apache-2.0 */
#include "xla/ffi/api/c_api.h"

#include "ffi_abi.h"

#define SAME_SIZE(ours, theirs)                                                \
  _Static_assert(sizeof(ours) == sizeof(theirs), #theirs)
#define SAME_FIELD(ours, field, theirs, their_field)                           \
  _Static_assert(offsetof(ours, field) == offsetof(theirs, their_field),       \
                 #theirs "." #their_field)
#define SAME_VALUE(ours, theirs)                                               \
  _Static_assert((int)(ours) == (int)(theirs), #theirs)

SAME_SIZE(ffi_extension_t, XLA_FFI_Extension_Base);
SAME_FIELD(ffi_extension_t, next, XLA_FFI_Extension_Base, next);
SAME_VALUE(FFI_EXTENSION_METADATA, XLA_FFI_Extension_Metadata);
SAME_SIZE(ffi_api_version_t, struct XLA_FFI_Api_Version);
SAME_FIELD(ffi_api_version_t, minor_version, struct XLA_FFI_Api_Version,
           minor_version);

SAME_FIELD(ffi_metadata_t, api_version, XLA_FFI_Metadata, api_version);
SAME_FIELD(ffi_metadata_t, traits, XLA_FFI_Metadata, traits);
SAME_FIELD(ffi_metadata_extension_t, metadata, XLA_FFI_Metadata_Extension,
           metadata);
SAME_VALUE(FFI_TRAIT_COMMAND_BUFFER_COMPATIBLE,
           XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE);

SAME_SIZE(ffi_error_create_args_t, XLA_FFI_Error_Create_Args);
SAME_FIELD(ffi_error_create_args_t, message, XLA_FFI_Error_Create_Args,
           message);
SAME_FIELD(ffi_error_create_args_t, code, XLA_FFI_Error_Create_Args, errc);
SAME_VALUE(FFI_CODE_INVALID_ARGUMENT, XLA_FFI_Error_Code_INVALID_ARGUMENT);
SAME_VALUE(FFI_CODE_NOT_FOUND, XLA_FFI_Error_Code_NOT_FOUND);
SAME_VALUE(FFI_CODE_UNIMPLEMENTED, XLA_FFI_Error_Code_UNIMPLEMENTED);
SAME_VALUE(FFI_CODE_INTERNAL, XLA_FFI_Error_Code_INTERNAL);
SAME_VALUE(FFI_CODE_UNAVAILABLE, XLA_FFI_Error_Code_UNAVAILABLE);

SAME_VALUE(FFI_DTYPE_PRED, XLA_FFI_DataType_PRED);
SAME_VALUE(FFI_DTYPE_S32, XLA_FFI_DataType_S32);
SAME_VALUE(FFI_DTYPE_S64, XLA_FFI_DataType_S64);
SAME_VALUE(FFI_DTYPE_U8, XLA_FFI_DataType_U8);
SAME_VALUE(FFI_DTYPE_F16, XLA_FFI_DataType_F16);
SAME_VALUE(FFI_DTYPE_F32, XLA_FFI_DataType_F32);
SAME_VALUE(FFI_DTYPE_BF16, XLA_FFI_DataType_BF16);

SAME_SIZE(ffi_buffer_t, XLA_FFI_Buffer);
SAME_FIELD(ffi_buffer_t, dtype, XLA_FFI_Buffer, dtype);
SAME_FIELD(ffi_buffer_t, data, XLA_FFI_Buffer, data);
SAME_FIELD(ffi_buffer_t, rank, XLA_FFI_Buffer, rank);
SAME_FIELD(ffi_buffer_t, dims, XLA_FFI_Buffer, dims);
SAME_VALUE(FFI_VALUE_BUFFER, XLA_FFI_ArgType_BUFFER);
SAME_VALUE(FFI_VALUE_BUFFER, XLA_FFI_RetType_BUFFER);

SAME_SIZE(ffi_values_t, XLA_FFI_Args);
SAME_FIELD(ffi_values_t, types, XLA_FFI_Args, types);
SAME_FIELD(ffi_values_t, values, XLA_FFI_Args, args);
SAME_SIZE(ffi_values_t, XLA_FFI_Rets);
SAME_FIELD(ffi_values_t, types, XLA_FFI_Rets, types);
SAME_FIELD(ffi_values_t, values, XLA_FFI_Rets, rets);

SAME_VALUE(FFI_ATTRIBUTE_ARRAY, XLA_FFI_AttrType_ARRAY);
SAME_VALUE(FFI_ATTRIBUTE_DICTIONARY, XLA_FFI_AttrType_DICTIONARY);
SAME_VALUE(FFI_ATTRIBUTE_SCALAR, XLA_FFI_AttrType_SCALAR);
SAME_VALUE(FFI_ATTRIBUTE_STRING, XLA_FFI_AttrType_STRING);
SAME_SIZE(ffi_bytes_t, XLA_FFI_ByteSpan);
SAME_FIELD(ffi_bytes_t, size, XLA_FFI_ByteSpan, len);
SAME_SIZE(ffi_scalar_t, XLA_FFI_Scalar);
SAME_FIELD(ffi_scalar_t, value, XLA_FFI_Scalar, value);
SAME_SIZE(ffi_array_t, XLA_FFI_Array);
SAME_FIELD(ffi_array_t, size, XLA_FFI_Array, size);
SAME_FIELD(ffi_array_t, data, XLA_FFI_Array, data);
SAME_SIZE(ffi_attributes_t, XLA_FFI_Attrs);
SAME_FIELD(ffi_attributes_t, types, XLA_FFI_Attrs, types);
SAME_FIELD(ffi_attributes_t, names, XLA_FFI_Attrs, names);
SAME_FIELD(ffi_attributes_t, values, XLA_FFI_Attrs, attrs);

SAME_SIZE(ffi_stream_get_args_t, XLA_FFI_Stream_Get_Args);
SAME_FIELD(ffi_stream_get_args_t, stream, XLA_FFI_Stream_Get_Args, stream);
SAME_SIZE(ffi_device_ordinal_get_args_t, XLA_FFI_DeviceOrdinal_Get_Args);
SAME_FIELD(ffi_device_ordinal_get_args_t, device_ordinal,
           XLA_FFI_DeviceOrdinal_Get_Args, device_ordinal);

SAME_FIELD(ffi_api_t, api_version, XLA_FFI_Api, api_version);
SAME_FIELD(ffi_api_t, error_create, XLA_FFI_Api, XLA_FFI_Error_Create);
SAME_FIELD(ffi_api_t, stream_get, XLA_FFI_Api, XLA_FFI_Stream_Get);
SAME_FIELD(ffi_api_t, device_ordinal_get, XLA_FFI_Api,
           XLA_FFI_DeviceOrdinal_Get);

SAME_VALUE(FFI_STAGE_INSTANTIATE, XLA_FFI_ExecutionStage_INSTANTIATE);
SAME_VALUE(FFI_STAGE_PREPARE, XLA_FFI_ExecutionStage_PREPARE);
SAME_VALUE(FFI_STAGE_INITIALIZE, XLA_FFI_ExecutionStage_INITIALIZE);
SAME_VALUE(FFI_STAGE_EXECUTE, XLA_FFI_ExecutionStage_EXECUTE);

SAME_FIELD(ffi_call_frame_t, api, XLA_FFI_CallFrame, api);
SAME_FIELD(ffi_call_frame_t, context, XLA_FFI_CallFrame, ctx);
SAME_FIELD(ffi_call_frame_t, stage, XLA_FFI_CallFrame, stage);
SAME_FIELD(ffi_call_frame_t, arguments, XLA_FFI_CallFrame, args);
SAME_FIELD(ffi_call_frame_t, results, XLA_FFI_CallFrame, rets);
SAME_FIELD(ffi_call_frame_t, attributes, XLA_FFI_CallFrame, attrs);

/* The oldest version that XLA takes. */
_Static_assert(FFI_API_MAJOR == XLA_FFI_API_MAJOR, "major version");
_Static_assert(FFI_API_MINOR <= XLA_FFI_API_MINOR, "minor version");
