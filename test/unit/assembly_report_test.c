/* Tests of what is read from the assembler's messages, which are those of
 * ptxas 13.0 for kernels of ours and for spoilt copies of them.
 * Layer: test. Must not know: how ptxas is run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "target/target.h"

static const char clean[] =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function "
    "'ranker_attention_fwd_bf16_d64_none' for 'sm_90a'\n"
    "ptxas info    : Function properties for "
    "ranker_attention_fwd_bf16_d64_none\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 128 registers, used 16 barriers\n"
    "ptxas info    : Compile time = 162.220 ms\n";

static void assert_warns(const char *messages, const char *wanted) {
  uattn_assembly_report_t report = uattn_assembly_report_parse(messages);
  uattn_string_t text = {0};
  uattn_assembly_report_warn(&report, "k", &text);
  assert_string_equal(uattn_string_get(&text), wanted);
  uattn_string_release(&text);
}

static void clean_kernel_gives_its_registers_and_no_warning(void **state) {
  (void)state;
  uattn_assembly_report_t report = uattn_assembly_report_parse(clean);
  assert_int_equal(report.registers, 128);
  assert_int_equal(report.stack_bytes, 0);
  assert_int_equal(report.spill_store_bytes, 0);
  assert_int_equal(report.spill_load_bytes, 0);
  assert_false(report.is_wgmma_serialized);
  assert_false(report.is_wgmma_order_injected);
  assert_false(report.is_setmaxnreg_ignored);
  assert_warns(clean, "");
}

static void spills_and_stack_are_read(void **state) {
  (void)state;
  static const char spilled[] =
      "ptxas info    : Function properties for k\n"
      "    112 bytes stack frame, 192 bytes spill stores, 188 bytes spill "
      "loads\n"
      "ptxas info    : Used 128 registers, used 16 barriers, 112 bytes "
      "cumulative stack size\n";
  uattn_assembly_report_t report = uattn_assembly_report_parse(spilled);
  assert_int_equal(report.stack_bytes, 112);
  assert_int_equal(report.spill_store_bytes, 192);
  assert_int_equal(report.spill_load_bytes, 188);
  assert_warns(spilled,
               "k spills registers: 192 bytes of stores, 188 bytes of loads\n"
               "k uses 112 bytes of local memory a thread\n");
}

static void every_reason_for_serialized_products_is_known(void **state) {
  (void)state;
  static const char *const remarks[] = {
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async "
      "instructions are serialized due to non wgmma instructions defining "
      "accumulator registers of a wgmma between start and end of the pipeline "
      "stage in the function 'k'\n",
      "ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async "
      "instructions are serialized due to insufficient register resources for "
      "the wgmma pipeline in the function 'k'\n",
      "ptxas info    : (C7512) Potential Performance Loss: wgmma.mma_async "
      "instructions are serialized due to insufficient register resources for "
      "the function 'k'\n",
      "ptxas info    : (C7514) Potential Performance Loss: wgmma.mma_async "
      "instructions are serialized due to non wgmma instructions reading "
      "accumulator registers of  a wgmma between start and end of the "
      "pipeline stage in the function 'k'\n",
      "ptxas info    : Potential Performance Loss: wgmma.mma_async "
      "instructions are serialized due to ill formed pipeline stage in the "
      "function 'k'\n",
  };
  for (size_t i = 0; i < COUNT_OF(remarks); ++i)
    assert_warns(remarks[i], "k has its wgmma instructions serialized by ptxas "
                             "(C7510)\n");
}

static void every_reason_for_an_ignored_setmaxnreg_is_known(void **state) {
  (void)state;
  static const char *const remarks[] = {
      "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' "
      "ignored; unable to determine register count at entry.\n",
      "ptxas info    : (C7505) Potential Performance Loss: 'setmaxnreg' "
      "ignored to allow debugging.\n",
      "ptxas info    : (C7504) Potential Performance Loss: 'setmaxnreg' "
      "ignored to maintain compatibility across compilation units.\n",
      "ptxas info    : Potential Performance Loss: 'setmaxnreg' ignored to "
      "maintain minimum register requirements.\n",
  };
  for (size_t i = 0; i < COUNT_OF(remarks); ++i)
    assert_warns(remarks[i], "k has its setmaxnreg ignored by ptxas (C7508)\n");
}

static void injected_order_is_not_called_serialized(void **state) {
  (void)state;
  static const char *const remarks[] = {
      "ptxas info    : (C7517) warpgroup.wait is injected in around line 280 "
      "by compiler to allow use of registers defined by GMMA in function 'k'\n",
      "ptxas info    : (C7519) warpgroup.arrive is injected in around line 182 "
      "by compiler to allow use of registers in GMMA in function 'k'\n",
  };
  for (size_t i = 0; i < COUNT_OF(remarks); ++i)
    assert_warns(remarks[i], "k has waits or fences injected between its wgmma "
                             "instructions by ptxas (C7517, C7519)\n");
}

/* Remarks that speak of registers stand before the summary. */
static void register_count_behind_remarks_was_read_as_zero(void **state) {
  (void)state;
  uattn_string_t messages = {0};
  uattn_string_append(
      &messages,
      "ptxas info    : (C7514) Potential Performance Loss: wgmma.mma_async "
      "instructions are serialized due to non wgmma instructions reading "
      "accumulator registers of  a wgmma between start and end of the "
      "pipeline stage in the function 'k'\n");
  uattn_string_append(&messages, clean);
  uattn_assembly_report_t report =
      uattn_assembly_report_parse(uattn_string_get(&messages));
  assert_int_equal(report.registers, 128);
  uattn_string_release(&messages);
}

static void other_texts_say_nothing(void **state) {
  (void)state;
  static const char *const texts[] = {
      "", "ptxas info    : (C7602) Insufficient registers (64)\n", "(C", "(C75",
      "Used registers, bytes stack frame, bytes spill stores\n"};
  for (size_t i = 0; i < COUNT_OF(texts); ++i) {
    uattn_assembly_report_t report = uattn_assembly_report_parse(texts[i]);
    assert_int_equal(report.registers, 0);
    assert_warns(texts[i], "");
  }
}

static void all_warnings_come_together(void **state) {
  (void)state;
  uattn_assembly_report_t report = {.registers = 168,
                                    .stack_bytes = 8,
                                    .spill_load_bytes = 4,
                                    .is_wgmma_serialized = true,
                                    .is_wgmma_order_injected = true,
                                    .is_setmaxnreg_ignored = true};
  uattn_string_t text = {0};
  uattn_string_append(&text, "before\n");
  uattn_assembly_report_warn(&report, "k", &text);
  assert_string_equal(
      uattn_string_get(&text),
      "before\n"
      "k spills registers: 0 bytes of stores, 4 bytes of loads\n"
      "k uses 8 bytes of local memory a thread\n"
      "k has its wgmma instructions serialized by ptxas (C7510)\n"
      "k has waits or fences injected between its wgmma instructions by ptxas "
      "(C7517, C7519)\n"
      "k has its setmaxnreg ignored by ptxas (C7508)\n");
  uattn_string_release(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(clean_kernel_gives_its_registers_and_no_warning),
      cmocka_unit_test(spills_and_stack_are_read),
      cmocka_unit_test(every_reason_for_serialized_products_is_known),
      cmocka_unit_test(every_reason_for_an_ignored_setmaxnreg_is_known),
      cmocka_unit_test(injected_order_is_not_called_serialized),
      cmocka_unit_test(register_count_behind_remarks_was_read_as_zero),
      cmocka_unit_test(other_texts_say_nothing),
      cmocka_unit_test(all_warnings_come_together),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
