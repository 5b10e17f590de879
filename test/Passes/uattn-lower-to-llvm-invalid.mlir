// RUN: uattn-opt --split-input-file --verify-diagnostics --uattn-lower-to-llvm %s
//
// A kernel that no pass has distributed once went through as it was, with exit
// code 0.

gpu.module @pipeline_ops_are_left {
  gpu.func @kernel() kernel {
    // expected-error @below {{a kernel holds uattn.cta_index: expected kernels that uattn-distribute-tiles has made}}
    %index = "uattn.cta_index"() : () -> i32
    gpu.return
  }
}
