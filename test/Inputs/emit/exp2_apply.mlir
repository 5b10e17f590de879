// 2^(x + y), x a column and y a row. Column c goes to out[64 c] on.
gpu.module @kernels {
  gpu.func @exp2_apply(%x: !uattn.global<f32>, %y: !uattn.global<f32>, %columns: i32,
                       %one_hot: !uattn.global<f32>, %out: !uattn.global<f32>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 248 : i64} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %start = arith.constant 0 : i64
    %zeros = arith.constant dense<0.0> : vector<64xf32>
    %along = "uattn.column_load"(%x, %start, %c0, %columns)
      : (!uattn.global<f32>, i64, i32, i32) -> !values
    %down = "uattn.row_load"(%y, %start, %c0, %c64)
      : (!uattn.global<f32>, i64, i32, i32) -> vector<64xf32>
    %rows_of_y = "uattn.row_broadcast"(%down) : (vector<64xf32>) -> !values
    %exponents = arith.addf %along, %rows_of_y : !values
    %values = "uattn.exp2_apply"(%exponents) {polynomial_period = #period} : (!values) -> !values
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
