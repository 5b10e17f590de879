// RUN: uattn-opt --split-input-file --verify-diagnostics --uattn-distribute-tiles %s
// What has no layout or no instruction is refused at the op; nothing crashes
// and nothing is distributed as something else.

// A launch needs these facts; nothing is guessed.
gpu.module @kernels {
  // expected-error @below {{a gpu.func is no kernel of uattn: expected the attributes gpu.kernel, uattn.threads, uattn.entry_registers and uattn.smem_bytes}}
  gpu.func @facts_are_missing()
      kernel attributes {uattn.threads = 128 : i64} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{a gpu.func is no kernel of uattn: expected the attributes gpu.kernel}}
  gpu.func @device_function() attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                                          uattn.entry_registers = 168 : i64} {
    gpu.return
  }
}

// -----

// Memory that gpu.func declares beside its parameters once became a parameter.
gpu.module @kernels {
  // expected-error @below {{a kernel of uattn has workgroup or private memory: expected parameters alone}}
  gpu.func @workgroup_memory(%x: i32) workgroup(%m: memref<4xf32, 3>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{a kernel's parameter is memref<4xf32>: expected a number, a vector, a tensor map or global memory}}
  gpu.func @parameter_without_a_register(%x: memref<4xf32>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    gpu.return
  }
}

// -----

// A warpgroup holds 64 rows.
gpu.module @kernels {
  // expected-error @below {{vector<63x64xf32> has no layout: expected a vector of 64 rows and a multiple of 8 columns}}
  gpu.func @rows(%x: vector<63x64xf32>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    gpu.return
  }
}

// -----

// Eight columns are the unit of a fragment.
gpu.module @kernels {
  gpu.func @columns(%x: f32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{vector<64x4xf32> has no layout: expected a vector of 64 rows and a multiple of 8 columns}}
    %t = vector.broadcast %x : f32 to vector<64x4xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @rank()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{vector<64x2x8xf32> has no layout: expected a vector of 64 rows and a multiple of 8 columns}}
    %t = arith.constant dense<0.0> : vector<64x2x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{vector<64x[8]xf32> has no layout: expected a vector of 64 rows and a multiple of 8 columns}}
  gpu.func @scalable(%x: vector<64x[8]xf32>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    gpu.return
  }
}

// -----

// A result without a layout once crashed the pass.
gpu.module @kernels {
  gpu.func @row_index_without_layout()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{vector<32xi32> has no layout: expected a vector of 64 rows and a multiple of 8 columns}}
    %t = "uattn.row_index"() : () -> vector<32xi32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @row_broadcast_without_layout(%x: vector<64xf32>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{vector<64x4xf32> has no layout: expected a vector of 64 rows and a multiple of 8 columns}}
    %t = "uattn.row_broadcast"(%x) : (vector<64xf32>) -> vector<64x4xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @fold_without_layout(%x: vector<64x64xf32>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{vector<64x4xf32> has no layout: expected a vector of 64 rows and a multiple of 8 columns}}
    %t = "uattn.fold_columns"(%x) {kind = "add"} : (vector<64x64xf32>) -> vector<64x4xf32>
    gpu.return
  }
}

// -----

// Only a splat is the same in every thread.
gpu.module @kernels {
  gpu.func @constant_with_differing_elements()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{a constant tile is vector<64xi32>: expected the same value in every element, and no packed type}}
    %t = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
        16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39,
        40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63]> : vector<64xi32>
    gpu.return
  }
}

// -----

// A packed constant once kept the bits of one element where two belong.
gpu.module @kernels {
  gpu.func @packed_constant()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{a constant tile is vector<64x64xbf16>: expected the same value}}
    %t = arith.constant dense<1.0> : vector<64x64xbf16>
    gpu.return
  }
}

// -----

// A packed tile goes to products and stores alone.
gpu.module @kernels {
  gpu.func @arithmetic_on_a_packed_tile(%x: vector<64x64xbf16>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{arith.addf cannot be distributed to threads: expected a uattn pipeline op or elementwise arithmetic}}
    %t = arith.addf %x, %x : vector<64x64xbf16>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @select_of_packed_tiles(%x: vector<64x64xbf16>, %b: i1)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{arith.select cannot be distributed to threads}}
    %t = arith.select %b, %x, %x : vector<64x64xbf16>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @truncation_of_f64(%x: vector<64x64xf64>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the operand is vector<64x64xf64>: expected f32 elements}}
    %t = arith.truncf %x : vector<64x64xf64> to vector<64x64xbf16>
    gpu.return
  }
}

// -----

// Ops whose meaning depends on the layout, of dialects that know none.
gpu.module @kernels {
  gpu.func @shape_cast(%x: vector<64x64xf32>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{vector.shape_cast cannot be distributed to threads: expected a uattn pipeline op or elementwise arithmetic}}
    %t = vector.shape_cast %x : vector<64x64xf32> to vector<4096xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @broadcast_of_a_vector(%x: vector<64xf32>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{vector.broadcast cannot be distributed to threads}}
    %t = vector.broadcast %x : vector<64xf32> to vector<64x64xf32>
    gpu.return
  }
}

// -----

// Tile ops are expanded before.
gpu.module @kernels {
  gpu.func @cap_is_still_there(%x: vector<64x64xf32>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{uattn.cap_apply cannot be distributed to threads}}
    %t = "uattn.cap_apply"(%x) {method = "tanh"} : (vector<64x64xf32>) -> vector<64x64xf32>
    gpu.return
  }
}

// -----

