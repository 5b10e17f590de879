// Columns [64 column, 64 column + 64) of rows [64 row, 64 row + 64) of a tile
// are read from shared memory; column c of what the threads hold goes to
// out[64 c] on. The rows are cut off first, or last.
gpu.module @kernels {
  gpu.func @columns_of_rows(%map: !map, %row: i32, %column: i32, %columns: i32,
                            %one_hot: !uattn.global<f32>, %out: !uattn.global<f32>)
      kernel attributes {uattn.threads = 256 : i64, uattn.smem_bytes = 131088 : i64,
                         uattn.entry_registers = 248 : i64} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %zeros = arith.constant dense<0.0> : vector<64xf32>
    %ring = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 131072 : i64,
                                  consumer_warps = 4 : i64} : () -> !ring
    %role:2 = "uattn.role"() {registers = array<i64: 248, 248>, warpgroups = array<i64: 1, 1>}
      : () -> (i32, i32)
    %case = arith.index_cast %role#0 : i32 to index
    scf.index_switch %case
    case 0 {
      %elected = "uattn.elect"() : () -> i1
      scf.if %elected {
        "uattn.ring_produce"(%map, %c0, %c0, %c0, %ring, %c0)
          : (!map, i32, i32, i32, !ring, i32) -> ()
      }
      scf.yield
    }
    default {
      %whole = "uattn.ring_acquire"(%ring, %c0) : (!ring, i32) -> !whole
      %rows = "uattn.smem_rows"(%whole, %row) : (!whole, i32) -> !tile
      %part = "uattn.smem_columns"(%rows, %column) : (!tile, i32) -> !part
      %packed = "uattn.smem_read"(%part) : (!part) -> !packed
      %values = arith.extf %packed : !packed to !values
      scf.for %i = %c0 to %columns step %c1 : i32 {
        %at32 = arith.muli %i, %columns : i32
        %at = arith.extui %at32 : i32 to i64
        %pick = "uattn.column_load"(%one_hot, %at, %c0, %columns)
          : (!uattn.global<f32>, i64, i32, i32) -> !values
        %picked = arith.mulf %values, %pick : !values
        %sums = vector.multi_reduction <add>, %picked, %zeros [1] : !values to vector<64xf32>
        %to32 = arith.muli %i, %c64 : i32
        %to = arith.extui %to32 : i32 to i64
        "uattn.row_store"(%sums, %out, %to, %c0, %c64)
          : (vector<64xf32>, !uattn.global<f32>, i64, i32, i32) -> ()
      }
    }
    gpu.return
  }

  gpu.func @rows_of_columns(%map: !map, %row: i32, %column: i32, %columns: i32,
                            %one_hot: !uattn.global<f32>, %out: !uattn.global<f32>)
      kernel attributes {uattn.threads = 256 : i64, uattn.smem_bytes = 131088 : i64,
                         uattn.entry_registers = 248 : i64} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %zeros = arith.constant dense<0.0> : vector<64xf32>
    %ring = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 131072 : i64,
                                  consumer_warps = 4 : i64} : () -> !ring
    %role:2 = "uattn.role"() {registers = array<i64: 248, 248>, warpgroups = array<i64: 1, 1>}
      : () -> (i32, i32)
    %case = arith.index_cast %role#0 : i32 to index
    scf.index_switch %case
    case 0 {
      %elected = "uattn.elect"() : () -> i1
      scf.if %elected {
        "uattn.ring_produce"(%map, %c0, %c0, %c0, %ring, %c0)
          : (!map, i32, i32, i32, !ring, i32) -> ()
      }
      scf.yield
    }
    default {
      %whole = "uattn.ring_acquire"(%ring, %c0) : (!ring, i32) -> !whole
      %block = "uattn.smem_columns"(%whole, %column) : (!whole, i32) -> !block
      %part = "uattn.smem_rows"(%block, %row) : (!block, i32) -> !part
      %packed = "uattn.smem_read"(%part) : (!part) -> !packed
      %values = arith.extf %packed : !packed to !values
      scf.for %i = %c0 to %columns step %c1 : i32 {
        %at32 = arith.muli %i, %columns : i32
        %at = arith.extui %at32 : i32 to i64
        %pick = "uattn.column_load"(%one_hot, %at, %c0, %columns)
          : (!uattn.global<f32>, i64, i32, i32) -> !values
        %picked = arith.mulf %values, %pick : !values
        %sums = vector.multi_reduction <add>, %picked, %zeros [1] : !values to vector<64xf32>
        %to32 = arith.muli %i, %c64 : i32
        %to = arith.extui %to32 : i32 to i64
        "uattn.row_store"(%sums, %out, %to, %c0, %c64)
          : (vector<64xf32>, !uattn.global<f32>, i64, i32, i32) -> ()
      }
    }
    gpu.return
  }
}
