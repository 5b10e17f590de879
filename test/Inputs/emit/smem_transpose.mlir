// The transpose of a tile of 64 columns comes to registers as a product with a
// unit matrix. Its own transpose, the tile, becomes columns [64 column, 64 column
// + 64) of a tile of zeros. Columns [64 seen, 64 seen + 64) of that come to
// registers in the same way: those of its row r go to out[64 r] on.
gpu.module @kernels {
  gpu.func @smem_transpose(%unit_map: !unit_map, %map: !map, %column: i32, %seen: i32,
                           %columns: i32, %one_hot: !uattn.global<f32>,
                           %out: !uattn.global<f32>)
      kernel attributes {uattn.threads = 256 : i64, uattn.smem_bytes = 131104 : i64,
                         uattn.entry_registers = 248 : i64} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %zeros = arith.constant dense<0.0> : vector<64xf32>
    %unit_ring = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 131072 : i64,
                                       consumer_warps = 4 : i64} : () -> !unit_ring
    %ring = "uattn.ring_alloc"() {smem_offset = 8192 : i64, barrier_offset = 131088 : i64,
                                  consumer_warps = 4 : i64} : () -> !ring
    %role:2 = "uattn.role"() {registers = array<i64: 248, 248>, warpgroups = array<i64: 1, 1>}
      : () -> (i32, i32)
    %case = arith.index_cast %role#0 : i32 to index
    scf.index_switch %case
    case 0 {
      %elected = "uattn.elect"() : () -> i1
      scf.if %elected {
        "uattn.ring_produce"(%unit_map, %c0, %c0, %c0, %unit_ring, %c0)
          : (!unit_map, i32, i32, i32, !unit_ring, i32) -> ()
        "uattn.ring_produce"(%map, %c0, %c0, %c0, %ring, %c0)
          : (!map, i32, i32, i32, !ring, i32) -> ()
      }
      scf.yield
    }
    default {
      %unit = "uattn.ring_acquire"(%unit_ring, %c0) : (!unit_ring, i32) -> !unit
      %tile = "uattn.ring_acquire"(%ring, %c0) : (!ring, i32) -> !whole
      %turned = "uattn.wgmma"(%unit, %tile) {transpose_b} : (!unit, !whole) -> !values
      %arrived = "uattn.wgmma_wait"(%turned) {pending = 0 : i64} : (!values) -> !values
      %value = arith.truncf %arrived : !values to !packed
      %all = "uattn.smem_alloc"() {smem_offset = 40960 : i64} : () -> !all
      "uattn.smem_clear_rows"(%all, %c0) : (!all, i32) -> ()
      "uattn.named_barrier_sync"(%c1) {threads = 128 : i64} : (i32) -> ()
      %target = "uattn.smem_columns"(%all, %column) : (!all, i32) -> !part
      "uattn.smem_transpose"(%value, %target) : (!packed, !part) -> ()
      "uattn.async_proxy_fence"() : () -> ()
      "uattn.named_barrier_sync"(%c1) {threads = 128 : i64} : (i32) -> ()
      %b = "uattn.smem_columns"(%all, %seen) : (!all, i32) -> !part
      %started = "uattn.wgmma"(%unit, %b) {transpose_b} : (!unit, !part) -> !values
      %values = "uattn.wgmma_wait"(%started) {pending = 0 : i64} : (!values) -> !values
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