// Structured control flow only.
gpu.module @kernels {
  gpu.func @branches(%x: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %r = scf.execute_region -> i32 {
      // expected-error @below {{cf.br cannot be distributed to threads}}
      cf.br ^end
    ^end:
      scf.yield %x : i32
    }
    gpu.return
  }
}

// -----

// What is refused inside a loop leaves nothing half made.
gpu.module @kernels {
  gpu.func @refused_in_a_loop(%x: vector<64x64xf32>, %n: i32, %b: i1)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %r = scf.for %i = %zero to %n step %one iter_args(%t = %x) -> vector<64x64xf32> : i32 {
      %s = scf.if %b -> vector<64x64xf32> {
        // expected-error @below {{vector.shape_cast cannot be distributed to threads}}
        %u = vector.shape_cast %t : vector<64x64xf32> to vector<4096xf32>
        scf.yield %t : vector<64x64xf32>
      } else {
        scf.yield %t : vector<64x64xf32>
      }
      scf.yield %s : vector<64x64xf32>
    }
    gpu.return
  }
}

// -----

// Rows lie in four threads each; nothing else is exchanged.
gpu.module @kernels {
  gpu.func @reduction_kind(%x: vector<64x64xf32>, %a: vector<64xf32>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{a reduction is not by <add> or <maxnumf>, or not over dimension 1 alone: no other has a layout}}
    %t = vector.multi_reduction <mul>, %x, %a [1] : vector<64x64xf32> to vector<64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @reduction_of_rows(%x: vector<64x64xf32>, %a: vector<64xf32>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{a reduction is not by <add> or <maxnumf>, or not over dimension 1 alone: no other has a layout}}
    %t = vector.multi_reduction <add>, %x, %a [0] : vector<64x64xf32> to vector<64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @reduction_to_a_scalar(%x: vector<64x64xf32>, %a: f32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{a reduction is not by <add> or <maxnumf>, or not over dimension 1 alone: no other has a layout}}
    %t = vector.multi_reduction <add>, %x, %a [0, 1] : vector<64x64xf32> to f32
    gpu.return
  }
}

// -----

// Sums of integers and of packed elements once became invalid arith ops.
gpu.module @kernels {
  gpu.func @reduction_of_integers(%x: vector<64x64xi32>, %a: vector<64xi32>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the operand is vector<64x64xi32>: expected f32 elements}}
    %t = vector.multi_reduction <add>, %x, %a [1] : vector<64x64xi32> to vector<64xi32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @fold_of_a_packed_tile(%x: vector<64x64xbf16>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the operand is vector<64x64xbf16>: expected f32 elements}}
    %t = "uattn.fold_columns"(%x) {kind = "add"} : (vector<64x64xbf16>) -> vector<64x8xbf16>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @broadcast_of_packed_rows(%x: vector<64xbf16>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the tile is vector<64x64xbf16>: expected elements of another type than bf16 or f16}}
    %t = "uattn.row_broadcast"(%x) : (vector<64xbf16>) -> vector<64x64xbf16>
    gpu.return
  }
}

// -----

// lg2.approx takes f32.
gpu.module @kernels {
  gpu.func @log2_of_f64(%x: f64)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the operand is f64: expected f32 elements}}
    %t = math.log2 %x : f64
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @row_index_of_another_type()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the rows' type is vector<64xindex>: expected 64 rows of i32}}
    %t = "uattn.row_index"() : () -> vector<64xindex>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @row_load_of_doubles(%g: !uattn.global<f64>, %o: i64, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the source's element type is f64: expected f32, bf16, f16 or i32}}
    %t = "uattn.row_load"(%g, %o, %i, %i) : (!uattn.global<f64>, i64, i32, i32) -> vector<64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @row_load_of_long_integers(%g: !uattn.global<i64>, %o: i64, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the source's element type is i64: expected f32, bf16, f16 or i32}}
    %t = "uattn.row_load"(%g, %o, %i, %i) : (!uattn.global<i64>, i64, i32, i32) -> vector<64xi64>
    gpu.return
  }
}

// -----

// Loaded floats are f32 whatever memory holds.
gpu.module @kernels {
  gpu.func @row_load_to_bf16(%g: !uattn.global<bf16>, %o: i64, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the type of what is loaded is vector<64xbf16>: expected f32 elements}}
    %t = "uattn.row_load"(%g, %o, %i, %i) : (!uattn.global<bf16>, i64, i32, i32) -> vector<64xbf16>
    gpu.return
  }
}

// -----

// Loaded integers stay integers.
gpu.module @kernels {
  gpu.func @row_load_of_integers_as_floats(%g: !uattn.global<i32>, %o: i64, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the type of what is loaded is vector<64xf32>: expected i32 elements}}
    %t = "uattn.row_load"(%g, %o, %i, %i) : (!uattn.global<i32>, i64, i32, i32) -> vector<64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @scalar_load_of_integers_as_floats(%g: !uattn.global<i32>, %o: i64)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the type of what is loaded is f32: expected i32 elements}}
    %t = "uattn.scalar_load"(%g, %o) : (!uattn.global<i32>, i64) -> f32
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @scalar_load_to_bf16(%g: !uattn.global<bf16>, %o: i64)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the type of what is loaded is bf16: expected f32 elements}}
    %t = "uattn.scalar_load"(%g, %o) : (!uattn.global<bf16>, i64) -> bf16
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @column_load_of_another_type(%g: !uattn.global<i32>, %o: i64, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the type of what is loaded is vector<64x64xf32>: expected i32 elements}}
    %t = "uattn.column_load"(%g, %o, %i, %i) : (!uattn.global<i32>, i64, i32, i32) -> vector<64x64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @mask_of_packed_scores(%x: vector<64x64xbf16>, %i: i32, %end: vector<64xi32>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the operand is vector<64x64xbf16>: expected f32 elements}}
    %t = "uattn.mask_apply"(%x, %i, %end) {operandSegmentSizes = array<i32: 1, 1, 1, 0>}
      : (vector<64x64xbf16>, i32, vector<64xi32>) -> vector<64x64xbf16>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @mask_with_long_limits(%x: vector<64x64xf32>, %i: i32, %end: vector<64xi32>,
                                 %begin: vector<64xi64>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{a limit is vector<64xi64>: expected i32 elements}}
    %t = "uattn.mask_apply"(%x, %i, %end, %begin) {operandSegmentSizes = array<i32: 1, 1, 1, 1>}
      : (vector<64x64xf32>, i32, vector<64xi32>, vector<64xi64>) -> vector<64x64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @exp2_of_a_packed_tile(%x: vector<64x64xbf16>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the operand is vector<64x64xbf16>: expected f32 elements}}
    %t = "uattn.exp2_apply"(%x) {polynomial_period = 4 : i64} : (vector<64x64xbf16>) -> vector<64x64xbf16>
    gpu.return
  }
}

