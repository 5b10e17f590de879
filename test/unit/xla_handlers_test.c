/* Tests of the handlers that XLA calls, by call frames of our own making.
 * Layer: test. Must not know: jaxlib.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "handlers.h"
#include "sample_artifact.h"
#include "support/support.h"

enum { ATTRIBUTE_LIMIT = 16, VALUE_LIMIT = 16 };

/* What a handler gave back; XLA's own error type is opaque. */
struct ffi_error {
  ffi_code_t code;
  char message[512];
};

typedef struct {
  ffi_api_t api;
  ffi_call_frame_t frame;
  ffi_attribute_type_t attribute_types[ATTRIBUTE_LIMIT];
  ffi_bytes_t names[ATTRIBUTE_LIMIT];
  ffi_bytes_t *name_pointers[ATTRIBUTE_LIMIT];
  void *attributes[ATTRIBUTE_LIMIT];
  ffi_scalar_t scalars[ATTRIBUTE_LIMIT];
  ffi_value_type_t value_types[VALUE_LIMIT];
  ffi_buffer_t buffers[2][VALUE_LIMIT];
  void *values[2][VALUE_LIMIT];
} call_t;

static ffi_error_t *create_error(ffi_error_create_args_t *args) {
  ffi_error_t *error = calloc(1, sizeof *error);
  assert_non_null(error);
  error->code = args->code;
  snprintf(error->message, sizeof error->message, "%s", args->message);
  return error;
}

static ffi_error_t *get_stream(ffi_stream_get_args_t *args) {
  args->stream = NULL;
  return NULL;
}

static ffi_error_t *get_ordinal(ffi_device_ordinal_get_args_t *args) {
  args->device_ordinal = 0;
  return NULL;
}

static ffi_error_t *refuse_ordinal(ffi_device_ordinal_get_args_t *args) {
  (void)args;
  ffi_error_create_args_t error = {.message = "XLA's own", .code = 9};
  return create_error(&error);
}

static void begin(call_t *call) {
  *call = (call_t){.api = {.struct_size = sizeof call->api,
                           .error_create = create_error,
                           .stream_get = get_stream,
                           .device_ordinal_get = get_ordinal}};
  call->frame.api = &call->api;
  call->frame.stage = FFI_STAGE_EXECUTE;
  call->frame.attributes = (ffi_attributes_t){.types = call->attribute_types,
                                              .names = call->name_pointers,
                                              .values = call->attributes};
  for (int i = 0; i < VALUE_LIMIT; ++i)
    call->value_types[i] = FFI_VALUE_BUFFER;
  call->frame.arguments =
      (ffi_values_t){.types = call->value_types, .values = call->values[0]};
  call->frame.results =
      (ffi_values_t){.types = call->value_types, .values = call->values[1]};
}

static void add_attribute(call_t *call, const char *name,
                          ffi_attribute_type_t type, void *value) {
  int64_t i = call->frame.attributes.size++;
  call->names[i] = (ffi_bytes_t){name, strlen(name)};
  call->name_pointers[i] = &call->names[i];
  call->attribute_types[i] = type;
  call->attributes[i] = value;
}

static void add_scalar(call_t *call, const char *name, ffi_dtype_t dtype,
                       void *value) {
  ffi_scalar_t *scalar = &call->scalars[call->frame.attributes.size];
  *scalar = (ffi_scalar_t){dtype, value};
  add_attribute(call, name, FFI_ATTRIBUTE_SCALAR, scalar);
}

static void add_value(call_t *call, bool is_result, ffi_dtype_t dtype,
                      int64_t rank, int64_t *dims, void *data) {
  ffi_values_t *values =
      is_result ? &call->frame.results : &call->frame.arguments;
  int64_t i = values->size++;
  call->buffers[is_result][i] =
      (ffi_buffer_t){.dtype = dtype, .data = data, .rank = rank, .dims = dims};
  call->values[is_result][i] = &call->buffers[is_result][i];
}

