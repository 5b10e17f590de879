// CTA c clears rows first_row + 64 c on.
gpu.module @kernels {
  gpu.func @sums_clear(%sums: !uattn.global<f32>, %offset: i64, %first_row: i32, %limit: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 248 : i64} {
    %c64 = arith.constant 64 : i32
    %cta = "uattn.cta_index"() : () -> i32
    %before = arith.muli %cta, %c64 : i32
    %row = arith.addi %first_row, %before : i32
    "uattn.sums_clear"(%sums, %offset, %row, %limit) {columns = #columns}
      : (!uattn.global<f32>, i64, i32, i32) -> ()
    gpu.return
  }

  // The warpgroups of all CTAs, two each, take tiles in turn. Element [r, c] of
  // tile t is x[c] + y[64 t + r]; it goes to the sums at offsets[t], to rows
  // first_rows[t] on below limits[t]. At last each adds no row at all, which
  // waits for what it has added before.
  gpu.func @sums_add(%sums: !uattn.global<f32>, %offsets: !uattn.global<i32>,
                     %first_rows: !uattn.global<i32>, %limits: !uattn.global<i32>,
                     %x: !uattn.global<f32>, %y: !uattn.global<f32>, %tiles: i32, %turn: i32)
      kernel attributes {uattn.threads = 256 : i64, uattn.smem_bytes = 32768 : i64,
                         uattn.entry_registers = 248 : i64} {
    %start = arith.constant 0 : i64
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c64 = arith.constant 64 : i32
    %all = arith.constant 2147483647 : i32
    %role:2 = "uattn.role"() {registers = array<i64: 248>, warpgroups = array<i64: 2>}
      : () -> (i32, i32)
    %cta = "uattn.cta_index"() : () -> i32
    %pairs = arith.muli %cta, %c2 : i32
    %own = arith.addi %pairs, %role#1 : i32
    %barrier = arith.addi %role#1, %c1 : i32
    %both = "uattn.smem_alloc"() {smem_offset = 0 : i64} : () -> !uattn.smem<vector<128x64xf32>>
    %staging = "uattn.smem_rows"(%both, %role#1)
      : (!uattn.smem<vector<128x64xf32>>, i32) -> !uattn.smem<vector<64x64xf32>>
    %along = "uattn.column_load"(%x, %start, %c0, %c64)
      : (!uattn.global<f32>, i64, i32, i32) -> vector<64x64xf32>
    scf.for %tile = %own to %tiles step %turn : i32 {
      %row = arith.muli %tile, %c64 : i32
      %rows = "uattn.row_load"(%y, %start, %row, %all)
        : (!uattn.global<f32>, i64, i32, i32) -> vector<64xf32>
      %down = "uattn.row_broadcast"(%rows) : (vector<64xf32>) -> vector<64x64xf32>
      %value = arith.addf %along, %down : vector<64x64xf32>
      %at = arith.extui %tile : i32 to i64
      %offset32 = "uattn.scalar_load"(%offsets, %at) : (!uattn.global<i32>, i64) -> i32
      %offset = arith.extui %offset32 : i32 to i64
      %first_row = "uattn.scalar_load"(%first_rows, %at) : (!uattn.global<i32>, i64) -> i32
      %limit = "uattn.scalar_load"(%limits, %at) : (!uattn.global<i32>, i64) -> i32
      "uattn.sums_add"(%value, %staging, %sums, %offset, %first_row, %limit, %barrier)
        : (vector<64x64xf32>, !uattn.smem<vector<64x64xf32>>, !uattn.global<f32>, i64, i32, i32,
           i32) -> ()
    }
    "uattn.sums_add"(%along, %staging, %sums, %start, %c0, %c0, %barrier)
      : (vector<64x64xf32>, !uattn.smem<vector<64x64xf32>>, !uattn.global<f32>, i64, i32, i32,
         i32) -> ()
    gpu.return
  }

  // Column c of the sums of rows first_row on goes to out[64 c] on.
  gpu.func @sums_load(%sums: !uattn.global<f32>, %offset: i64, %first_row: i32, %limit: i32,
                      %columns: i32, %one_hot: !uattn.global<f32>, %out: !uattn.global<f32>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 248 : i64} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %zeros = arith.constant dense<0.0> : vector<64xf32>
    %values = "uattn.sums_load"(%sums, %offset, %first_row, %limit)
      : (!uattn.global<f32>, i64, i32, i32) -> !values
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
    gpu.return
  }
}