// -----

// A flag a row.
gpu.module @kernels {
  gpu.func @vote_over_a_tile(%x: vector<64x64xi1>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{flags is vector<64x64xi1>: expected 64 rows of i1}}
    %t = "uattn.warp_any"(%x) : (vector<64x64xi1>) -> i1
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @vote_over_numbers(%x: vector<64xi32>, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{flags is vector<64xi32>: expected 64 rows of i1}}
    %t = "uattn.warpgroup_all"(%x, %i) : (vector<64xi32>, i32) -> i1
    gpu.return
  }
}

// -----

// A warpgroup reads its own 64 rows.
gpu.module @kernels {
  gpu.func @smem_read_of_128_rows(%i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %ring = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                                  consumer_warps = 4 : i64}
      : () -> !uattn.ring<vector<128x64xbf16>, 1 : i64>
    %tile = "uattn.ring_acquire"(%ring, %i) : (!uattn.ring<vector<128x64xbf16>, 1 : i64>, i32)
      -> !uattn.smem<vector<128x64xbf16>>
    // expected-error @below {{vector<128x64xbf16> has no layout: expected a vector of 64 rows and a multiple of 8 columns}}
    %t = "uattn.smem_read"(%tile) : (!uattn.smem<vector<128x64xbf16>>) -> vector<128x64xbf16>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @row_dot_of_128_rows(%i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %ring = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                                  consumer_warps = 4 : i64}
      : () -> !uattn.ring<vector<128x64xbf16>, 1 : i64>
    %tile = "uattn.ring_acquire"(%ring, %i) : (!uattn.ring<vector<128x64xbf16>, 1 : i64>, i32)
      -> !uattn.smem<vector<128x64xbf16>>
    // expected-error @below {{the tile is vector<128x64xbf16>: expected 64 rows and a multiple of 64 columns of bf16 or f16}}
    %t = "uattn.row_dot"(%tile, %tile)
      : (!uattn.smem<vector<128x64xbf16>>, !uattn.smem<vector<128x64xbf16>>) -> vector<64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @row_dot_in_bf16(%i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %ring = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                                  consumer_warps = 4 : i64}
      : () -> !uattn.ring<vector<128x64xbf16>, 1 : i64>
    %tile = "uattn.ring_acquire"(%ring, %i) : (!uattn.ring<vector<128x64xbf16>, 1 : i64>, i32)
      -> !uattn.smem<vector<64x64xbf16>>
    // expected-error @below {{the rows' type is vector<64xbf16>: expected f32 elements}}
    %t = "uattn.row_dot"(%tile, %tile)
      : (!uattn.smem<vector<64x64xbf16>>, !uattn.smem<vector<64x64xbf16>>) -> vector<64xbf16>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @negation_of_128_rows(%i: i32, %x: vector<64xi1>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %ring = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                                  consumer_warps = 4 : i64}
      : () -> !uattn.ring<vector<128x64xbf16>, 1 : i64>
    %tile = "uattn.ring_acquire"(%ring, %i) : (!uattn.ring<vector<128x64xbf16>, 1 : i64>, i32)
      -> !uattn.smem<vector<128x64xbf16>>
    // expected-error @below {{the tile is vector<128x64xbf16>: expected 64 rows and a multiple of 64 columns of bf16 or f16}}
    "uattn.smem_negate_rows"(%tile, %x, %i)
      : (!uattn.smem<vector<128x64xbf16>>, vector<64xi1>, i32) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @negation_without_flags(%i: i32, %x: vector<64xi32>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %ring = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                                  consumer_warps = 4 : i64}
      : () -> !uattn.ring<vector<128x64xbf16>, 1 : i64>
    %tile = "uattn.ring_acquire"(%ring, %i) : (!uattn.ring<vector<128x64xbf16>, 1 : i64>, i32)
      -> !uattn.smem<vector<64x64xbf16>>
    // expected-error @below {{flags is vector<64xi32>: expected 64 rows of i1}}
    "uattn.smem_negate_rows"(%tile, %x, %i)
      : (!uattn.smem<vector<64x64xbf16>>, vector<64xi32>, i32) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @row_load_of_half_a_warpgroup(%g: !uattn.global<f32>, %o: i64, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{vector<32xf32> has no layout: expected a vector of 64 rows and a multiple of 8 columns}}
    %t = "uattn.row_load"(%g, %o, %i, %i) : (!uattn.global<f32>, i64, i32, i32) -> vector<32xf32>
    gpu.return
  }
}

