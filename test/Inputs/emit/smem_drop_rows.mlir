// Rows [64 index, 64 index + 64) of a tile become 0 where `flags` is not 0. The product of rows [first, first + 64) of a unit matrix with rows
// [64 seen, 64 seen + 64) of the tile, all of which all warps read for it, gives
// columns [first, first + 64): their elements in row r go to out[64 r] on.
gpu.module @kernels {
  gpu.func @smem_drop_rows(%a_map: !a_map, %first: i32, %map: !map, %index: i32,
                             %seen: i32, %flags: !uattn.global<i32>, %columns: i32,
                             %one_hot: !uattn.global<f32>, %out: !uattn.global<f32>)
      kernel attributes {uattn.threads = 256 : i64, uattn.smem_bytes = 131104 : i64,
                         uattn.entry_registers = 248 : i64} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %zeros = arith.constant dense<0.0> : vector<64xf32>
    %a_ring = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 131072 : i64,
                                    consumer_warps = 4 : i64} : () -> !a_ring
    %ring = "uattn.ring_alloc"() {smem_offset = 32768 : i64, barrier_offset = 131088 : i64,
                                  consumer_warps = 4 : i64} : () -> !ring
    %role:2 = "uattn.role"() {registers = array<i64: 248, 248>, warpgroups = array<i64: 1, 1>}
      : () -> (i32, i32)
    %case = arith.index_cast %role#0 : i32 to index
    scf.index_switch %case
    case 0 {
      %elected = "uattn.elect"() : () -> i1
      scf.if %elected {
        "uattn.ring_produce"(%a_map, %c0, %first, %c0, %a_ring, %c0)
          : (!a_map, i32, i32, i32, !a_ring, i32) -> ()
        "uattn.ring_produce"(%map, %c0, %c0, %c0, %ring, %c0)
          : (!map, i32, i32, i32, !ring, i32) -> ()
      }
      scf.yield
    }
    default {
      %a = "uattn.ring_acquire"(%a_ring, %c0) : (!a_ring, i32) -> !a
      %whole = "uattn.ring_acquire"(%ring, %c0) : (!ring, i32) -> !whole
      %tile = "uattn.smem_rows"(%whole, %index) : (!whole, i32) -> !tile
      %start = arith.constant 0 : i64
      %words = "uattn.row_load"(%flags, %start, %c0, %c64)
        : (!uattn.global<i32>, i64, i32, i32) -> vector<64xi32>
      %none = arith.constant dense<0> : vector<64xi32>
      %drops = arith.cmpi ne, %words, %none : vector<64xi32>
      "uattn.smem_drop_rows"(%tile, %drops, %c1) : (!tile, vector<64xi1>, i32) -> ()
      %b = "uattn.smem_rows"(%whole, %seen) : (!whole, i32) -> !tile
      %started = "uattn.wgmma"(%a, %b) {transpose_b} : (!a, !tile) -> !values
      %values = "uattn.wgmma_wait"(%started) {pending = 0 : i64} : (!values) -> !values
      scf.for %column = %c0 to %columns step %c1 : i32 {
        %at32 = arith.muli %column, %columns : i32
        %at = arith.extui %at32 : i32 to i64
        %pick = "uattn.column_load"(%one_hot, %at, %c0, %columns)
          : (!uattn.global<f32>, i64, i32, i32) -> !values
        %picked = arith.mulf %values, %pick : !values
        %rows = vector.multi_reduction <add>, %picked, %zeros [1] : !values to vector<64xf32>
        %to32 = arith.muli %column, %c64 : i32
        %to = arith.extui %to32 : i32 to i64
        "uattn.row_store"(%rows, %out, %to, %c0, %c64)
          : (vector<64xf32>, !uattn.global<f32>, i64, i32, i32) -> ()
      }
    }
    gpu.return
  }
}