/* One token that attends to itself: out is v. */
typedef struct {
  int32_t operands[7], results[2];
  ffi_array_t operand_array, result_array;
  ffi_bytes_t method;
  float zero, scale;
  uint8_t no;
  int64_t none, dims[4];
  uint16_t q[64], k[64], v[64], out[64];
} op_t;

static void add_attributes(call_t *call, op_t *op) {
  op->operand_array = (ffi_array_t){FFI_DTYPE_S32, 7, op->operands};
  op->result_array = (ffi_array_t){FFI_DTYPE_S32, 2, op->results};
  op->operands[0] = op->operands[1] = op->operands[2] = op->results[0] = 1;
  op->scale = 0.125f;
  op->method = (ffi_bytes_t){"none", 4};
  add_attribute(call, "cap_method", FFI_ATTRIBUTE_STRING, &op->method);
  add_attribute(call, "operandSegmentSizes", FFI_ATTRIBUTE_ARRAY,
                &op->operand_array);
  add_attribute(call, "resultSegmentSizes", FFI_ATTRIBUTE_ARRAY,
                &op->result_array);
  add_scalar(call, "cap", FFI_DTYPE_F32, &op->zero);
  add_scalar(call, "cap_alpha", FFI_DTYPE_F32, &op->zero);
  add_scalar(call, "cap_beta", FFI_DTYPE_F32, &op->zero);
  add_scalar(call, "sm_scale", FFI_DTYPE_F32, &op->scale);
  add_scalar(call, "causal", FFI_DTYPE_PRED, &op->no);
  add_scalar(call, "window_len", FFI_DTYPE_S64, &op->none);
  add_scalar(call, "q_offset", FFI_DTYPE_S64, &op->none);
}

static void begin_op(call_t *call, op_t *op) {
  *op = (op_t){.dims = {1, 1, 1, 64}};
  for (int i = 0; i < 64; ++i)
    op->q[i] = op->k[i] = op->v[i] = (uint16_t)(0x3f80 + i); /* bf16 */
  begin(call);
  add_attributes(call, op);
  add_value(call, false, FFI_DTYPE_BF16, 4, op->dims, op->q);
  add_value(call, false, FFI_DTYPE_BF16, 4, op->dims, op->k);
  add_value(call, false, FFI_DTYPE_BF16, 4, op->dims, op->v);
  add_value(call, true, FFI_DTYPE_BF16, 4, op->dims, op->out);
}

/* Takes `error`. */
static void assert_ffi_error(ffi_error_t *error, ffi_code_t code,
                             const char *part) {
  assert_non_null(error);
  if (!strstr(error->message, part))
    fail_msg("\"%s\" has no \"%s\"", error->message, part);
  assert_int_equal(error->code, code);
  free(error);
}

static void computes_on_the_host(void **state) {
  (void)state;
  call_t call;
  op_t op;
  begin_op(&call, &op);
  assert_null(uattn_xla_host_execute(&call.frame));
  assert_memory_equal(op.out, op.v, sizeof op.v);
}

static void says_what_it_is(void **state) {
  (void)state;
  ffi_error_t *(*const handlers[])(ffi_call_frame_t *) = {
      uattn_xla_host_execute, uattn_xla_cuda_initialize,
      uattn_xla_cuda_execute};
  for (size_t i = 0; i < COUNT_OF(handlers); ++i) {
    ffi_metadata_t metadata = {.struct_size = sizeof metadata, .traits = 99};
    ffi_metadata_extension_t extension = {
        .base = {.struct_size = sizeof extension,
                 .type = FFI_EXTENSION_METADATA},
        .metadata = &metadata};
    ffi_call_frame_t frame = {.extension_start = &extension.base};
    assert_null(handlers[i](&frame));
    assert_int_equal(metadata.api_version.major_version, 0);
    assert_int_equal(metadata.api_version.minor_version, 1);
    assert_int_equal(metadata.traits,
                     i ? FFI_TRAIT_COMMAND_BUFFER_COMPATIBLE : 0);
  }
}