// -----

// Stores of rows into memory of another type once wrote to the wrong places.
gpu.module @kernels {
  gpu.func @row_store_to_another_type(%x: vector<64xf32>, %g: !uattn.global<bf16>, %o: i64, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the target's element type is bf16: expected f32 elements}}
    "uattn.row_store"(%x, %g, %o, %i, %i) : (vector<64xf32>, !uattn.global<bf16>, i64, i32, i32) -> ()
    gpu.return
  }
}

// -----

// TMA boxes and the swizzle are made for 16-bit panels of 64 columns.
gpu.module @kernels {
  gpu.func @ring_of_narrow_tiles()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{a slot's tile is vector<64x32xbf16>: expected bf16 or f16, at most 256 rows, a multiple of 8, and a multiple of 64 columns}}
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !uattn.ring<vector<64x32xbf16>, 2 : i64>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @ring_of_f32()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{a slot's tile is vector<64x64xf32>: expected bf16 or f16}}
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !uattn.ring<vector<64x64xf32>, 2 : i64>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @ring_of_tall_tiles()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{a slot's tile is vector<264x64xbf16>: expected bf16 or f16, at most 256 rows}}
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !uattn.ring<vector<264x64xbf16>, 2 : i64>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @ring_that_cuts_the_swizzle()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{a slot's tile is vector<12x64xbf16>: expected bf16 or f16, at most 256 rows, a multiple of 8}}
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !uattn.ring<vector<12x64xbf16>, 2 : i64>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @box_of_half_a_panel(%m: !uattn.tensor_map<vector<64x32xbf16>>, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !uattn.ring<vector<64x64xbf16>, 2 : i64>
    // expected-error @below {{the tensor map's box is vector<64x32xbf16>: expected 64 columns}}
    "uattn.ring_produce"(%m, %i, %i, %i, %r, %i)
      : (!uattn.tensor_map<vector<64x32xbf16>>, i32, i32, i32, !uattn.ring<vector<64x64xbf16>, 2 : i64>, i32) -> ()
    gpu.return
  }
}

// -----

// Where a tile lies is read from the ops that made it; a tile that a loop
// carries once crashed the pass.
gpu.module @kernels {
  gpu.func @tile_carried_by_a_loop(%n: i32, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !uattn.ring<vector<64x64xbf16>, 2 : i64>
    %t = "uattn.ring_acquire"(%r, %i) : (!uattn.ring<vector<64x64xbf16>, 2 : i64>, i32) -> !uattn.smem<vector<64x64xbf16>>
    %u = scf.for %j = %i to %n step %n iter_args(%c = %t) -> !uattn.smem<vector<64x64xbf16>> : i32 {
      // expected-error @below {{an operand that was passed on is !uattn.smem<vector<64x64xbf16>>: expected the result of uattn.ring_acquire, uattn.smem_alloc, uattn.smem_rows or uattn.smem_columns itself}}
      %p = "uattn.wgmma"(%c, %c) {transpose_b} : (!uattn.smem<vector<64x64xbf16>>, !uattn.smem<vector<64x64xbf16>>) -> vector<64x64xf32>
      scf.yield %c : !uattn.smem<vector<64x64xbf16>>
    }
    gpu.return
  }
}

// -----

// A choice between two tiles once took the panel distance of neither.
gpu.module @kernels {
  gpu.func @tile_that_was_selected(%b: i1, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !uattn.ring<vector<64x64xbf16>, 2 : i64>
    %t = "uattn.ring_acquire"(%r, %i) : (!uattn.ring<vector<64x64xbf16>, 2 : i64>, i32) -> !uattn.smem<vector<64x64xbf16>>
    %s = arith.select %b, %t, %t : !uattn.smem<vector<64x64xbf16>>
    // expected-error @below {{an operand that was passed on is !uattn.smem<vector<64x64xbf16>>}}
    %p = "uattn.wgmma"(%s, %s) {transpose_b} : (!uattn.smem<vector<64x64xbf16>>, !uattn.smem<vector<64x64xbf16>>) -> vector<64x64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @ring_that_was_selected(%b: i1, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !uattn.ring<vector<64x64xbf16>, 2 : i64>
    %s = arith.select %b, %r, %r : !uattn.ring<vector<64x64xbf16>, 2 : i64>
    // expected-error @below {{an operand that was passed on is !uattn.ring<vector<64x64xbf16>, 2 : i64>: expected the result of uattn.ring_alloc itself}}
    %t = "uattn.ring_acquire"(%s, %i) : (!uattn.ring<vector<64x64xbf16>, 2 : i64>, i32) -> !uattn.smem<vector<64x64xbf16>>
    gpu.return
  }
}

// -----

// One warpgroup multiplies 64 rows.
gpu.module @kernels {
  gpu.func @product_of_128_rows(%i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !uattn.ring<vector<128x64xbf16>, 2 : i64>
    %t = "uattn.ring_acquire"(%r, %i) : (!uattn.ring<vector<128x64xbf16>, 2 : i64>, i32) -> !uattn.smem<vector<128x64xbf16>>
    // expected-error @below {{vector<128x128xf32> has no layout: expected a vector of 64 rows and a multiple of 8 columns}}
    %p = "uattn.wgmma"(%t, %t) {transpose_b}
      : (!uattn.smem<vector<128x64xbf16>>, !uattn.smem<vector<128x64xbf16>>) -> vector<128x128xf32>
    gpu.return
  }
}

// -----

// wgmma takes at most 256 columns.
gpu.module @kernels {
  gpu.func @product_of_320_columns(%p: vector<64x64xbf16>, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !uattn.ring<vector<64x320xbf16>, 2 : i64>
    %t = "uattn.ring_acquire"(%r, %i) : (!uattn.ring<vector<64x320xbf16>, 2 : i64>, i32) -> !uattn.smem<vector<64x320xbf16>>
    // expected-error @below {{a product of 320 columns over 64 elements has no instruction: expected at most 256 columns and a multiple of 16 elements}}
    %o = "uattn.wgmma"(%p, %t)
      : (vector<64x64xbf16>, !uattn.smem<vector<64x320xbf16>>) -> vector<64x320xf32>
    gpu.return
  }
}

// -----

// And k in steps of 16.
gpu.module @kernels {
  gpu.func @product_over_72_elements(%p: vector<64x72xbf16>, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !uattn.ring<vector<72x64xbf16>, 2 : i64>
    %t = "uattn.ring_acquire"(%r, %i) : (!uattn.ring<vector<72x64xbf16>, 2 : i64>, i32) -> !uattn.smem<vector<72x64xbf16>>
    // expected-error @below {{a product of 64 columns over 72 elements has no instruction}}
    %o = "uattn.wgmma"(%p, %t)
      : (vector<64x72xbf16>, !uattn.smem<vector<72x64xbf16>>) -> vector<64x64xf32>
    gpu.return
  }
}

// -----

// Only accumulators are tied to a wait.
gpu.module @kernels {
  gpu.func @wait_for_a_packed_tile(%x: vector<64x64xf32>, %p: vector<64x64xbf16>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{a waited value is vector<64x64xbf16>: expected f32 elements}}
    %a, %b = "uattn.wgmma_wait"(%x, %p) {pending = 0 : i64}
      : (vector<64x64xf32>, vector<64x64xbf16>) -> (vector<64x64xf32>, vector<64x64xbf16>)
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @wait_with_too_many_pending(%x: vector<64x64xf32>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{pending is 8: expected at most 7}}
    %a = "uattn.wgmma_wait"(%x) {pending = 8 : i64} : (vector<64x64xf32>) -> vector<64x64xf32>
    gpu.return
  }
}

// -----

// An f32 tile once was stored as if it were packed.
gpu.module @kernels {
  gpu.func @store_of_f32(%x: vector<64x64xf32>, %m: !uattn.tensor_map<vector<64x64xbf16>>, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !uattn.ring<vector<64x64xbf16>, 2 : i64>
    %t = "uattn.ring_acquire"(%r, %i) : (!uattn.ring<vector<64x64xbf16>, 2 : i64>, i32) -> !uattn.smem<vector<64x64xbf16>>
    // expected-error @below {{the value's type is vector<64x64xf32>: expected the staging tile's element type}}
    "uattn.tile_store"(%x, %t, %m, %i, %i, %i, %i)
      : (vector<64x64xf32>, !uattn.smem<vector<64x64xbf16>>, !uattn.tensor_map<vector<64x64xbf16>>, i32, i32, i32, i32) -> ()
    gpu.return
  }
}

// -----

// The roles are the whole CTA.
gpu.module @kernels {
  gpu.func @roles_that_leave_warpgroups_out()
      kernel attributes {uattn.threads = 384 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the roles have 2 warpgroups: expected 384 threads, as the kernel has}}
    %role, %index = "uattn.role"() {registers = array<i64: 24, 240>,
                                    warpgroups = array<i64: 1, 1>} : () -> (i32, i32)
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @role_without_warpgroups()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{a role has 0 warpgroups: expected 1 to 8}}
    %role, %index = "uattn.role"() {registers = array<i64: 24, 240>,
                                    warpgroups = array<i64: 1, 0>} : () -> (i32, i32)
    gpu.return
  }
}

// -----

// setmaxnreg deals out what the CTA got at entry and waits for the rest: this
// kernel would hang.
gpu.module @kernels {
  gpu.func @roles_with_more_registers_than_the_kernel()
      kernel attributes {uattn.threads = 384 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the roles take 560 registers a thread of each warpgroup: expected at most the 504 of the kernel's start}}
    %role, %index = "uattn.role"() {registers = array<i64: 80, 240>,
                                    warpgroups = array<i64: 1, 2>} : () -> (i32, i32)
    gpu.return
  }
}

// -----

// A role without a case would take the registers of another.
gpu.module @kernels {
  gpu.func @switch_with_too_few_cases()
      kernel attributes {uattn.threads = 384 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %role, %index = "uattn.role"() {registers = array<i64: 24, 160, 160>,
                                    warpgroups = array<i64: 1, 1, 1>} : () -> (i32, i32)
    %which = arith.index_cast %role : i32 to index
    // expected-error @below {{a switch over 3 roles has 1 cases: expected one for each role but the last}}
    scf.index_switch %which
    case 0 {
      scf.yield
    }
    default {
      scf.yield
    }
    gpu.return
  }
}

// -----

// A case past the roles once read registers from behind the array.
gpu.module @kernels {
  gpu.func @switch_with_a_case_for_no_role()
      kernel attributes {uattn.threads = 256 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %role, %index = "uattn.role"() {registers = array<i64: 24, 240>,
                                    warpgroups = array<i64: 1, 1>} : () -> (i32, i32)
    %which = arith.index_cast %role : i32 to index
    // expected-error @below {{a switch over 2 roles has 1 cases: expected one for each role but the last}}
    scf.index_switch %which
    case -100000000 {
      scf.yield
    }
    default {
      scf.yield
    }
    gpu.return
  }
}

// -----

// The default is the last role's.
gpu.module @kernels {
  gpu.func @switch_whose_default_is_not_the_last_role()
      kernel attributes {uattn.threads = 256 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %role, %index = "uattn.role"() {registers = array<i64: 24, 240>,
                                    warpgroups = array<i64: 1, 1>} : () -> (i32, i32)
    %which = arith.index_cast %role : i32 to index
    // expected-error @below {{a switch over 2 roles has 1 cases: expected one for each role but the last}}
    scf.index_switch %which
    case 1 {
      scf.yield
    }
    default {
      scf.yield
    }
    gpu.return
  }
}

// -----

// Roles end with the kernel.
gpu.module @kernels {
  gpu.func @switch_with_results(%x: i32)
      kernel attributes {uattn.threads = 256 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %role, %index = "uattn.role"() {registers = array<i64: 24, 240>,
                                    warpgroups = array<i64: 1, 1>} : () -> (i32, i32)
    %which = arith.index_cast %role : i32 to index
    // expected-error @below {{a switch over roles has results: expected none}}
    %r = scf.index_switch %which -> i32
    case 0 {
      scf.yield %x : i32
    }
    default {
      scf.yield %x : i32
    }
    gpu.return
  }
}

// -----

// A launch of such a size, once text that MLIR could not parse, was our internal
// error.
gpu.module @kernels {
  // expected-error @below {{uattn.threads is 1099511627776: expected 128 to 1024 in steps of 128}}
  gpu.func @too_many_threads()
      kernel attributes {uattn.threads = 1099511627776 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{uattn.threads is 64: expected 128 to 1024 in steps of 128}}
  gpu.func @half_a_warpgroup()
      kernel attributes {uattn.threads = 64 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{uattn.entry_registers is 256: expected 24 to 248 in steps of 8}}
  gpu.func @too_many_registers()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 256 : i64} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{uattn.smem_bytes is 232449: expected 0 to 232448 in steps of 1}}
  gpu.func @too_much_memory()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 232449 : i64,
                         uattn.entry_registers = 168 : i64} {
    gpu.return
  }
}

