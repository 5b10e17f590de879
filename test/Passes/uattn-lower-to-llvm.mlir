// RUN: uattn-opt --uattn-lower-to-llvm %s | FileCheck %s
// RUN: uattn-opt --uattn-lower-to-llvm %s | uattn-opt - | FileCheck %s

// What a host function holds is not ours to convert; its vector and cf ops once
// became llvm ops.
// CHECK-LABEL: func.func @host_functions_stay(
// CHECK: vector.extract
// CHECK: cf.br
// CHECK: scf.if
// CHECK-NOT: llvm.
func.func @host_functions_stay(%x: vector<4xf32>, %b: i1) -> f32 {
  %0 = vector.extract %x[1] : f32 from vector<4xf32>
  cf.br ^end
^end:
  %1 = scf.if %b -> f32 {
    scf.yield %0 : f32
  } else {
    %2 = arith.addf %0, %0 : f32
    scf.yield %2 : f32
  }
  return %1 : f32
}

gpu.module @kernels {
  // Every op of a kernel becomes one of the llvm or nvvm dialect; casts between
  // the two worlds are gone.
  // CHECK-LABEL: llvm.func @straight(
  // CHECK-SAME: nvvm.kernel
  // CHECK-NOT: {{(arith|math|vector|builtin)\.}}
  // CHECK: llvm.fmul
  // CHECK: llvm.intr.fma
  // CHECK: llvm.intr.exp2
  // CHECK: llvm.store
  // CHECK: llvm.return
  llvm.func @straight(%x: f32, %p: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %v = vector.broadcast %x : f32 to vector<2xf32>
    %m = arith.mulf %v, %v : vector<2xf32>
    %f = math.fma %m, %v, %v : vector<2xf32>
    %e = math.exp2 %f fastmath<afn> : vector<2xf32>
    llvm.store %e, %p : vector<2xf32>, !llvm.ptr<1>
    llvm.return
  }

  // scf becomes branches of the llvm dialect, with the carried values as block
  // arguments.
  // CHECK-LABEL: llvm.func @loop(
  // CHECK-NOT: {{(scf|cf|arith)\.}}
  // CHECK: llvm.br ^[[HEAD:.*]](
  // CHECK: ^[[HEAD]](%{{.*}}: i32, %{{.*}}: f32):
  // CHECK: llvm.icmp "slt"
  // CHECK: llvm.cond_br
  // CHECK: llvm.fadd
  // CHECK: llvm.return
  llvm.func @loop(%x: f32, %n: i32, %p: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %r = scf.for %i = %zero to %n step %one iter_args(%s = %x) -> f32 : i32 {
      %t = arith.addf %s, %x : f32
      scf.yield %t : f32
    }
    llvm.store %r, %p : f32, !llvm.ptr<1>
    llvm.return
  }

  // The switch over roles becomes llvm.switch.
  // CHECK-LABEL: llvm.func @switch(
  // CHECK-NOT: {{(scf|cf|arith)\.}}
  // CHECK: llvm.switch %{{.*}} : i32, ^{{.*}} [
  // CHECK-NEXT: 0: ^
  // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "setmaxnreg.dec
  // CHECK: llvm.return
  llvm.func @switch(%role: i32) attributes {nvvm.kernel} {
    %which = arith.index_cast %role : i32 to index
    scf.index_switch %which
    case 0 {
      llvm.inline_asm has_side_effects asm_dialect = att "setmaxnreg.dec.sync.aligned.u32 24;", "" : () -> ()
      scf.yield
    }
    default {
      llvm.inline_asm has_side_effects asm_dialect = att "setmaxnreg.inc.sync.aligned.u32 240;", "" : () -> ()
      scf.yield
    }
    llvm.return
  }
}
