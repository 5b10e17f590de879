// A CTA that looks for the keys of its rows' segments. Every row of every
// warpgroup is given what its threads found: out[0], [1] and [2] of
// `limit` rows each are first, after and is_uniform, as the bits of f32.
gpu.module @kernels {
  gpu.func @segment_hull(%q_ids: !uattn.global<i32>, %q_offset: i64, %first_row: i32, %q_tokens: i32,
                         %kv_ids: !uattn.global<i32>, %kv_offset: i64, %begin: i32, %end: i32,
                         %out: !uattn.global<f32>)
      kernel attributes {uattn.threads = #threads, uattn.smem_bytes = 1056 : i64,
                         uattn.entry_registers = 64 : i64} {
    %role:2 = "uattn.role"() {registers = array<i64: 64>, warpgroups = #warpgroups} : () -> (i32, i32)
    %found:3 = "uattn.segment_hull"(%q_ids, %q_offset, %first_row, %q_tokens,
                                    %kv_ids, %kv_offset, %begin, %end)
      {rows = #rows, threads = #threads, smem_offset = 1024 : i64}
      : (!uattn.global<i32>, i64, i32, i32, !uattn.global<i32>, i64, i32, i32) -> (i32, i32, i1)
    %c64 = arith.constant 64 : i32
    %row = arith.muli %role#1, %c64 : i32
    %limit = arith.constant #limit
    %at_first = arith.constant 0 : i64
    %at_after = arith.extui %limit : i32 to i64
    %at_uniform = arith.addi %at_after, %at_after : i64
    %first = arith.bitcast %found#0 : i32 to f32
    %first_rows = vector.broadcast %first : f32 to vector<64xf32>
    "uattn.row_store"(%first_rows, %out, %at_first, %row, %limit)
      : (vector<64xf32>, !uattn.global<f32>, i64, i32, i32) -> ()
    %after = arith.bitcast %found#1 : i32 to f32
    %after_rows = vector.broadcast %after : f32 to vector<64xf32>
    "uattn.row_store"(%after_rows, %out, %at_after, %row, %limit)
      : (vector<64xf32>, !uattn.global<f32>, i64, i32, i32) -> ()
    %word = arith.extui %found#2 : i1 to i32
    %uniform = arith.bitcast %word : i32 to f32
    %uniform_rows = vector.broadcast %uniform : f32 to vector<64xf32>
    "uattn.row_store"(%uniform_rows, %out, %at_uniform, %row, %limit)
      : (vector<64xf32>, !uattn.global<f32>, i64, i32, i32) -> ()
    gpu.return
  }
}