// -----

// Tiles of a size that no thread holds once took forever, or all memory.
gpu.module @kernels {
  gpu.func @wide_tile(%x: vector<64xf32>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{vector<64x1099511627776xf32> has no layout: expected a vector of 64 rows and a multiple of 8 columns, at most 512}}
    %y = "uattn.row_broadcast"(%x) : (vector<64xf32>) -> vector<64x1099511627776xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @ring_of_wide_tiles()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{a slot's tile is vector<64x1099511627776xbf16>: expected bf16 or f16, at most 256 rows, a multiple of 8, and a multiple of 64 columns, at most 512}}
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !uattn.ring<vector<64x1099511627776xbf16>, 2 : i64>
    gpu.return
  }
}

// -----

// Rings end within shared memory; one of very many slots once took forever.
gpu.module @kernels {
  gpu.func @ring_of_many_slots()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{smem_offset is 0 for 1000000000000 slots of 8192 bytes: expected them to end at byte 232448 of shared memory at the latest}}
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !uattn.ring<vector<64x64xbf16>, 1000000000000 : i64>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @ring_behind_memory()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{smem_offset is 4398046511104 for 1 slots of 8192 bytes}}
    %r = "uattn.ring_alloc"() {smem_offset = 4398046511104 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !uattn.ring<vector<64x64xbf16>, 1 : i64>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @barriers_behind_memory()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{barrier_offset is 232440 for 1 slots of 16 bytes}}
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 232440 : i64,
                               consumer_warps = 4 : i64} : () -> !uattn.ring<vector<64x64xbf16>, 1 : i64>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @more_consumers_than_warps()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{consumer_warps is 33: expected at most 32}}
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 33 : i64} : () -> !uattn.ring<vector<64x64xbf16>, 1 : i64>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @barrier_of_more_threads_than_a_cta(%x: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{threads is 1056: expected at most 1024}}
    "uattn.named_barrier_sync"(%x) {threads = 1056 : i64} : (i32) -> ()
    gpu.return
  }
}