static void refuses_attributes(void **state) {
  (void)state;
  call_t call;
  op_t op;
  for (int64_t i = 0; i < 10; ++i) { /* each of another name once */
    begin_op(&call, &op);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "attribute %s is missing",
             call.names[i].data);
    call.names[i] = (ffi_bytes_t){"other", 5};
    assert_ffi_error(uattn_xla_host_execute(&call.frame),
                     FFI_CODE_INVALID_ARGUMENT, wanted);
  }
  begin_op(&call, &op);
  add_scalar(&call, "casual", FFI_DTYPE_PRED, &op.no);
  assert_ffi_error(uattn_xla_host_execute(&call.frame),
                   FFI_CODE_INVALID_ARGUMENT, "attribute casual is unknown");
  begin_op(&call, &op);
  add_scalar(&call, "z_loss_weight", FFI_DTYPE_F32, &op.zero);
  assert_ffi_error(uattn_xla_host_execute(&call.frame),
                   FFI_CODE_INVALID_ARGUMENT,
                   "attribute z_loss_weight is unknown");
  begin_op(&call, &op);
  op.method = (ffi_bytes_t){"sigmoid_of_a_long_name", 22};
  assert_ffi_error(uattn_xla_host_execute(&call.frame),
                   FFI_CODE_INVALID_ARGUMENT, "expected none, tanh");
  begin_op(&call, &op);
  op.method = (ffi_bytes_t){"none\0more", 9};
  assert_ffi_error(uattn_xla_host_execute(&call.frame),
                   FFI_CODE_INVALID_ARGUMENT, "expected none, tanh");
  begin_op(&call, &op);
  op.operands[1] = 2;
  assert_ffi_error(uattn_xla_host_execute(&call.frame),
                   FFI_CODE_INVALID_ARGUMENT,
                   "operandSegmentSizes[1] is 2: expected 0 or 1");
  begin_op(&call, &op);
  op.operand_array.size = 8;
  assert_ffi_error(uattn_xla_host_execute(&call.frame),
                   FFI_CODE_INVALID_ARGUMENT, "expected 7 or 11 s32");
  begin_op(&call, &op);
  call.scalars[3].dtype = FFI_DTYPE_S32; /* cap */
  assert_ffi_error(uattn_xla_host_execute(&call.frame),
                   FFI_CODE_INVALID_ARGUMENT, "expected an f32");
}

static void refuses_buffers(void **state) {
  (void)state;
  call_t call;
  op_t op;
  begin_op(&call, &op);
  call.buffers[0][1].dtype = FFI_DTYPE_S64;
  assert_ffi_error(uattn_xla_host_execute(&call.frame),
                   FFI_CODE_INVALID_ARGUMENT, "argument 1 has XLA's type 5");
  begin_op(&call, &op);
  call.buffers[1][0].rank = 5;
  assert_ffi_error(uattn_xla_host_execute(&call.frame),
                   FFI_CODE_INVALID_ARGUMENT, "result 0 has rank 5");
  begin_op(&call, &op);
  call.buffers[0][0].rank = 2;
  assert_ffi_error(uattn_xla_host_execute(&call.frame),
                   FFI_CODE_INVALID_ARGUMENT, "q has rank 2 and k rank 4");
  begin_op(&call, &op);
  call.frame.arguments.size = 2;
  assert_ffi_error(uattn_xla_host_execute(&call.frame),
                   FFI_CODE_INVALID_ARGUMENT, "2 arguments and 1 results");
  begin_op(&call, &op);
  call.frame.arguments.size = 12;
  assert_ffi_error(uattn_xla_host_execute(&call.frame),
                   FFI_CODE_INVALID_ARGUMENT, "12 arguments are given");
  begin_op(&call, &op);
  add_value(&call, false, FFI_DTYPE_BF16, 4, op.dims, op.q);
  assert_ffi_error(uattn_xla_host_execute(&call.frame),
                   FFI_CODE_INVALID_ARGUMENT, "4 arguments and 1 results");
}

