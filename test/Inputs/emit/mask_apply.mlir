// Ones, or 0 where mask_apply leaves -inf. Column c goes to out[64 c] on.
gpu.module @kernels {
  gpu.func @mask_apply(%first_key: i32, %ends: !uattn.global<i32>, %begins: !uattn.global<i32>,
                       %columns: i32, %one_hot: !uattn.global<f32>, %out: !uattn.global<f32>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 248 : i64} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %start = arith.constant 0 : i64
    %zeros = arith.constant dense<0.0> : vector<64xf32>
    %end = "uattn.row_load"(%ends, %start, %c0, %c64)
      : (!uattn.global<i32>, i64, i32, i32) -> vector<64xi32>
    %begin = "uattn.row_load"(%begins, %start, %c0, %c64)
      : (!uattn.global<i32>, i64, i32, i32) -> vector<64xi32>
    %ones = arith.constant dense<1.0> : !values
    %nothing = arith.constant dense<0.0> : !values
    %masked = "uattn.mask_apply"(%ones, %first_key, %end, %begin)
      {operandSegmentSizes = array<i32: 1, 1, 1, 1>}
      : (!values, i32, vector<64xi32>, vector<64xi32>) -> !values
    %is_left = arith.cmpf oeq, %masked, %ones : !values
    %values = arith.select %is_left, %masked, %nothing : !flags, !values
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