// -----

// Of a tile of f32 half was once cleared, of records nothing.
gpu.module @kernels {
  gpu.func @clearing_of_f32(%i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %t = "uattn.smem_alloc"() {smem_offset = 0 : i64} : () -> !uattn.smem<vector<64x64xf32>>
    // expected-error @below {{the tile is vector<64x64xf32>: expected bf16 or f16 elements}}
    "uattn.smem_clear_rows"(%t, %i) : (!uattn.smem<vector<64x64xf32>>, i32) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @clearing_of_records(%i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !uattn.ring<vector<64x4xf32>, 2 : i64>
    %t = "uattn.ring_acquire"(%r, %i) : (!uattn.ring<vector<64x4xf32>, 2 : i64>, i32) -> !uattn.smem<vector<64x4xf32>>
    // expected-error @below {{the tile is vector<64x4xf32>: expected bf16 or f16 elements}}
    "uattn.smem_clear_rows"(%t, %i) : (!uattn.smem<vector<64x4xf32>>, i32) -> ()
    gpu.return
  }
}

// -----

// A staging tile of f32 once hid that the value is not packed.
gpu.module @kernels {
  gpu.func @store_from_f32_staging(%x: vector<64x64xf32>, %m: !uattn.tensor_map<vector<64x64xf32>>,
                                 %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %t = "uattn.smem_alloc"() {smem_offset = 0 : i64} : () -> !uattn.smem<vector<64x64xf32>>
    // expected-error @below {{the value's type is vector<64x64xf32>: expected bf16 or f16 elements}}
    "uattn.tile_store"(%x, %t, %m, %i, %i, %i, %i)
      : (vector<64x64xf32>, !uattn.smem<vector<64x64xf32>>, !uattn.tensor_map<vector<64x64xf32>>, i32, i32,
         i32, i32) -> ()
    gpu.return
  }
}

// -----

// The last 8 columns of a transpose were once left out.
gpu.module @kernels {
  gpu.func @transpose_of_24_columns(%x: vector<64x24xbf16>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %t = "uattn.smem_alloc"() {smem_offset = 0 : i64} : () -> !uattn.smem<vector<24x64xbf16>>
    // expected-error @below {{the value is vector<64x24xbf16>: expected a multiple of 16 columns of bf16 or f16}}
    "uattn.smem_transpose"(%x, %t) : (vector<64x24xbf16>, !uattn.smem<vector<24x64xbf16>>) -> ()
    gpu.return
  }
}

// -----

// A record has four numbers.
gpu.module @kernels {
  gpu.func @ring_of_long_records()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{a slot's tile is vector<64x8xf32>: expected bf16 or f16, at most 256 rows, a multiple of 8, and a multiple of 64 columns, at most 512; or records, at most 256 rows of 4 columns of f32}}
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !uattn.ring<vector<64x8xf32>, 2 : i64>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @ring_of_many_records()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{a slot's tile is vector<264x4xf32>: expected bf16 or f16, at most 256 rows}}
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !uattn.ring<vector<264x4xf32>, 2 : i64>
    gpu.return
  }
}

// -----

// A record is 16 bytes: the second slot would end 1024 bytes too late.
gpu.module @kernels {
  gpu.func @records_behind_memory()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{smem_offset is 225280 for 2 slots of 4096 bytes: expected them to end at byte 232448 of shared memory at the latest}}
    %r = "uattn.ring_alloc"() {smem_offset = 225280 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !uattn.ring<vector<256x4xf32>, 2 : i64>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @records_from_bf16(%g: !uattn.global<bf16>, %o: i64, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !uattn.ring<vector<64x4xf32>, 2 : i64>
    // expected-error @below {{the memory's element type is bf16: expected f32 elements}}
    "uattn.ring_produce_records"(%g, %o, %r, %i)
      : (!uattn.global<bf16>, i64, !uattn.ring<vector<64x4xf32>, 2 : i64>, i32) -> ()
    gpu.return
  }
}

// -----

// What products, stores and sums take.
gpu.module @kernels {
  gpu.func @tile_of_integers()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the tile is vector<64x64xi32>: expected at most 256 rows, a multiple of 8, and of bf16 or f16 a multiple of 64 columns, at most 512, of f32 64 columns}}
    %t = "uattn.smem_alloc"() {smem_offset = 0 : i64} : () -> !uattn.smem<vector<64x64xi32>>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @tile_that_cuts_the_swizzle()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the tile is vector<12x64xbf16>: expected at most 256 rows, a multiple of 8}}
    %t = "uattn.smem_alloc"() {smem_offset = 0 : i64} : () -> !uattn.smem<vector<12x64xbf16>>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @tall_tile()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the tile is vector<264x64xbf16>: expected at most 256 rows, a multiple of 8}}
    %t = "uattn.smem_alloc"() {smem_offset = 0 : i64} : () -> !uattn.smem<vector<264x64xbf16>>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @tile_of_half_a_panel()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the tile is vector<64x32xbf16>: expected at most 256 rows, a multiple of 8, and of bf16 or f16 a multiple of 64 columns}}
    %t = "uattn.smem_alloc"() {smem_offset = 0 : i64} : () -> !uattn.smem<vector<64x32xbf16>>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @tile_of_wide_rows()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the tile is vector<8x576xbf16>: expected at most 256 rows, a multiple of 8, and of bf16 or f16 a multiple of 64 columns}}
    %t = "uattn.smem_alloc"() {smem_offset = 0 : i64} : () -> !uattn.smem<vector<8x576xbf16>>
    gpu.return
  }
}