static void wants_a_known_artifact(void **state) {
  (void)state;
  call_t call;
  op_t op;
  begin_op(&call, &op);
  assert_ffi_error(uattn_xla_cuda_initialize(&call.frame),
                   FFI_CODE_INVALID_ARGUMENT, "attribute artifact is missing");
  ffi_bytes_t name = {"unknown", 7};
  add_attribute(&call, "artifact", FFI_ATTRIBUTE_STRING, &name);
  assert_ffi_error(uattn_xla_cuda_initialize(&call.frame), FFI_CODE_NOT_FOUND,
                   "artifact unknown is not in this process");
  assert_ffi_error(uattn_xla_cuda_execute(&call.frame), FFI_CODE_INTERNAL,
                   "expected XLA to initialize");
}

static void wants_a_device(void **state) {
  (void)state;
  call_t call;
  op_t op;
  begin_op(&call, &op);
  ffi_bytes_t name = {"unknown", 7};
  add_attribute(&call, "artifact", FFI_ATTRIBUTE_STRING, &name);
  call.api.device_ordinal_get = refuse_ordinal;
  assert_ffi_error(uattn_xla_cuda_initialize(&call.frame), 9, "XLA's own");
  assert_ffi_error(uattn_xla_cuda_execute(&call.frame), 9, "XLA's own");
  call.api.struct_size = offsetof(ffi_api_t, device_ordinal_get);
  assert_ffi_error(uattn_xla_cuda_initialize(&call.frame),
                   FFI_CODE_UNIMPLEMENTED, "expected jaxlib 0.10");
}

static void keeps_artifacts(void **state) {
  (void)state;
  sample_options_t options = {.is_dynamic = true};
  uattn_artifact_t *artifact = sample_artifact(&options);
  uint8_t *bytes = NULL;
  size_t size = 0;
  uattn_artifact_serialize(artifact, &bytes, &size);
  uattn_artifact_destroy(artifact);
  assert_ok(uattn_xla_add_artifact("sample", bytes, size));
  assert_ok(uattn_xla_add_artifact("sample", "torn", 4)); /* is there */
  uattn_error_t *error = uattn_xla_add_artifact("torn", bytes, size / 2);
  assert_non_null(error);
  uattn_error_destroy(error);
  free(bytes);

  /* Its PTX is none: without a GPU the driver is what is missing. */
  call_t call;
  op_t op;
  begin_op(&call, &op);
  ffi_bytes_t name = {"sample", 6};
  add_attribute(&call, "artifact", FFI_ATTRIBUTE_STRING, &name);
  ffi_error_t *refused = uattn_xla_cuda_initialize(&call.frame);
  assert_ffi_error(refused, FFI_CODE_UNAVAILABLE, "uattn.ranker_attention");

  op.scale = 0.25f;
  assert_ffi_error(uattn_xla_cuda_initialize(&call.frame),
                   FFI_CODE_INVALID_ARGUMENT,
                   "attribute sm_scale is not what artifact sample");
  op.no = 1;
  op.scale = 0.125f;
  assert_ffi_error(uattn_xla_cuda_initialize(&call.frame),
                   FFI_CODE_INVALID_ARGUMENT, "attribute causal is not what");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(computes_on_the_host),
      cmocka_unit_test(says_what_it_is),
      cmocka_unit_test(refuses_attributes),
      cmocka_unit_test(refuses_buffers),
      cmocka_unit_test(wants_a_known_artifact),
      cmocka_unit_test(wants_a_device),
      cmocka_unit_test(keeps_artifacts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