// -----

// Sums are staged by 64 columns.
gpu.module @kernels {
  gpu.func @wide_tile_of_f32()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the tile is vector<64x128xf32>: expected at most 256 rows, a multiple of 8, and of bf16 or f16 a multiple of 64 columns, at most 512, of f32 64 columns}}
    %t = "uattn.smem_alloc"() {smem_offset = 0 : i64} : () -> !uattn.smem<vector<64x128xf32>>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @tile_behind_memory()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{smem_offset is 229376 for 1 slots of 8192 bytes}}
    %t = "uattn.smem_alloc"() {smem_offset = 229376 : i64} : () -> !uattn.smem<vector<64x64xbf16>>
    gpu.return
  }
}

// -----

// A bf16 tile would end in time.
gpu.module @kernels {
  gpu.func @tile_of_f32_behind_memory()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{smem_offset is 217088 for 1 slots of 16384 bytes}}
    %t = "uattn.smem_alloc"() {smem_offset = 217088 : i64} : () -> !uattn.smem<vector<64x64xf32>>
    gpu.return
  }
}

// -----

// A matrix of stmatrix has elements of 16 bits.
gpu.module @kernels {
  gpu.func @transpose_of_f32(%x: vector<64x64xf32>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %t = "uattn.smem_alloc"() {smem_offset = 0 : i64} : () -> !uattn.smem<vector<64x64xf32>>
    // expected-error @below {{the value is vector<64x64xf32>: expected a multiple of 16 columns of bf16 or f16}}
    "uattn.smem_transpose"(%x, %t) : (vector<64x64xf32>, !uattn.smem<vector<64x64xf32>>) -> ()
    gpu.return
  }
}

// -----

// A flag is of one of 64 rows.
gpu.module @kernels {
  gpu.func @dropping_in_128_rows(%x: vector<64xi1>, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %t = "uattn.smem_alloc"() {smem_offset = 0 : i64} : () -> !uattn.smem<vector<128x64xbf16>>
    // expected-error @below {{the tile is vector<128x64xbf16>: expected 64 rows and a multiple of 64 columns of bf16 or f16}}
    "uattn.smem_drop_rows"(%t, %x, %i) : (!uattn.smem<vector<128x64xbf16>>, vector<64xi1>, i32) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @dropping_in_f32(%x: vector<64xi1>, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %t = "uattn.smem_alloc"() {smem_offset = 0 : i64} : () -> !uattn.smem<vector<64x64xf32>>
    // expected-error @below {{the tile is vector<64x64xf32>: expected 64 rows and a multiple of 64 columns of bf16 or f16}}
    "uattn.smem_drop_rows"(%t, %x, %i) : (!uattn.smem<vector<64x64xf32>>, vector<64xi1>, i32) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @dropping_without_flags(%x: vector<64xi32>, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %t = "uattn.smem_alloc"() {smem_offset = 0 : i64} : () -> !uattn.smem<vector<64x64xbf16>>
    // expected-error @below {{flags is vector<64xi32>: expected 64 rows of i1}}
    "uattn.smem_drop_rows"(%t, %x, %i) : (!uattn.smem<vector<64x64xbf16>>, vector<64xi32>, i32) -> ()
    gpu.return
  }
}

// -----

// Bits of f32 are taken as they are.
gpu.module @kernels {
  gpu.func @column_read_of_halves(%i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !uattn.ring<vector<64x4xf32>, 2 : i64>
    %t = "uattn.ring_acquire"(%r, %i) : (!uattn.ring<vector<64x4xf32>, 2 : i64>, i32) -> !uattn.smem<vector<64x4xf32>>
    // expected-error @below {{the tile is vector<64x64xf16>: expected f32 or i32 elements}}
    %x = "uattn.column_read"(%t) {field = 1 : i64} : (!uattn.smem<vector<64x4xf32>>) -> vector<64x64xf16>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @column_read_of_long_integers(%i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !uattn.ring<vector<64x4xf32>, 2 : i64>
    %t = "uattn.ring_acquire"(%r, %i) : (!uattn.ring<vector<64x4xf32>, 2 : i64>, i32) -> !uattn.smem<vector<64x4xf32>>
    // expected-error @below {{the tile is vector<64x64xi64>: expected f32 or i32 elements}}
    %x = "uattn.column_read"(%t) {field = 1 : i64} : (!uattn.smem<vector<64x4xf32>>) -> vector<64x64xi64>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @records_of_bf16(%x: vector<64xf32>, %y: vector<64xbf16>,
                            %g: !uattn.global<f32>, %o: i64, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the rows' type is vector<64xbf16>: expected f32 elements}}
    "uattn.record_store"(%x, %x, %x, %y, %g, %o, %i, %i)
      : (vector<64xf32>, vector<64xf32>, vector<64xf32>, vector<64xbf16>, !uattn.global<f32>, i64,
         i32, i32) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @record_store_to_another_type(%x: vector<64xf32>, %y: vector<64xf32>,
                                         %g: !uattn.global<i32>, %o: i64, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the memory's element type is i32: expected f32 elements}}
    "uattn.record_store"(%x, %x, %x, %y, %g, %o, %i, %i)
      : (vector<64xf32>, vector<64xf32>, vector<64xf32>, vector<64xf32>, !uattn.global<i32>, i64,
         i32, i32) -> ()
    gpu.return
  }
}

// -----

// Sums are f32.
gpu.module @kernels {
  gpu.func @sums_clear_of_bf16(%g: !uattn.global<bf16>, %o: i64, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the memory's element type is bf16: expected f32 elements}}
    "uattn.sums_clear"(%g, %o, %i, %i) {columns = 64 : i64}
      : (!uattn.global<bf16>, i64, i32, i32) -> ()
    gpu.return
  }
}

// -----

// No tile has so many.
gpu.module @kernels {
  gpu.func @sums_clear_of_wide_rows(%g: !uattn.global<f32>, %o: i64, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{columns is 576: expected at most 512}}
    "uattn.sums_clear"(%g, %o, %i, %i) {columns = 576 : i64}
      : (!uattn.global<f32>, i64, i32, i32) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @sums_add_to_bf16(%x: vector<64x64xf32>, %g: !uattn.global<bf16>, %o: i64, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    %t = "uattn.smem_alloc"() {smem_offset = 0 : i64} : () -> !uattn.smem<vector<64x64xf32>>
    // expected-error @below {{the memory's element type is bf16: expected f32 elements}}
    "uattn.sums_add"(%x, %t, %g, %o, %i, %i, %i)
      : (vector<64x64xf32>, !uattn.smem<vector<64x64xf32>>, !uattn.global<bf16>, i64, i32, i32,
         i32) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @sums_load_from_bf16(%g: !uattn.global<bf16>, %o: i64, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the memory's element type is bf16: expected f32 elements}}
    %x = "uattn.sums_load"(%g, %o, %i, %i) : (!uattn.global<bf16>, i64, i32, i32) -> vector<64x64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @sums_load_of_integers(%g: !uattn.global<f32>, %o: i64, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 168 : i64} {
    // expected-error @below {{the tile is vector<64x64xi32>: expected f32 elements}}
    %x = "uattn.sums_load"(%g, %o, %i, %i) : (!uattn.global<f32>, i64, i32, i32) -> vector<64x64xi32>
    gpu.return
  }
}
